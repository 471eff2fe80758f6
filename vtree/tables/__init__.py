"""The one door through which whatever a user calls a table becomes a float matrix.

====================  =======================================================
module                what it holds
====================  =======================================================
``door``              `read_table` (fit), `encode_table` (predict), `Schema`
``columns``           frames, mappings and object arrays, column by column
``matrices``          arrays of one number type: NumPy, array API, sparse
``levels``            the categories of a column, and labels as level numbers
``seen``              tables without the categories that only rows without weight have
====================  =======================================================
"""

from vtree.tables.door import Schema, Table, Unknown, check_width, encode_table, read_table
from vtree.tables.seen import with_seen_levels

__all__ = [
    "Schema",
    "Table",
    "Unknown",
    "check_width",
    "encode_table",
    "read_table",
    "with_seen_levels",
]
