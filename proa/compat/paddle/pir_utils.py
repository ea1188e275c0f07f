"""`paddle.pir_utils`: switches between kinds of programs, of which there is one."""

import contextlib


class OldIrGuard(contextlib.nullcontext):  # type: ignore[type-arg]
    """Programs of the older kind."""


DygraphOldIrGuard = DygraphPirGuard = OldIrGuard
