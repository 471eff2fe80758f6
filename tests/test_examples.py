"""The README's example and the docstrings' run and print what they say."""

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vtree

ROOT = Path(__file__).parent.parent
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "vtree").rglob("*.py"))
    if ">>>" in path.read_text()
]


def test_readme() -> None:
    text = (ROOT / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
    assert found is not None
    done = subprocess.run(
        [sys.executable, "-c", found[1]], capture_output=True, text=True, check=True
    )
    assert done.stdout == found[2]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_public_functions_and_estimators_carry_an_example() -> None:
    without = {name for name in vtree.__all__ if ">>>" not in (getattr(vtree, name).__doc__ or "")}
    assert without <= {"kernels", "load", "save", "warmup"}  # shown in README instead
