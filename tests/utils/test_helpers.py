"""`paddle.utils`: try_import, deprecated, run_check, unique_name; `paddle.version` and `paddle.sysconfig`."""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import pytest

import proa as paddle
from proa import utils
from proa.utils import unique_name


def test_try_import() -> None:
    import math

    assert utils.try_import("math") is math
    with pytest.raises(ImportError, match=r"pip install no_such_module"):
        utils.try_import("no_such_module.part")
    with pytest.raises(ImportError, match=r"^please$"):
        utils.try_import("no_such_module", "please")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"update_to": "paddle.new"}, 'Please use "paddle.new" instead.'),
        ({"since": "2.0", "reason": "slow"}, "since 2.0"),
    ],
)
def test_deprecated_in_words(options: dict[str, Any], text: str) -> None:
    @utils.deprecated(**options)
    def old(x: int) -> int:
        """Adds one."""
        return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert old(1) == 2
    assert text in (old.__doc__ or "")
    assert "Adds one." in (old.__doc__ or "")


def test_deprecated_levels() -> None:
    @utils.deprecated(update_to="paddle.new", level=1)
    def warned() -> int:
        return 1

    @utils.deprecated(reason="unsafe", level=2)
    def gone() -> int:
        return 1

    with pytest.warns(UserWarning, match="paddle.new"):
        assert warned() == 1
    with pytest.raises(RuntimeError, match="unsafe"):
        gone()


def test_run_check(capsys: pytest.CaptureFixture[str]) -> None:
    utils.run_check()
    assert "works well on" in capsys.readouterr().out


def test_require_version() -> None:
    paddle.utils.require_version("2.0")
    paddle.utils.require_version("3.3.1", "3.4")
    paddle.utils.require_version("3.3.1.0")
    for bounds in (("9.0",), ("3.0.0", "3.2.0"), ("3.3.1", "2.0")):
        with pytest.raises(Exception, match="of Paddle is required"):
            paddle.utils.require_version(*bounds)
    with pytest.raises(TypeError, match="min_version must be a string"):
        paddle.utils.require_version(3)
    with pytest.raises(ValueError, match=r"'2\.6\.0'"):
        paddle.utils.require_version("a.b")
    with pytest.raises(ValueError, match="max_version"):
        paddle.utils.require_version("2.0", "3.0.0.0.0")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    version = paddle.version
    assert (version.full_version, version.major, version.minor, version.patch) == ("3.3.1", "3", "3", "1")
    assert version.proa_version == paddle.__version__
    assert version.cuda() == version.cuda
    assert version.hip is None
    assert version.cuda_archs() == []
    assert version.tensorrt() is None
    assert {version.xpu(), version.xpu_xre(), version.xpu_xccl(), version.xpu_xhpc()} == {"False"}
    assert isinstance(version.cudnn(), str)
    assert isinstance(version.nccl(), str)
    version.show()
    assert "full_version: 3.3.1" in capsys.readouterr().out


def test_sysconfig() -> None:
    assert pathlib.Path(paddle.sysconfig.get_include(), "xla", "ffi", "api", "ffi.h").is_file()
    assert pathlib.Path(paddle.sysconfig.get_lib()).is_dir()


# ---- unique names --------------------------------------------------------------------------------


def test_names_are_counted() -> None:
    with unique_name.guard():
        assert [unique_name.generate("fc"), unique_name.generate("fc"), unique_name.generate("b")] == [
            "fc_0", "fc_1", "b_0",
        ]  # fmt: skip
        with unique_name.guard("A_"):
            assert unique_name.generate("fc") == "A_fc_0"
        with unique_name.guard(b"B_"):
            assert unique_name.generate("fc") == "B_fc_0"
        assert unique_name.generate("fc") == "fc_2"


def test_layers_count_along() -> None:
    with unique_name.guard():
        first = [p.name for p in paddle.nn.Linear(2, 2).parameters()]
        assert unique_name.generate("linear") == "linear_1"
    with unique_name.guard():
        assert [p.name for p in paddle.nn.Linear(2, 2).parameters()] == first


def test_switch_there_and_back() -> None:
    with unique_name.guard():
        unique_name.generate("fc")
        before, _ = unique_name.switch()
        assert unique_name.generate("fc") == "fc_0"
        unique_name.switch(before)
        assert unique_name.generate("fc") == "fc_1"
        with pytest.raises(TypeError, match="comes from switch"):
            unique_name.switch(3)


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({}, "future versions."),
        ({"reason": "it is slow."}, "Reason: it is slow."),
        ({"reason": "slow"}, "Reason: slow."),
    ],
)
def test_the_error_of_a_deprecated_function_ends_with_one_full_stop(options: dict[str, Any], end: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        utils.deprecated(level=2, **options)(lambda: None)()
    assert str(caught.value).endswith(end)
    assert not str(caught.value).endswith("..")
