"""Eight numbers at a time, for compiled code.

A function of numbers that has no branch, only + − × ÷, comparisons and `choose`, is compiled for
`Lanes` as it stands; a processor then does each step for all eight in one instruction, or in two or
four, if its registers are narrower. Each number is rounded as if it were alone.

    left[k]     a₀ a₁ a₂ a₃ a₄ a₅ a₆ a₇     plane k of eight candidates, of a `Side`
       ×        ×  ×  ×  ×  ×  ×  ×  ×
    weight      w₀ w₁ w₂ w₃ w₄ w₅ w₆ w₇     a number alone stands for eight equal ones
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

LANES = 8


class LanesType(types.Type):
    """Eight float64, eight int64, or eight booleans, which comparisons answer."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Lanes({element})")

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        """Let a number stand for eight equal ones, and whole numbers for floats."""
        return (
            Conversion.promote if other == INTEGERS or self.unify(typing_context, other) else None
        )

    def unify(self, typing_context: Any, other: Any) -> Any:
        """Let a name that is a number at first become lanes later."""
        kind = types.Boolean if self.element == types.boolean else types.Number
        return self if isinstance(other, kind) else None


FLOATS, INTEGERS, BOOLEANS = map(LanesType, (types.float64, types.int64, types.boolean))


class SideType(types.Type):
    """Planes of a side of eight candidates, worked out where a gain asks for one.

    side[k] = offsets[k] ± sums[k · room + at : k · room + at + 8], whole numbers, as float64.
    """

    def __init__(self, sign: str) -> None:
        self.sign = sign
        super().__init__(name=f"Side({sign})")


PLUS, MINUS = map(SideType, "+-")
_WORDS = {types.float64: ir.DoubleType(), types.int64: ir.IntType(64), types.boolean: ir.IntType(1)}


def _vector(element: Any) -> Any:
    return ir.VectorType(_WORDS[element], LANES)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector(kind.element))


@register_model(SideType)
class _SideModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        words = types.CPointer(types.int64)
        members = [("offsets", words), ("sums", words), ("room", types.intp)]
        super().__init__(manager, kind, members)


@lower_cast(types.Boolean, LanesType)
@lower_cast(types.Number, LanesType)
def _spread(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    """Put a number into each lane."""
    number = context.cast(builder, value, source, target.element)
    one = ir.VectorType(number.type, 1)(ir.Undefined)
    one = builder.insert_element(one, number, ir.IntType(32)(0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, one.type(ir.Undefined), places)


@lower_cast(LanesType, LanesType)
def _to_floats(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return builder.sitofp(value, _vector(target.element))


def _is_lanes(*kinds: Any) -> bool:
    lanes = [isinstance(kind, LanesType) for kind in kinds]
    numbers = [isinstance(kind, types.Number) for kind in kinds]
    return any(lanes) and all(a or b for a, b in zip(lanes, numbers, strict=True))


def _teach(function: Any, kind: Any, answer: Any, build: Callable[..., Any], n: int = 2) -> None:
    """Teach Numba `function` of `n` lanes of one kind."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return build(builder, *values)

    codegen.__name__ = f"lanes_{function.__name__}"
    lower_builtin(function, *([kind] * n))(codegen)


def _operation(function: Any, of_floats: Any, of_integers: Any = None, n: int = 2) -> None:
    """Teach an operator whose answer is of the kind of its operands."""

    class Operation(AbstractTemplate):
        def generic(self, kinds: Any, keywords: Any) -> Any:
            if not _is_lanes(*kinds):
                return None
            whole = all(kind == INTEGERS or isinstance(kind, types.Integer) for kind in kinds)
            kind = INTEGERS if whole and of_integers else FLOATS
            return signature(kind, *([kind] * n))

    infer_global(function)(Operation)
    for kind, build in ((FLOATS, of_floats), (INTEGERS, of_integers)):
        if build:
            _teach(function, kind, kind, build, n)


def _comparison(function: Any, symbol: str) -> None:
    class Comparison(AbstractTemplate):
        def generic(self, kinds: Any, keywords: Any) -> Any:
            return signature(BOOLEANS, FLOATS, FLOATS) if _is_lanes(*kinds) else None

    def build(builder: Any, a: Any, b: Any) -> Any:
        ordered = builder.fcmp_unordered if symbol == "!=" else builder.fcmp_ordered
        return ordered(symbol, a, b)

    infer_global(function)(Comparison)
    _teach(function, FLOATS, BOOLEANS, build)


_Builder = ir.IRBuilder
_operation(operator.add, _Builder.fadd, _Builder.add)
_operation(operator.sub, _Builder.fsub, _Builder.sub)
_operation(operator.mul, _Builder.fmul)
_operation(operator.truediv, _Builder.fdiv)
_operation(operator.neg, _Builder.fneg, n=1)
_operation(operator.lshift, None, _Builder.shl)
_operation(operator.rshift, None, _Builder.ashr)
_operation(operator.and_, None, _Builder.and_)
_operation(operator.or_, None, _Builder.or_)
for _function, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _comparison(_function, _symbol)


class _ItemOfSide(AbstractTemplate):
    def generic(self, kinds: Any, keywords: Any) -> Any:
        side = kinds[0]
        return signature(FLOATS, side, types.intp) if isinstance(side, SideType) else None


infer_global(operator.getitem)(_ItemOfSide)


@lower_builtin(operator.getitem, SideType, types.intp)
def _item_of_side(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kind = signature.args[0]
    side = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    plane = values[1]
    sums = _load(builder, builder.gep(side.sums, [builder.mul(plane, side.room)]), types.int64)
    offset = builder.load(builder.gep(side.offsets, [plane]))
    offsets = _spread(context, builder, types.int64, INTEGERS, offset)
    whole = builder.add(offsets, sums) if kind.sign == "+" else builder.sub(offsets, sums)
    return builder.sitofp(whole, _vector(types.float64))


def _load(builder: Any, place: Any, element: Any) -> Any:
    vector = _vector(element)
    return builder.load(builder.bitcast(place, vector.as_pointer()), align=8, typ=vector)


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    view = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, view, [index])


def _lanes_at(typing_context: Any, array: Any, index: Any) -> Any:
    """Return array[index : index + 8] of a contiguous array (n,) of float64 or int64."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = signature.args[0]
        return _load(builder, _place(context, builder, kind, *values), kind.dtype)

    return LanesType(array.dtype)(array, types.intp), codegen


def _put_lanes(typing_context: Any, array: Any, index: Any, lanes: Any) -> Any:
    """Write eight numbers to array[index : index + 8]."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, index, lanes = values
        place = _place(context, builder, signature.args[0], array, index)
        builder.store(lanes, builder.bitcast(place, lanes.type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, LanesType(array.dtype)), codegen


def _side(side: SideType) -> Any:
    def typed(typing_context: Any, offsets: Any, sums: Any, at: Any, room: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = cgutils.create_struct_proxy(side)(context, builder)
            zero = values[2].type(0)
            made.offsets = _place(context, builder, offsets, values[0], zero)
            made.sums = _place(context, builder, sums, values[1], values[2])
            made.room = values[3]
            return made._getvalue()

        return side(offsets, sums, types.intp, types.intp), codegen

    return typed


def _select(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """Return `yes` where `condition` holds and `no` elsewhere."""
    whole = all(kind == INTEGERS or isinstance(kind, types.Integer) for kind in (yes, no))
    kind = INTEGERS if whole else FLOATS

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        condition, *chosen = values
        own = [context.cast(builder, v, k, kind) for v, k in zip(chosen, (yes, no), strict=True)]
        return builder.select(condition, *own)

    return kind(condition, yes, no), codegen


def _declared(builder: Any, name: str, answer: Any, argument: Any) -> Any:
    kind = ir.FunctionType(answer, [argument])
    return cgutils.get_or_insert_function(builder.module, kind, name)


@infer_global(math.floor)
class _Floor(AbstractTemplate):
    def generic(self, kinds: Any, keywords: Any) -> Any:
        return signature(INTEGERS, FLOATS) if kinds[0] == FLOATS else None


@lower_builtin(math.floor, FLOATS)
def _floor(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    lanes = values[0].type
    floor = _declared(builder, f"llvm.floor.v{LANES}f64", lanes, lanes)
    return builder.fptosi(builder.call(floor, values), _vector(types.int64))


def _counting(typing_context: Any) -> Any:
    """Return 0, 1, … 7, int64."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return ir.Constant(_vector(types.int64), list(range(LANES)))

    return INTEGERS(), codegen


def _first_largest(typing_context: Any, numbers: Any, names: Any) -> Any:
    """Return the largest of eight float64, no NaN, and the least of the int64 that go with it."""

    def reduced(builder: Any, how: str, lanes: Any) -> Any:
        letter = "f" if isinstance(lanes.type.element, ir.DoubleType) else "i"
        name = f"llvm.vector.reduce.{how}.v{LANES}{letter}64"
        return builder.call(_declared(builder, name, lanes.type.element, lanes.type), [lanes])

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        numbers, names = values
        largest = reduced(builder, "fmax", numbers)
        all_of_it = _spread(context, builder, types.float64, FLOATS, largest)
        others = ir.Constant(names.type, [2**62] * LANES)
        named = builder.select(builder.fcmp_ordered("==", numbers, all_of_it), names, others)
        answer = largest, reduced(builder, "smin", named)
        return context.make_tuple(builder, signature.return_type, answer)

    return types.Tuple((types.float64, types.int64))(FLOATS, INTEGERS), codegen


counting: Any = intrinsic(_counting)
first_largest: Any = intrinsic(_first_largest)
lanes_at: Any = intrinsic(_lanes_at)
put_lanes: Any = intrinsic(_put_lanes)
plus_sums: Any = intrinsic(_side(PLUS))
minus_sums: Any = intrinsic(_side(MINUS))
select: Any = intrinsic(_select)
