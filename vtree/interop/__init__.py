"""Models and tables in files, and in the forms that other programs read.

===============  ===================================================
module           what it holds
===============  ===================================================
``table_file``   tables: CSV, Parquet, Arrow
``model_file``   `.vtree` files: `write_model`, `read_model`
``check_sum``    damage to a file
``json_values``  Python and NumPy values as JSON, exactly
``model_checks`` what makes a header and a tree a model
``tree_checks``  what makes arrays a tree
===============  ===================================================
"""
