"""`paddle.enable_compat`: `import torch` gives this package, and stops doing so."""

from __future__ import annotations

import builtins
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
        return module.found

    paddle.enable_compat(scope={"mine"}, blocked_modules="mine.other")
    if not HAS_TORCH:
        for name in ("elsewhere", "mine.other.deep"):
            with pytest.raises(ModuleNotFoundError):
                imported_in(name)
    assert imported_in("mine.deep").sin is paddle.sin
    paddle.disable_compat()


@pytest.mark.parametrize(
    "statement", ["import torch as found", "from torch import nn as found", "import torch.nn as found"]
)
def test_a_scope_does_not_leak(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a module of the scope has imported is not what others get, and the other way round."""
    real = types.ModuleType("torch")
    real.nn = real.sin = types.ModuleType("torch.nn")
    monkeypatch.setitem(sys.modules, "torch", real)
    monkeypatch.setitem(sys.modules, "torch.nn", real.nn)

    def imported_in(name: str) -> object:
        scope = {"__name__": name}
        exec(statement, scope)
        return scope["found"]

    expected = real if statement == "import torch as found" else real.nn
    builtin = builtins.__import__
    paddle.enable_compat(scope="mine", blocked_modules="mine.other")
    try:
        for _ in range(2):
            assert hasattr(imported_in("mine"), "Linear" if expected is not real else "to_tensor")
            assert imported_in("elsewhere") is expected
            assert imported_in("mine.other") is expected
            assert sys.modules["torch"] is real
        paddle.enable_compat(blocked_modules="elsewhere")
        assert hasattr(imported_in("another"), "Linear" if expected is not real else "to_tensor")
        assert imported_in("elsewhere") is expected
    finally:
        paddle.disable_compat()
    assert builtins.__import__ is builtin
    assert imported_in("mine") is expected


def test_an_ignored_scope_is_said() -> None:
    paddle.enable_compat()
    with pytest.warns(UserWarning, match="scope is ignored"):
        paddle.enable_compat(scope="mine")
    paddle.enable_compat(scope="mine", silent=True)
    paddle.disable_compat()
    with pytest.raises(ValueError, match="only backend is 'torch'"):
        paddle.enable_compat(backend="tensorflow")
