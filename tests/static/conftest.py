"""Every test here begins and ends in dynamic mode, with names and default programs of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import proa as paddle
from proa.static import mode


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    with paddle.utils.unique_name.guard():
        before = list(mode._defaults)
        mode._defaults[:] = [paddle.static.Program(), paddle.static.Program()]
        yield
        paddle.disable_static()
        mode._defaults[:] = before


@pytest.fixture
def static() -> None:
    paddle.enable_static()
