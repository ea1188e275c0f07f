"""The check of the house's structure: on the real tree, and on small trees that break each rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_structure
from tools.late_imports import ModuleGraph
from tools.side_doors import SideDoors

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Replaces the shared fixture: the check must work where proa cannot be imported."""


def write_tree(folder: Path, files: dict[str, str]) -> Path:
    """A repository below `folder` with a package `proa` that has these files."""
    for name, source in files.items():
        path = folder / "proa" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(source)
    (folder / "proa" / "__init__.py").touch()
    return folder


def test_the_real_tree_keeps_the_rules(capsys):
    assert check_structure.main([str(ROOT)]) == 0, capsys.readouterr().out


def test_folders_whose_names_are_given(tmp_path):
    rooms = {f"room{number}.py": "" for number in range(26)}
    write_tree(tmp_path, rooms)
    (tmp_path / "tests").mkdir()
    for name in rooms:
        (tmp_path / "tests" / name.removesuffix(".py")).mkdir()
    # `tests` mirrors the package; the package itself has more rooms of its own than one can survey.
    assert [problem.path.as_posix() for problem in check_structure.large_folders(tmp_path)] == ["proa"]
    for number, name in enumerate(("nn", "fft", "io")):  # names that users import are not counted
        (tmp_path / "proa" / f"room{number}.py").rename(tmp_path / "proa" / f"{name}.py")
    assert [problem.path.as_posix() for problem in check_structure.large_folders(tmp_path)] == []


@pytest.mark.parametrize(("count", "problems"), [(24, 0), (25, 1)])
def test_large_folders(tmp_path, count, problems):
    write_tree(tmp_path, {f"ir/part{number}.py": "" for number in range(count)})  # and __init__.py
    (tmp_path / "proa" / "ir" / "__pycache__").mkdir()
    found = [str(problem) for problem in check_structure.large_folders(tmp_path)]
    assert len(found) == problems
    assert all("proa/ir" in text and "26 entries" in text for text in found)


def test_long_functions_without_their_docstrings(tmp_path):
    lines = "    x = 1\n" * 59
    docstring = '    """A line.\n\n    Another.\n    """\n'
    source = f"def short(x):\n{docstring}{lines}\ndef long(x):\n{docstring}{lines}    return x\n"
    write_tree(tmp_path, {"ir/part.py": source})
    (found,) = check_structure.long_functions(tmp_path)
    assert "long has 61 lines" in str(found)


def needless(folder: Path, files: dict[str, str]) -> list[str]:
    found = ModuleGraph(write_tree(folder, files) / "proa").needless()
    return [f"{problem.path.as_posix()}:{problem.line}" for problem in found]


def test_a_late_import_of_what_is_there_anyway(tmp_path):
    files = {
        "ir/a.py": "from . import b\ndef f():\n    from .c import g\n",
        "ir/b.py": "from . import c",
        "ir/c.py": "g = 1",
    }
    assert needless(tmp_path, files) == ["proa/ir/a.py:3"]


def test_what_import_proa_brings_is_there_anyway(tmp_path):
    late = {"metric/a.py": "def f():\n    from ..nn.layer import Layer\n", "nn/layer.py": "Layer = 1"}
    assert needless(tmp_path / "one", late) == []
    late |= {"_namespace.py": '_MODULES = ("nn",)', "nn/__init__.py": ""}
    folder = write_tree(tmp_path / "two", late)
    (folder / "proa" / "nn" / "__init__.py").write_text("from . import layer")
    found = [problem.path.as_posix() for problem in ModuleGraph(folder / "proa").needless()]
    assert found == ["proa/metric/a.py"]


@pytest.mark.parametrize(
    "files",
    [
        # It breaks a cycle.
        {"ir/a.py": "from . import b", "ir/b.py": "def f():\n    from . import a\n"},
        # A cycle of three, by way of a package.
        {
            "ir/a.py": "from ..core import b",
            "core/b.py": "from . import c",
            "core/c.py": "def f():\n    from ..ir.a import x\n",
        },
        # It spares an import that nobody has asked for.
        {"ir/a.py": "def f():\n    from . import b\n", "ir/b.py": ""},
        # From elsewhere.
        {"ir/a.py": "def f():\n    import jax\n"},
    ],
)
def test_late_imports_that_are_needed(tmp_path, files):
    assert needless(tmp_path, files) == []


def doors(folder: Path, source: str, file: str = "ir/a.py") -> list[str]:
    tree = write_tree(folder, {file: source, "nn/b.py": "", "core/c.py": ""})
    return [str(problem) for problem in SideDoors(tree / "proa").problems()]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("importlib.import_module('proa.nn.b')", "ir may not import nn"),
        ("sys.modules.get('proa.nn')", "ir may not import nn"),
        ("sys.modules['proa.nn']", "ir may not import nn"),
        ("importlib.import_module(f'proa.nn.{name}')", "ir may not import nn"),
        ("importlib.import_module('proa')", "the whole package"),
        ("__import__(name)", "worked out"),
        ("name in sys.modules", "worked out"),
        ("def provide(cast):\n    pass", "`provide` lets rooms above"),
    ],
)
def test_side_doors(tmp_path, source, sentence):
    (found,) = doors(tmp_path, source)
    assert found.startswith("proa/ir/a.py:1:")
    assert sentence in found


@pytest.mark.parametrize("file", ["cli/a.py", "compat/a.py", "_namespace.py"])
def test_what_stands_above_everything_may_work_names_out(tmp_path, file):
    assert doors(tmp_path, "importlib.import_module(name)", file) == []


def test_names_from_elsewhere_are_guarded(tmp_path):
    call = "importlib.import_module(from_elsewhere(name))"
    assert doors(tmp_path / "one", f"from ..core.elsewhere import from_elsewhere\n{call}") == []
    # A function of one's own under that name guards nothing.
    (found,) = doors(tmp_path / "two", f"def from_elsewhere(name): return name\n{call}")
    assert "worked out" in found


@pytest.mark.parametrize(
    "source",
    [
        "importlib.import_module('proa.core.c')",
        "importlib.import_module('proa.ir.other')",
        "importlib.import_module(f'{__name__}.{name}')",
        "importlib.import_module('.other', __name__)",
        "sys.modules.get('jax')",
        "'scipy.special' in sys.modules",
        "sys.modules[__name__]",
    ],
)
def test_names_that_are_no_side_doors(tmp_path, source):
    assert doors(tmp_path, source) == []


def test_a_folder_without_the_package_is_refused(tmp_path, capsys):
    assert check_structure.main([str(tmp_path)]) == 2
    assert "has no folder proa" in capsys.readouterr().err
