"""Packed words: all that a row adds to a cell, in as few integers as hold it exactly.

    bit 63        49 48         15 14        0
        ├ sum of targets ──────────┼ rows ───┤     one addition a row and feature adds both

Each field has room for the sum over `2^room − 1` rows; before it can overflow, the fields are
unpacked and added to the histogram. How many bits a row's values need is read off the rows
themselves, so nothing is rounded and no caller has to promise anything. Where one word does not
hold all fields, two lie side by side and are added at once.

Cells lie by class, feature and code: (class * features + feature) * codes + code. So do counts of
16 bits, which need no more room in the cache than that.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels.histogram import reference

_MOST_COUNT = 65_535  # what 16 bits hold
_LINE = 32  # counts of a cache line

packing = numba.njit(cache=True, nogil=True)(reference.packing)


@numba.njit(cache=True, nogil=True)
def field_reach(reach, weight, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the bits that some rows have in each field: the weight if any, then each sum."""
    weighted = np.intp(weight.size > 0)
    if weighted:
        reach[0] = _bits_of_all(weight[first:last], 0, 1)
    own, n_sums = sums[first:last].reshape(-1), sums.shape[1]
    if n_sums == 1:
        reach[weighted] = _bits_of_all(own, 0, 1)
        return
    for j in range(n_sums):
        reach[weighted + j] = _bits_of_all(own, j, n_sums)


@register_jitable(forceinline=True)
def _bits_of_all(numbers: Any, first: Any, step: Any) -> Any:
    """Return the bits of the sizes of numbers first, first + step …: of many at a time if all."""
    own = np.int64(0)
    for i in range(np.uint64(first), np.uint64(numbers.size), np.uint64(step)):
        own |= abs(numbers[i])
    return own


@numba.njit(cache=True, nogil=True)
def all_bits(bits, counted):  # type: ignore[no-untyped-def]
    """Return what all fields of a word have, a count being the first if there is one."""
    found = np.zeros(counted + bits.size, np.int64)
    for f in range(bits.size):
        found[counted + f] = bits[f]
    return found


def field_bits(
    reach: NDArray[np.int64], weighted: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (bits, lowest bit) of the fields (P,) that `field_reach` has looked at.

    bits: from the first to the last that some rows have, and the sign.
    """
    signs = np.arange(reach.size) >= weighted
    lowest = np.asarray([max(0, int(each & -each).bit_length() - 1) for each in reach], np.int64)
    highest = np.asarray([int(each).bit_length() for each in reach], dtype=np.int64)
    return highest - lowest + signs, lowest


@numba.njit(cache=True, nogil=True)
def fill_fields(fields, weight, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the weight if any, then each sum, of some rows to fields (N, P)."""
    weighted = np.intp(weight.size > 0)
    for row in range(first, last if weighted else first):
        fields[row, 0] = weight[row]
    for j in range(sums.shape[1]):
        for row in range(first, last):
            fields[row, weighted + j] = sums[row, j]


@numba.njit(cache=True, nogil=True)
def pack(words, rows, begin, end, values, factors):  # type: ignore[no-untyped-def]
    """Write a word of each row: a constant, and each of values (N, P) times its factor.

    factors (P + 1,): the constant is the last.
    """
    all_values, n_values = values.reshape(-1), np.uint64(values.shape[1])
    own, n_rows = rows[begin:end], end - begin
    words[:n_rows] = factors[-1]
    for f in range(n_values):
        if factors[f] == 0:
            continue
        for i in range(n_rows):
            words[i] += np.int64(all_values[np.uint64(own[i]) * n_values + f]) * factors[f]


@numba.njit(cache=True, nogil=True)
def put(place, rows, begin, end, label, first_class, step):  # type: ignore[no-untyped-def]
    """Write where the cells of each row's class begin, `step` apart."""
    own, own_label = rows[begin:end], label.reshape(-1)
    for i in range(own.size):
        place[i] = np.uint64((own_label[np.uint64(own[i])] - first_class) * step)


@numba.njit(cache=True, nogil=True)
def pack_whole(  # type: ignore[no-untyped-def]
    words, weight, sums, first, last, fields, lowest, counted
):
    """Write a count if asked for, the weight if any, and the sums of some rows to a word each."""
    weighted, n_sums = np.intp(weight.size > 0), sums.shape[1]
    own, own_sums = words[first:last], sums[first:last].reshape(-1)
    own[:] = counted
    shift = fields[0, 1] if counted else np.int64(0)
    for f in range(counted, fields.shape[0]):
        factor, down = np.int64(1) << shift, lowest[f - counted]
        shift += fields[f, 1]
        j = f - counted - weighted
        if j < 0:
            _add_shifted(own, weight[first:last], 0, 1, down, factor)
        elif n_sums == 1:
            _add_shifted(own, own_sums, 0, 1, down, factor)
        else:
            _add_shifted(own, own_sums, j, n_sums, down, factor)


@register_jitable(forceinline=True)
def _add_shifted(words: Any, numbers: Any, first: Any, step: Any, down: Any, factor: Any) -> None:
    """Add numbers first, first + step … to words, moved down and then times the factor."""
    for i in range(np.uint64(words.size)):
        words[i] += (numbers[np.uint64(first) + i * np.uint64(step)] >> down) * factor


def _add_pair(typing_context: Any, cells: Any, cell: Any, first: Any, second: Any) -> Any:
    """Add `first` to cells[cell] and `second` to the one after, as one addition."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pair = ir.VectorType(ir.IntType(64), 2)
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        target = builder.bitcast(builder.gep(view.data, [arguments[1]]), pair.as_pointer())
        more = ir.Constant(pair, ir.Undefined)
        for place in range(2):
            more = builder.insert_element(more, arguments[2 + place], ir.IntType(32)(place))
        before = builder.load(target, align=8)
        builder.store(builder.add(before, more), target, align=8)
        return context.get_dummy_value()

    return types.void(cells, types.uint64, types.int64, types.int64), codegen


add_pair: Any = intrinsic(_add_pair)


@numba.njit(cache=True, nogil=True)
def move_fields(  # type: ignore[no-untyped-def]
    hist, cells, wide, fields, places, first_sum, n_classes
):
    """Add the fields of all cells to their planes of hist (G, B, S), and clear the cells.

    wide: how many words of a cell lie side by side in cells[0], the next ones in cells[1]; places
    (fields, 2, 2): the planes of class 0, −1 for none, and steps between classes; first_sum: the
    first field that has a sign.
    """
    n_features, n_codes, n_statistics = hist.shape
    line, value = np.empty(n_codes, np.int64), np.empty(n_codes, np.int64)
    for word in range(fields[-1, 0] + 1):
        own = cells[word // wide]
        for lane in range(n_classes * n_features):
            c, g = lane // n_features, lane % n_features
            for b in range(n_codes):
                line[b] = own[(lane * n_codes + b) * wide + word % wide]
            for f in range(fields.shape[0]):
                if fields[f, 0] == word:
                    _take_field(value, line, fields[f, 1], f >= first_sum)
                    for p in range(2):
                        _add_line(hist[g].reshape(-1), n_statistics, places[f, p], c, value)
    cells[:] = 0


@numba.njit(cache=True, nogil=True)
def move_words(  # type: ignore[no-untyped-def]
    flat, words, fields, lowest, first_sum, fresh
):
    """Write the fields of all words to the planes of cells, or add them, and clear the words.

    flat: the planes of one cell after another, in the order of the fields; lowest (fields,): the
    bit of a plane that a field begins with; first_sum: the first field that has a sign; fresh:
    whether nothing stands in flat yet.
    """
    n_fields, width = np.uint64(fields.shape[0]), fields[:, 1].copy()
    sign = np.zeros(n_fields, np.int64)
    for f in range(first_sum, n_fields):
        sign[f] = np.int64(1) << (width[f] - 1)
    if fresh:
        flat[:] = 0
    if n_fields == 3:
        _move_three(flat, words, width, sign, lowest)
    elif n_fields == 2:
        _move_two(flat, words, width, sign, lowest)
    else:
        for i in range(np.uint64(words.size)):
            own = words[i]
            for f in range(n_fields):
                value, own = _lowest_field(own, width[f], sign[f])
                flat[i * n_fields + f] += value << lowest[f]
    words[:] = 0


@register_jitable(forceinline=True)
def _lowest_field(word: Any, width: Any, sign: Any) -> Any:
    """Return the lowest field of a word, and the word without it; sign: its bit that has one, 0."""
    value = ((word & ((np.int64(1) << width) - np.int64(1))) ^ sign) - sign
    return value, (word - value) >> width


@register_jitable(forceinline=True)
def _move_two(flat: Any, words: Any, width: Any, sign: Any, lowest: Any) -> None:
    """Do it for two fields: what is known of them in numbers, not arrays that stores may change."""
    width_a, width_b = width[0], width[1]
    sign_a, sign_b = sign[0], sign[1]
    up_a, up_b = lowest[0], lowest[1]
    for i in range(np.uint64(words.size)):
        a, own = _lowest_field(words[i], width_a, sign_a)
        b, own = _lowest_field(own, width_b, sign_b)
        at = np.uint64(2) * i
        flat[at] += a << up_a
        flat[at + np.uint64(1)] += b << up_b


@register_jitable(forceinline=True)
def _move_three(flat: Any, words: Any, width: Any, sign: Any, lowest: Any) -> None:
    width_a, width_b, width_c = width[0], width[1], width[2]
    sign_a, sign_b, sign_c = sign[0], sign[1], sign[2]
    up_a, up_b, up_c = lowest[0], lowest[1], lowest[2]
    for i in range(np.uint64(words.size)):
        a, own = _lowest_field(words[i], width_a, sign_a)
        b, own = _lowest_field(own, width_b, sign_b)
        c, own = _lowest_field(own, width_c, sign_c)
        at = np.uint64(3) * i
        flat[at] += a << up_a
        flat[at + np.uint64(1)] += b << up_b
        flat[at + np.uint64(2)] += c << up_c


@numba.njit(cache=True, nogil=True)
def _take_field(value, line, width, signed):  # type: ignore[no-untyped-def]
    """Move the lowest field of the words in `line` to `value`."""
    mask = (np.int64(1) << width) - np.int64(1)
    sign = np.int64(1) << (width - 1) if signed else np.int64(0)
    for b in range(line.size):
        value[b] = ((line[b] & mask) ^ sign) - sign
        line[b] = (line[b] - value[b]) >> width


@numba.njit(cache=True, nogil=True)
def _add_line(flat, size, place, c, value):  # type: ignore[no-untyped-def]
    """Add values to one plane of a feature's cells, the class's own if place[1] is 1."""
    plane, step = place
    if plane >= 0:
        for b in range(value.size):
            flat[b * size + plane + c * step] += value[b]


@numba.njit(cache=True, nogil=True)
def rows_that_fit(rows, begin, end, label, n_classes):  # type: ignore[no-untyped-def]
    """Return where rows of one class could pass what 16 bits count, `end` if they do not."""
    if end - begin <= _MOST_COUNT:
        return end
    met = np.zeros(n_classes, np.int64)
    for position in range(begin, end):
        own = label[rows[position]]
        met[own] += 1
        if met[own] > _MOST_COUNT:
            return position
    return end


@numba.njit(cache=True, nogil=True)
def add_counts(hist, cells):  # type: ignore[no-untyped-def]
    """Add cells of 16 bits to hist (G, B, K), and clear them."""
    n_features, n_codes, n_classes = hist.shape
    step = n_features * n_codes
    for g in range(n_features):
        for block in range(0, n_codes, _LINE):
            for c in range(n_classes):
                at = c * step + g * n_codes
                for b in range(block, min(block + _LINE, n_codes)):
                    hist[g, b, c] += cells[at + b]
    cells[:] = 0
