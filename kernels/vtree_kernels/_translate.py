"""Arithmetic written in Python, as CUDA C: the same operations in the same order.

What the gain of a criterion may use (see `vtree.criteria`) is little enough to be put word for
word: names, numbers, + − × ÷, one comparison, `range` loops, `left[k]`, `right[k]`, fields of
`layout`, and the functions of `vtree_kernels.elementary`. So is what the terms of a loss may use,
`left`, `right` and `layout` apart. Both languages round each operation once, so the bits agree.

    total = 0.0                                     double total;
    for k in range(layout.first, n):                total = 0.0;
        total = total + left[k] * left[k]      →    for (int k = layout.first; k < n; k++) {
    return total / layout.outputs                       total = (total + (left[k] * left[k])); }
                                                    return (total / layout.outputs);
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

# Names of `vtree_kernels.elementary`, and the functions of elementary/cuda.cuh.
FUNCTIONS = {"log": "elementary_log", "log2": "elementary_log2", "exp": "elementary_exp"}

_OPERATORS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS: dict[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_NUMBER_FIELDS = {"center", "scale", "shrink", "clip", "lower", "upper"}
_INTEGER_FIELDS = {"weight", "first", "outputs", "classes", "ordered", "implied"}

PRELUDE = """#include "elementary/cuda.cuh"
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
"""

Typed = tuple[str, str]  # C expression, "int", "double" or "bool"


class TranslationError(ValueError):
    """A function that uses more than C is given a form for."""


@functools.cache
def c_gain(gain: Callable[[Any, Any, Any], Any]) -> str:
    """Return C: what it needs, and `gain(left, right, layout)`, which computes what `gain` does.

    Raises
    ------
    TranslationError
        If its source cannot be found, or says anything that is not listed above.
    """
    function = _definition(gain)
    arguments = [each.arg for each in function.args.args]
    if arguments != ["left", "right", "layout"]:
        raise TranslationError(f"{function.name}: the arguments are {arguments}, not left, right")
    translator = _Translator(function.name)
    return _in_c(
        "template <class Side, class Layout>\n"
        "__device__ __forceinline__ double gain(\n"
        "    const Side &left, const Side &right, const Layout &layout)",
        translator.lines(function.body),
    )


@functools.cache
def c_terms(function: Callable[..., tuple[Any, ...]], n_results: int) -> str:
    """Return C: what it needs, and `terms(…, result_)` of as many numbers as `function` takes.

    It writes the first `n_results` numbers of what `function` returns to result_[0], result_[1] ….

    Raises
    ------
    TranslationError
        As `c_gain`.
    """
    own = _definition(function)
    arguments = [each.arg for each in own.args.args]
    translator = _Translator(own.name, arguments, n_results)
    listed = ", ".join(f"double {name}" for name in arguments)
    return _in_c(
        f"__device__ __forceinline__ void terms(\n    {listed}, double *result_)",
        translator.lines(own.body),
    )


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise TranslationError(f"the source of {function!r} cannot be read: {error}") from None
    own = tree.body[0]
    if not isinstance(own, ast.FunctionDef):
        raise TranslationError(f"{function!r} is not a function with a name")
    return own


def _in_c(head: str, lines: list[str]) -> str:
    return PRELUDE + "\n".join([f"{head} {{", *(f"    {line}" for line in lines), "}", ""])


class _Translator:
    """Statements and expressions of one function; knows the type of each name so far."""

    def __init__(self, name: str, given: Sequence[str] = (), n_results: int | None = None) -> None:
        self.name = name
        self.given = given  # arguments that are numbers
        self.n_results = n_results  # None: what is returned is one number
        self.types: dict[str, str] = {}
        self.running: list[str] = []  # variables of the loops around

    def _refuse(self, node: ast.AST) -> TranslationError:
        return TranslationError(f"{self.name}: no CUDA C for `{ast.unparse(node)}`")

    def lines(self, body: list[ast.stmt]) -> list[str]:
        """Return the lines of the whole function."""
        if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]  # the docstring
        lines = self._block(body)
        return [*(f"{kind} {name};" for name, kind in self.types.items()), *lines]

    def _block(self, body: list[ast.stmt]) -> list[str]:
        """Return the lines of statements, those inside loops too (with a stack, not by calls)."""
        lines: list[str] = []
        waiting: list[ast.stmt | None] = list(reversed(body))  # None ends a loop
        while waiting:
            statement = waiting.pop()
            if statement is None:
                self.running.pop()
                lines.append("}")
            elif isinstance(statement, ast.For):
                lines += self._loop(statement)
                waiting += [None, *reversed(statement.body)]
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                lines += self._assign(statement)
            elif isinstance(statement, ast.Return) and statement.value is not None:
                lines += self._return(statement.value)
            else:
                raise self._refuse(statement)
        return lines

    def _return(self, value: ast.expr) -> list[str]:
        if self.n_results is None:
            return [f"return {self.expression(value)[0]};"]
        if not isinstance(value, ast.Tuple) or len(value.elts) < self.n_results:
            raise self._refuse(value)
        own = enumerate(value.elts[: self.n_results])
        return [f"result_[{k}] = {self.expression(each)[0]};" for k, each in own]

    def _loop(self, loop: ast.For) -> list[str]:
        call = loop.iter
        simple = isinstance(loop.target, ast.Name) and not loop.orelse
        if not (simple and isinstance(call, ast.Call) and _name(call.func) == "range"):
            raise self._refuse(loop)
        bounds = [self.expression(each) for each in call.args]
        if len(bounds) > 2 or any(kind != "int" for _, kind in bounds):
            raise self._refuse(call)
        first = bounds[0][0] if len(bounds) == 2 else "0"
        name = _name(loop.target)
        self.running.append(name)
        return [
            "#pragma unroll",
            f"for (int {name} = {first}; {name} < {bounds[-1][0]}; {name}++) {{",
        ]

    def _assign(self, statement: ast.Assign) -> list[str]:
        target, value = statement.targets[0], statement.value
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        if len(names) != len(values):
            raise self._refuse(statement)
        found = [self.expression(each) for each in values]
        if len(names) > 1 and any(
            isinstance(each, ast.Name) and each.id in {_name(name) for name in names}
            for each in ast.walk(value)
        ):
            raise self._refuse(statement)  # all values come before all names
        lines = []
        for name, (text, kind) in zip(map(_name, names), found, strict=True):
            taken = name in self.running or name in self.given
            if not name or taken or self.types.setdefault(name, kind) != kind:
                raise self._refuse(statement)
            lines.append(f"{name} = {text};")
        return lines

    def expression(self, node: ast.expr) -> Typed:
        """Return C and type of an expression; from the leaves up, without recursion."""
        found: dict[ast.AST, Typed] = {}
        order, waiting = [], [node]
        while waiting:
            each = waiting.pop()
            order.append(each)
            waiting += _operands(each)
        for each in reversed(order):
            found[each] = self._from_operands(each, [found[part] for part in _operands(each)])
        return found[node]

    def _from_operands(self, node: ast.expr, parts: list[Typed]) -> Typed:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return self._arithmetic(node, *parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return f"(-{parts[0][0]})", parts[0][1]
        if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
            if len(parts) == 2:
                return f"({parts[0][0]} {_COMPARISONS[type(node.ops[0])]} {parts[1][0]})", "bool"
        elif isinstance(node, ast.Call):
            return self._call(node, parts)
        elif isinstance(node, ast.Subscript):
            return self._element(node, parts[0])
        return self._leaf(node)

    def _arithmetic(self, node: ast.BinOp, left: Typed, right: Typed) -> Typed:
        whole = left[1] == right[1] == "int"
        sign = _OPERATORS[type(node.op)]
        if "bool" in (left[1], right[1]):
            raise self._refuse(node)
        if whole and sign == "/":
            return f"((double){left[0]} / {right[0]})", "double"
        return f"({left[0]} {sign} {right[0]})", "int" if whole else "double"

    def _call(self, node: ast.Call, parts: list[Typed]) -> Typed:
        name = _name(node.func)
        if ast.unparse(node) == "float('inf')":
            return "INFINITE", "double"
        if name == "choose" and len(parts) == 3 and parts[0][1] == "bool":
            _, yes, no = parts
            kind = "int" if yes[1] == no[1] == "int" else "double"
            return f"({parts[0][0]} ? ({kind}){yes[0]} : ({kind}){no[0]})", kind
        if name in FUNCTIONS and len(parts) == 1:
            return f"{FUNCTIONS[name]}({parts[0][0]})", "double"
        raise self._refuse(node)

    def _element(self, node: ast.Subscript, index: Typed) -> Typed:
        owner = ast.unparse(node.value)
        known = not self.given and owner in ("left", "right", "layout.unit")
        if not known or index[1] != "int":
            raise self._refuse(node)
        return f"{owner}[{index[0]}]", "double"

    def _leaf(self, node: ast.expr) -> Typed:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return repr(node.value), type(node.value).__name__.replace("float", "double")
        if isinstance(node, ast.Name) and node.id in self.running:
            return node.id, "int"
        if isinstance(node, ast.Name) and node.id in self.given:
            return node.id, "double"
        if isinstance(node, ast.Name) and node.id in self.types:
            return node.id, self.types[node.id]
        if isinstance(node, ast.Attribute) and _name(node.value) == "layout" and not self.given:
            if node.attr in _INTEGER_FIELDS:
                return f"layout.{node.attr}", "int"
            if node.attr in _NUMBER_FIELDS:
                return f"layout.{node.attr}", "double"
        raise self._refuse(node)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Call) and _name(node.func) != "float":
        return list(node.args)
    return []


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
