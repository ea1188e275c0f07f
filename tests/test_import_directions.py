"""The import-direction check: on the real tree, and on small trees that break each rule."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_imports import Checker

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Replaces the shared fixture: the check must work where proa cannot be imported."""


def write_tree(folder: Path, **files: str) -> Path:
    """A package `proa` below `folder`; the keyword `nn__layer` is the file nn/layer.py."""
    package = folder / "proa"
    package.mkdir()
    (package / "__init__.py").touch()
    for room in ("core", "ir", "eager", "kernels", "ops", "nn", "optimizer", "metric", "cli"):
        (package / room).mkdir()
        (package / room / "__init__.py").touch()
    for name, source in files.items():
        path = package / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    return package


def sentences(package: Path, **options: dict) -> list[str]:
    return [str(problem) for problem in Checker(package, **options).problems()]


def run_check(*arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "check_imports.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_real_tree_keeps_the_rules():
    finished = run_check()
    assert finished.stdout == ""
    assert finished.returncode == 0


@pytest.mark.parametrize(
    "files",
    [
        {"ir__program": "from proa.core.tensor import Tensor\nfrom . import passes"},
        {"ir__program": "from ..core import tensor\nfrom .. import core\nimport proa.core.dtype"},
        {"nn__layer": "from proa import ops\nfrom proa.eager import recorder"},
        {"cli__main": "from proa import nn, optimizer\nimport numpy"},
        {"__init__": "from proa import cli, nn\nfrom .core import Tensor"},
        {"__main__": "from proa.cli.main import main"},
        {"nn__deep": "from proa.nn.functional import relu"},
        {"random": "from proa.core import generator"},
        {"proa_like": "import proa_like_other.nn\nfrom jaxtyping import Float"},
    ],
    ids=lambda files: next(iter(files)),
)
def test_downward_imports_pass(tmp_path, files):
    assert sentences(write_tree(tmp_path, **files)) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"core__tensor": "import numpy\n\nfrom proa.ops.math import add"},
            "proa/core/tensor.py:3: core may not import ops: ops stands above core",
        ),
        ({"core__tensor": "from .. import ops"}, "tensor.py:1: core may not import ops"),
        ({"core__tensor": "from ..ops import math"}, "core may not import ops"),
        ({"core__tensor": "import proa.ops.math"}, "core may not import ops"),
        ({"core__tensor": "def f():\n    from proa import ir"}, "tensor.py:2: core may not import"),
        ({"ir__program": "from proa.eager import recorder"}, "ir may not import eager"),
        ({"kernels__conv": "from proa.nn import Conv2D"}, "kernels may not import nn"),
        ({"nn__layer": "from proa.cli import main"}, "nn may not import cli"),
        ({"optimizer__adam": "from proa import metric"}, "optimizer may not import metric: they are sib"),
        ({"random": "from . import metric"}, "proa/random.py:1: random may not import metric: they are"),
        ({"nn__layer": "from proa import optimizer"}, "nn may not import optimizer: optimizer stands above"),
        ({"nn__layer": "from proa import Tensor"}, "nn may not import from proa/__init__.py"),
        ({"cli__main": "import proa"}, "cli may not import from proa/__init__.py"),
        ({"nn__layer": "from .... import elsewhere"}, "reaches out of the package proa"),
        ({"nn__layer": "x = ("}, "proa/nn/layer.py:1: this is not valid Python"),
    ],
)
def test_each_broken_rule_is_named(tmp_path, files, expected):
    found = sentences(write_tree(tmp_path, **files))
    assert len(found) == 1
    assert expected in found[0]


def test_a_room_is_reported_once_per_statement(tmp_path):
    package = write_tree(tmp_path, core__tensor="from proa import Tensor, Layer, nn, ops")
    assert len(sentences(package)) == 3


def test_allowed_siblings_need_the_right_direction(tmp_path):
    package = write_tree(
        tmp_path, optimizer__clip="from proa import metric", metric__scaler="from proa import optimizer"
    )
    found = sentences(package, allowed_siblings={("optimizer", "metric"): "gradient clipping"})
    assert len(found) == 1
    assert "metric may not import optimizer" in found[0]


TYPE_CHECKING_ONLY = """
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jax
    from proa.ops import math
if typing.TYPE_CHECKING:
    from proa import nn
if not TYPE_CHECKING:
    pass
else:
    import jax
"""


def test_type_checking_blocks_are_free(tmp_path):
    assert sentences(write_tree(tmp_path, core__tensor=TYPE_CHECKING_ONLY)) == []


def test_the_other_branch_of_type_checking_is_not_free(tmp_path):
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import jax"
    found = sentences(write_tree(tmp_path, core__tensor=source))
    assert len(found) == 1
    assert found[0].startswith("proa/core/tensor.py:5: jax is imported as soon as this module is")


@pytest.mark.parametrize(
    "source",
    [
        "import jax",
        "import jax.numpy as jnp",
        "from jax import lax",
        "from jaxlib import xla_client",
        "try:\n    import jax\nexcept ImportError:\n    jax = None",
        "class Holder:\n    import jax",
    ],
)
def test_jax_at_import_time_is_reported(tmp_path, source):
    found = sentences(write_tree(tmp_path, nn__layer=source))
    assert len(found) == 1
    assert "import it inside the function that needs it" in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "def kernel():\n    import jax.numpy as jnp",
        "async def kernel():\n    from jax import lax",
        "class Kernel:\n    def run(self):\n        import jax",
    ],
)
def test_jax_inside_functions_passes(tmp_path, source):
    assert sentences(write_tree(tmp_path, kernels__conv=source)) == []


def test_modules_allowed_to_import_jax(tmp_path):
    package = write_tree(tmp_path, kernels__conv="import jax", ir__lowering="import jax")
    both = {"proa/kernels/": "a folder", "proa/ir/lowering.py": "a module"}
    assert sentences(package, allowed_to_import_jax=both) == []
    assert len(sentences(package, allowed_to_import_jax={"proa/ir/low": "no such module"})) == 2


def test_the_command_prints_and_fails(tmp_path):
    finished = run_check(write_tree(tmp_path, core__tensor="from proa import nn\nimport jax"))
    assert finished.returncode == 1
    lines = finished.stdout.splitlines()
    assert lines[0].startswith("proa/core/tensor.py:1: core may not import nn")
    assert lines[1].startswith("proa/core/tensor.py:2: jax is imported")
    assert lines[2].startswith("2 import(s) break a rule")


def test_the_command_refuses_a_missing_folder(tmp_path):
    finished = run_check(tmp_path / "nowhere")
    assert finished.returncode == 2
    assert "is not a folder" in finished.stderr
