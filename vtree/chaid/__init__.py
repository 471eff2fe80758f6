"""CHAID: levels that answer alike are merged, and the most significant predictor splits a node.

Kass 1980 (An exploratory technique for investigating large quantities of categorical data) with
the exhaustive search of Biggs, de Ville and Suen 1991. `tails` turns statistics into logarithms of
p-values, `tests` tables into statistics, `multipliers` counts what was tried, `merging` merges
levels, and `search` is what growth asks for splits.
"""
