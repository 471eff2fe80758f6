"""Loops over rows that add to the cells of their codes.

A row's codes lie together and its cells do not, but all cells of some features stay in the L2
cache. So rows pass one after another, each adding to all features, and what a row a little later
needs is fetched meanwhile, be it of the next node. Fetching a block of rows first, to pass it
feature by feature through the L1 cache, takes twice the time in nodes whose rows lie far apart.

Cells of a feature lie `step` apart from those of the next one, its number of codes. Loops for many
rows are compiled twice, for features of 255 bins and for any: with a constant, an update is two
instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vtree_kernels._naming import named_after
from vtree_kernels._prefetch import LINE, prefetch
from vtree_kernels._registered import register_jitable
from vtree_kernels.histogram.words import add_pair

AHEAD = 24  # rows; measured: 20 to 40 alike, 12 takes a third longer where rows lie apart
USUAL = 257  # codes: 255 bins, missing values, and one to make it odd
SIDE = 4  # features whose cells are told apart by constants; more leave more for the rest

_ONES = np.eye(2, dtype=np.int32).view(np.int64).reshape(-1)
FIRST = int(_ONES[0])  # a row of the first class, in two counts that lie side by side
MORE = int(_ONES[1]) - FIRST  # what one of the second class is more


def _with_step(loop: Callable[..., None]) -> Any:
    """Compile loop(step, …), an unsigned integer, for `USUAL` and for any other one."""
    inside = register_jitable(forceinline=True)(loop)

    @numba.njit(cache=True, nogil=True)
    @named_after(loop)
    def stepped(step, *given):  # type: ignore[no-untyped-def]
        if step == USUAL:
            inside(np.uint64(USUAL), *given)
        else:
            inside(np.uint64(step), *given)

    return stepped


@register_jitable(forceinline=True)
def _fetch(codes: Any, width: Any, rows: Any, position: Any, first: Any, last: Any) -> Any:
    """Fetch codes first … last − 1 of the row that is needed a little later; return the row."""
    row = np.intp(rows[min(position + np.uint64(AHEAD), np.uint64(rows.size - 1))])
    for column in range(first, last - 1, LINE):
        prefetch(codes, row * width + column)
    prefetch(codes, row * width + last - 1)
    return row


@register_jitable(forceinline=True)
def _add_word(
    cells: Any, cell: Any, step: Any, size: Any, codes: Any, code: Any, last: Any, word: Any
) -> None:
    """Add to the cells of codes code … last − 1; those of the first feature begin at `cell`.

    size: words of a cell.
    """
    while code + np.uint64(SIDE) <= last:
        for side in range(SIDE):
            own = np.uint64(codes[code + np.uint64(side)])
            cells[cell + (np.uint64(side) * step + own) * size] += word
        code += np.uint64(SIDE)
        cell += np.uint64(SIDE) * step * size
    while code < last:
        cells[cell + np.uint64(codes[code]) * size] += word
        code += np.uint64(1)
        cell += step * size


@register_jitable(forceinline=True)
def _add_pair(
    cells: Any,
    cell: Any,
    step: Any,
    size: Any,
    codes: Any,
    code: Any,
    last: Any,
    left: Any,
    right: Any,
) -> None:
    """Do it with two words, which lie side by side in each cell."""
    while code + np.uint64(SIDE) <= last:
        for side in range(SIDE):
            own = np.uint64(codes[code + np.uint64(side)])
            add_pair(cells, cell + (np.uint64(side) * step + own) * size, left, right)
        code += np.uint64(SIDE)
        cell += np.uint64(SIDE) * step * size
    while code < last:
        add_pair(cells, cell + np.uint64(codes[code]) * size, left, right)
        code += np.uint64(1)
        cell += step * size


@_with_step
def count_two(  # type: ignore[no-untyped-def]
    step, cells, codes, width, rows, begin, end, first, last, label
):
    """Count rows of two classes by the codes of features first to last; one word holds both."""
    left, right = np.uint64(first), np.uint64(last)
    for position in range(np.uint64(begin), np.uint64(end)):
        prefetch(label, _fetch(codes, width, rows, position, first, last))
        row = np.uint64(rows[position])
        code, word = row * np.uint64(width), FIRST + np.int64(label[row]) * MORE  # no branch
        own = codes, code + left, code + right
        _add_word(cells, left * step, step, np.uint64(1), *own, word)


@_with_step
def add_whole(  # type: ignore[no-untyped-def]
    step, cells, codes, width, rows, begin, end, first, last, words
):
    """Add the only word of each row, words (N,), to the cells of features first to last alone."""
    left, right = np.uint64(first), np.uint64(last)
    for position in range(np.uint64(begin), np.uint64(end)):
        prefetch(words, _fetch(codes, width, rows, position, first, last))
        row = np.uint64(rows[position])
        code = row * np.uint64(width)
        own = codes, code + left, code + right
        _add_word(cells, np.uint64(0), step, np.uint64(1), *own, words[row])


@numba.njit(cache=True, nogil=True)
def count(  # type: ignore[no-untyped-def]
    n_codes, cells, codes, width, rows, begin, end, first, last, label, n_classes
):
    """Count rows in cells that have a number a class."""
    left, right = np.uint64(first), np.uint64(last)
    step, size = np.uint64(n_codes), np.uint64(n_classes)
    for position in range(np.uint64(begin), np.uint64(end)):
        prefetch(label, _fetch(codes, width, rows, position, first, last))
        row = np.uint64(rows[position])
        code, cell = row * np.uint64(width), left * step * size + np.uint64(label[row])
        _add_word(cells, cell, step, size, codes, code + left, code + right, 1)


@_with_step
def count_apart(  # type: ignore[no-untyped-def]
    step, cells, codes, width, rows, begin, end, first, last, label
):
    """Count rows in cells that lie by class, feature and code: no product a cell."""
    left, right = np.uint64(first), np.uint64(last)
    step_of_class = np.uint64(width) * step
    for position in range(np.uint64(begin), np.uint64(end)):
        prefetch(label, _fetch(codes, width, rows, position, first, last))
        row = np.uint64(rows[position])
        code, cell = row * np.uint64(width), left * step + np.uint64(label[row]) * step_of_class
        _add_word(cells, cell, step, np.uint64(1), codes, code + left, code + right, 1)


@numba.njit(cache=True, nogil=True)
def add_sum(  # type: ignore[no-untyped-def]
    n_codes, cells, codes, width, rows, begin, end, first, last, values, words, widths, lowest
):
    """Count rows and add what most regressions have: values (N, 1) a sum, (N, 2) a weight first.

    words (N,), of fields of `widths` bits that begin with a value's bit `lowest`, hold them instead
    where there are any.
    """
    left, right = np.uint64(first), np.uint64(last)
    all_values, n_values = values.reshape(-1), values.shape[1]
    step, size, packed = np.uint64(n_codes), np.uint64(1 + n_values), words.size > 0
    mask = (np.int64(1) << widths[n_values - 1]) - np.int64(1)
    for position in range(np.uint64(begin), np.uint64(end)):
        ahead = _fetch(codes, width, rows, position, first, last)
        row = np.uint64(rows[position])
        if packed:
            prefetch(words, ahead)
            value = (words[row] - np.int64(1)) >> widths[0]
            more = value >> widths[1]
            value = (value if n_values == 1 else value & mask) << lowest[0]
            more <<= lowest[n_values - 1]
        else:
            prefetch(all_values, ahead * n_values)
            at = row * np.uint64(n_values)
            value = np.int64(all_values[at])
            more = np.int64(all_values[at + np.uint64(n_values - 1)])
        code, cell = row * np.uint64(width), left * step * size
        own = codes, code + left, code + right
        one = np.int64(1)
        if n_values == 1:
            _add_pair(cells, cell, step, np.uint64(2), *own, one, value)
        else:
            _add_pair(cells, cell, step, np.uint64(3), *own, one, value)
            _add_word(cells, cell + np.uint64(2), step, np.uint64(3), *own, more)


@_with_step
def add_word(  # type: ignore[no-untyped-def]
    step, cells, codes, width, rows, begin, end, first, last, place, words
):
    """Add words[0, i] of the i-th row to its cells, the first of which is place[i]."""
    left, right = np.uint64(first), np.uint64(last)
    for position in range(np.uint64(begin), np.uint64(end)):
        _fetch(codes, width, rows, position, first, last)
        code, own = np.uint64(rows[position]) * np.uint64(width), position - np.uint64(begin)
        cell, word = left * step + place[own], words[0, own]
        _add_word(cells, cell, step, np.uint64(1), codes, code + left, code + right, word)


@_with_step
def add_words(  # type: ignore[no-untyped-def]
    step, cells, codes, width, rows, begin, end, first, last, place, words
):
    """Add words[0, i] and words[1, i], which lie side by side in a cell."""
    left, right, two = np.uint64(first), np.uint64(last), np.uint64(2)
    for position in range(np.uint64(begin), np.uint64(end)):
        _fetch(codes, width, rows, position, first, last)
        code, own = np.uint64(rows[position]) * np.uint64(width), position - np.uint64(begin)
        cell, pair = two * (left * step + place[own]), (words[0, own], words[1, own])
        _add_pair(cells, cell, step, two, codes, code + left, code + right, *pair)


@numba.njit(cache=True, nogil=True)
def add_planes(  # type: ignore[no-untyped-def]
    n_codes, cells, codes, width, rows, begin, end, first, last, label, values, planes
):
    """Add any statistics, plane by plane: pairs of planes that lie side by side, then the others.

    Side by side are the count, the weight and, where no classes come between, the sums.
    planes: how many a cell has, and whether there is a count and a weight among them.
    """
    n_statistics, counted, weighted = planes
    left, right = np.uint64(first), np.uint64(last)
    step, size = np.uint64(n_codes), np.uint64(n_statistics)
    outputs, own_label = label.shape[1], label.reshape(-1)
    all_values, n_values = values.reshape(-1), values.shape[1]
    n_sums = n_values - weighted
    paired = (counted + (weighted if outputs else n_values)) // 2 * 2
    known = counted + n_values
    value, plane = np.ones(known + outputs + 1, np.int64), np.arange(known + outputs)
    weight = weighted * counted + (1 - weighted) * (known + outputs)  # its place, or that of a one
    for entry in range(n_sums):
        plane[known - n_sums + entry] = n_statistics - n_sums + entry
    for position in range(np.uint64(begin), np.uint64(end)):
        ahead = _fetch(codes, width, rows, position, first, last)
        prefetch(all_values, ahead * n_values)
        prefetch(own_label, ahead * outputs)
        row = np.intp(rows[position])
        code = np.uint64(row * width)
        own = codes, code + left, code + right
        for f in range(n_values):
            value[counted + f] = all_values[row * n_values + f]
        for output in range(outputs):
            plane[known + output] = own_label[row * outputs + output]
            value[known + output] = value[weight]
        for entry in range(0, paired, 2):
            cell = left * step * size + np.uint64(entry)
            _add_pair(cells, cell, step, size, *own, value[entry], value[entry + 1])
        for entry in range(paired, known + outputs):
            cell = left * step * size + np.uint64(plane[entry])
            _add_word(cells, cell, step, size, *own, value[entry])
