"""The command line. `vtree.__main__` is its only caller and guards its imports.

====================  =======================================================
module                what it holds
====================  =======================================================
``program``           the group of commands, and what becomes of an error
``demo``              `vtree demo`
``fit``               `vtree fit`
``predict``           `vtree predict`
``show``              `vtree show`
``usable``            `vtree backends`
``bundled``           the tables of the demo
``trial``             a fit on one backend, and its time
``columns``           the columns of a table from a file, whatever read it
``report``            what is printed: tables, JSON, progress
====================  =======================================================
"""
