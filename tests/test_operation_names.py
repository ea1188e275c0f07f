"""`tools/check_operation_names.py`: lists of operations outside their declarations are found."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "check_operation_names.py"
DECLARATIONS = """
from proa.eager.declare import op

@op("x y")
def add(xp, x, y): ...

@op()
def relu(xp, x): ...

@op(name="matmul")
def product(xp, x): ...

again = op("x", name="tanh")(print)
"""


def load() -> ModuleType:
    specification = importlib.util.spec_from_file_location("check_operation_names", TOOL)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def package(tmp_path: Path) -> Path:
    made = tmp_path / "proa"
    for folder in ("ops", "graph", "formats"):
        (made / folder).mkdir(parents=True)
    (made / "ops" / "all.py").write_text(DECLARATIONS)
    return made


def test_declared_names_are_found(package: Path) -> None:
    assert load().declared_names(package) == {"add", "relu", "matmul", "tanh"}


@pytest.mark.parametrize(
    "text",
    [
        'X = {"add", "relu", "matmul", "tanh"}',
        'X = frozenset(["add", "relu", "matmul", "tanh", "other"])',
        'X = {"add": 1, "relu": 2, "matmul": 3, "tanh": 4}',
        'X = "add relu matmul tanh".split()',
        '@rule("add relu matmul tanh")\ndef find(): ...',
    ],
)
def test_a_list_of_operations_is_a_problem(package: Path, text: str) -> None:
    (package / "graph" / "costs.py").write_text(text)
    (problem,) = load().problems(package)
    assert "graph/costs.py:1: a list of operations (add, matmul, relu, tanh …)" in problem
    done = subprocess.run([sys.executable, TOOL, package], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "with a trait" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        'X = {"add", "relu", "matmul"}',  # a pattern
        '"""Here add relu matmul tanh are named among many other words of a sentence."""',
        '__all__ = ["add", "relu", "matmul", "tanh"]',
        'X = ("add", "b", "c", "relu", "d", "e", "matmul", "f", "tanh")',
    ],
)
def test_other_texts_are_none(package: Path, text: str) -> None:
    (package / "graph" / "costs.py").write_text(text)
    assert list(load().problems(package)) == []


def test_tables_of_file_formats_stay(package: Path) -> None:
    (package / "formats" / "names.py").write_text('X = {"add", "relu", "matmul", "tanh"}')
    assert list(load().problems(package)) == []


def test_the_package_has_no_such_lists_and_no_exception_too_many() -> None:
    tool = load()
    package = TOOL.parents[1] / "proa"
    assert list(tool.problems(package)) == []
    entries = dict(tool.ALLOWED)
    tool.ALLOWED.clear()
    found = "\n".join(tool.problems(package))
    assert [entry for entry in entries if f"/proa/{entry}" not in found] == []


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, TOOL, tmp_path / "none"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "is not a folder" in done.stderr
