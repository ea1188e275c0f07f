"""proa: PaddlePaddle's API on OpenXLA. `import proa as paddle`."""

from __future__ import annotations

import typing as _typing

from ._namespace import collect as _collect

if _typing.TYPE_CHECKING:
    # The namespace is collected when the package is imported: no checker can list it.
    def __getattr__(name: str) -> _typing.Any: ...


_collect(globals())
