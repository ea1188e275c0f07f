"""`paddle.static.amp`: mixed precision of static programs, by the same settings as elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Marks what may run in half precision; `auto_cast` decides by operation."""
    yield


bf16_guard = fp16_guard


class CustomOpLists:
    """Operations to run in half precision, and those to keep."""

    def __init__(
        self, custom_white_list: Any = None, custom_black_list: Any = None, custom_black_varnames: Any = None,
        dtype: str = "float16",
    ) -> None:  # fmt: skip
        self.white_list, self.black_list = set(custom_white_list or ()), set(custom_black_list or ())
        self.black_varnames, self.amp_dtype = custom_black_varnames, dtype


AutoMixedPrecisionLists = CustomOpLists


def decorate(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(
        "(static.amp.decorate) a static program is not rewritten here: build it under paddle.amp.auto_cast."
    )
