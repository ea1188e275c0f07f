"""A disk that takes no more: the error names the file, and nothing is left there."""

from __future__ import annotations

import pathlib
import resource
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import proa as paddle


@pytest.fixture
def small_files() -> Iterator[None]:
    """Writing more than 1,000 bytes fails, as it does where the disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _specification() -> list[Any]:
    return [paddle.static.InputSpec([None, 60], "float32", "x")]


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.pdparams", lambda layer, path: paddle.save(layer.state_dict(), path)),
        ("b.pdiparams", lambda layer, path: paddle.jit.save(layer, path[: -len(".pdiparams")], _specification())),
        ("c.proa", lambda layer, path: paddle.jit.save(layer, path, _specification())),
        ("d.onnx", lambda layer, path: paddle.onnx.export(layer, path, _specification())),
    ],
)
def test_the_error_names_the_file_and_nothing_is_left(
    name: str, write: Callable[[Any, str], Any], tmp_path: pathlib.Path
) -> None:
    with pytest.raises(OSError, match="File too large") as raised:
        write(paddle.nn.Linear(60, 60), str(tmp_path / name))
    assert raised.value.filename == str(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
