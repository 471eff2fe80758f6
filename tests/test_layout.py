"""The shape of the house: what stands where, how large it is and what is public."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [ROOT / "vtree", ROOT / "kernels" / "vtree_kernels"]
TESTS = ROOT / "tests"

# Aim at 40 and 400; these are the walls.
LINES_OF_A_FUNCTION = 60
LINES_OF_A_FILE = 450

# Names that say nothing of what is inside: give the function a home that does.
ATTICS = {"common", "core", "helper", "helpers", "manager", "util", "utils"}

# Modules that need no test file of their own, and why.
WITHOUT_A_TEST = {
    "vtree/__main__.py": "calls the command line; tests/cli/test_program.py runs it as a user does",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


MODULES = {_name(path): path for package in PACKAGES for path in sorted(package.rglob("*.py"))}
SOURCES = MODULES | {_name(path): path for path in sorted(TESTS.rglob("*.py"))}


def _test_of(module: str) -> Path | None:
    """Give the test file that mirrors a module, or None where it needs none."""
    path = Path(module)
    if path.parts[0] == "vtree":
        # The __init__ of a family lists names; the family's modules are what is tested.
        if path.name == "__init__.py" or module in WITHOUT_A_TEST:
            return None
        return TESTS.joinpath(*path.parts[1:-1], f"test_{path.name}")
    inner = path.relative_to("kernels/vtree_kernels")
    if inner.name == "__init__.py" and len(inner.parts) == 1:
        return None
    # One test a kernel, since what is tested is that its forms agree.
    kernel = inner.parts[0].removesuffix(".py").lstrip("_")
    return TESTS / "kernels" / f"test_{kernel}.py"


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_test(module: str) -> None:
    test = _test_of(module)
    assert test is None or test.is_file(), f"{module} needs {_name(test)}"


def test_the_allow_list_is_not_stale() -> None:
    assert WITHOUT_A_TEST.keys() <= MODULES.keys()


@pytest.mark.parametrize("module", MODULES)
def test_names_say_what_is_inside(module: str) -> None:
    words = {part.removesuffix(".py").lstrip("_") for part in Path(module).parts}
    assert not words & ATTICS, f"{module}: name it after what it holds"


@pytest.mark.parametrize("module", MODULES)
def test_files_are_short(module: str) -> None:
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    assert lines <= LINES_OF_A_FILE, f"{module} has {lines} lines, at most {LINES_OF_A_FILE}"


def _functions(tree: ast.AST) -> Iterator[tuple[Function, bool]]:
    """Yield each function and whether it is a method."""
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, Function):
                yield child, isinstance(parent, ast.ClassDef)


def _length(function: Function) -> int:
    """Count the lines from `def` to the end, without the docstring."""
    lines = int(function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= int(docstring.end_lineno or 0) - docstring.lineno + 1
    return lines


def _bound_names(function: Function) -> set[str]:
    """Collect the names that a function binds, which hide the module's."""
    bound = set()
    for node in ast.walk(function):
        if isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound


def _calls_itself(function: Function, is_method: bool) -> bool:
    """Tell `name(...)` in a function, and `self.name(...)` in a method."""
    called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    if is_method:
        return any(
            isinstance(target, ast.Attribute)
            and target.attr == function.name
            and isinstance(target.value, ast.Name)
            and target.value.id in {"self", "cls"}
            for target in called
        )
    return function.name not in _bound_names(function) and any(
        isinstance(target, ast.Name) and target.id == function.name for target in called
    )


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_short(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    lengths = [(function.name, _length(function)) for function, _ in _functions(tree)]
    long = [(name, lines) for name, lines in lengths if lines > LINES_OF_A_FUNCTION]
    assert not long, f"{module}: at most {LINES_OF_A_FUNCTION} lines a function"


@pytest.mark.parametrize("source", sorted(SOURCES.keys() - {"tests/naive.py"}))
def test_nothing_recurses(source: str) -> None:
    tree = ast.parse(SOURCES[source].read_text(encoding="utf-8"))
    recursive = [
        function.name
        for function, is_method in _functions(tree)
        if _calls_itself(function, is_method)
    ]
    assert not recursive, f"{source}: depth must never be bounded by Python's stack"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): return f()", True),
        ("def f():\n def g(): return g()", True),
        ("class C:\n def f(self): return self.f()", True),
        ("def f():\n from m import f\n return f()", False),
        ("class C:\n def f(self): return f(self)", False),
        ("class C:\n def f(self): return super().f() + self.inner.f()", False),
    ],
)
def test_recursion_is_told_from_its_lookalikes(source: str, expected: bool) -> None:
    found = [_calls_itself(*pair) for pair in _functions(ast.parse(source))]
    assert any(found) is expected


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("vtree/")])
def test_array_libraries_come_in_by_one_door(module: str) -> None:
    imported = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    allowed = module == "vtree/arrays.py"
    strangers = imported & {"array_api_compat", "array_api_extra", "cupy", "torch"}
    assert allowed or not strangers, f"{module}: ask vtree/arrays.py instead"


def _fresh_python(program: str) -> object:
    """Run a program in a new interpreter and read the JSON it prints."""
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": packages},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_import_loads_nothing_heavy() -> None:
    loaded = _fresh_python("import json, sys, vtree; print(json.dumps(sorted(sys.modules)))")
    assert isinstance(loaded, list)
    assert not {"numba", "cupy", "torch"} & set(loaded)


def test_what_is_public_is_what_is_listed() -> None:
    program = """
import json, vtree
public = [name for name in dir(vtree) if not name.startswith("_")]
missing = [name for name in vtree.__all__ if not hasattr(vtree, name)]
print(json.dumps([list(vtree.__all__), public, missing]))
"""
    answer = _fresh_python(program)
    assert isinstance(answer, list)
    listed, public, missing = answer
    assert listed == sorted(set(listed))
    assert [name for name in listed if not name.startswith("_")] == sorted(public)
    assert missing == []
