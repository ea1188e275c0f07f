"""`paddle.enable_compat`: `import torch` gives this package, and stops doing so."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator

import pytest

import proa as paddle

HAS_TORCH = importlib.util.find_spec("torch") is not None


@pytest.fixture(autouse=True)
def _off_afterwards() -> Iterator[None]:
    yield
    with pytest.warns(UserWarning, match="not enabled"):
        paddle.disable_compat()


def test_everything_below_the_name() -> None:
    paddle.enable_compat()
    torch = importlib.import_module("torch")
    functional = importlib.import_module("torch.nn.functional")
    assert torch.sin is paddle.sin
    assert torch.max is paddle.compat.max
    assert torch.nn.Linear is paddle.compat.nn.Linear
    assert torch.nn.ReLU is paddle.nn.ReLU
    assert functional.softmax is paddle.compat.nn.functional.softmax
    assert functional.relu is paddle.nn.functional.relu
    assert torch.nn.functional is functional
    assert torch.__version__ == paddle.__version__
    with pytest.raises(AttributeError, match="nonexistent"):
        _ = torch.nonexistent
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("torch.nonexistent")
    paddle.disable_compat()
    assert "torch" not in sys.modules


def test_guard_restores_what_was_before() -> None:
    aside = types.ModuleType("torch")
    sys.modules["torch"] = aside
    try:
        with paddle.use_compat_guard():
            assert importlib.import_module("torch").cos is paddle.cos
            with paddle.use_compat_guard(enable=False):
                assert importlib.import_module("torch") is aside
            assert importlib.import_module("torch").cos is paddle.cos
        assert importlib.import_module("torch") is aside
    finally:
        del sys.modules["torch"]


def test_scope_and_blocked_modules() -> None:
    source = "import importlib\nfound = importlib.import_module('torch')\n"

    def imported_in(name: str) -> object:
        module = types.ModuleType(name)
        exec(compile(source, f"<{name}>", "exec"), module.__dict__)
        return module.found  # type: ignore[attr-defined]

    paddle.enable_compat(scope={"mine"}, blocked_modules="mine.other")
    if not HAS_TORCH:
        for name in ("elsewhere", "mine.other.deep"):
            with pytest.raises(ModuleNotFoundError):
                imported_in(name)
    assert imported_in("mine.deep").sin is paddle.sin  # type: ignore[attr-defined]
    paddle.disable_compat()


def test_an_ignored_scope_is_said() -> None:
    paddle.enable_compat()
    with pytest.warns(UserWarning, match="scope is ignored"):
        paddle.enable_compat(scope="mine")
    paddle.enable_compat(scope="mine", silent=True)
    paddle.disable_compat()
    with pytest.raises(ValueError, match="only backend is 'torch'"):
        paddle.enable_compat(backend="tensorflow")
