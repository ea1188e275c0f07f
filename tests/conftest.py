"""What every test shares: a cache folder of its own, a fixed seed, no GPU tests without a GPU."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

import pytest

# proa reads its environment when it is first imported, which happens after this file ran.
# The workers of pytest-xdist inherit the folder from the process that started them.
_OWNS_CACHE = "PYTEST_XDIST_WORKER" not in os.environ
if _OWNS_CACHE:
    # Native kernels are named by their content: those that `make env` compiled are used.
    _BASE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    _USUAL = os.environ.get("PROA_CACHE_DIR") or os.path.join(_BASE, "proa", "xla")
    os.environ.setdefault("PROA_NATIVE_DIR", os.path.join(_USUAL, "native"))
    os.environ["PROA_CACHE_DIR"] = tempfile.mkdtemp(prefix="proa-test-cache-")
# Tests are short: what a user's program compiles once it has paid off, they compile at the third sight.
os.environ.setdefault("PROA_HOT_THRESHOLD", "3")
# Who looks at a failing test wants to see the package's frames; tests of what users see switch this off.
os.environ.setdefault("PROA_FULL_TRACEBACK", "1")
# Several workers share one GPU: none of them may reserve most of its memory in advance.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# What a GPU gives is compared with NumPy's: its products are to be those of float32, not of 19 bits.
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _OWNS_CACHE:
        shutil.rmtree(os.environ["PROA_CACHE_DIR"], ignore_errors=True)


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    """Every test starts from the same random state, whatever ran before it."""
    import proa as paddle

    paddle.seed(2024)


@functools.cache
def _has_gpu() -> bool:
    import jax

    try:
        return bool(jax.devices("gpu"))
    except RuntimeError:  # jax's way to say that there is no such backend
        return False


@pytest.fixture(autouse=True)
def _skip_without_gpu(request: pytest.FixtureRequest, fixed_seed: None) -> None:
    # After `fixed_seed`: proa configures jax, and must do so before jax looks for devices.
    if request.node.get_closest_marker("gpu") and not _has_gpu():
        pytest.skip("no GPU was found by jax.devices('gpu')")


@pytest.fixture
def small_disk(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A disk of one megabyte, which can really be full."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]).returncode:
        pytest.skip("only root can mount a small disk, and not in every container")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def read_only(small_disk: pathlib.Path) -> pathlib.Path:
    """An empty disk that cannot be written, not even by root."""
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return small_disk
