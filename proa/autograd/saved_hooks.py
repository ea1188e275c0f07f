"""`saved_tensors_hooks`: decides how the tensors that a backward pass needs are kept until then."""

from __future__ import annotations

from types import TracebackType

from ..core.errors import type_error
from ..eager.backward.saved import Pack, Unpack
from ..eager.backward.tape import SAVED_HOOKS
from ..ir.recorder import LOCAL


class saved_tensors_hooks:
    """A block in which the tensors that a backward pass needs are kept in another form.

    For this thread alone; of nested blocks the innermost counts. Tensors that a PyLayer saves go the same way.

    Args:
        pack_hook: `pack_hook(tensor)` gives what is kept in place of each saved tensor.
        unpack_hook: `unpack_hook(kept)` makes a tensor of it again when the gradient is computed.

    Raises:
        TypeError: one cannot be called.

    Examples:
        >>> kept = []
        >>> def pack(tensor):
        ...     kept.append(tensor.numpy())
        ...     return len(kept) - 1
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> with paddle.autograd.saved_tensors_hooks(pack, lambda place: paddle.to_tensor(kept[place])):
        ...     y = x * x
        >>> y.backward()
        >>> x.grad.tolist()
        [6.0]
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise type_error("saved_tensors_hooks", f"{name} must be callable", type(hook).__name__)
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> saved_tensors_hooks:
        if not hasattr(LOCAL, "saved_hooks"):
            LOCAL.saved_hooks = []
        LOCAL.saved_hooks.append((self.pack_hook, self.unpack_hook))
        SAVED_HOOKS.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        SAVED_HOOKS.remove(self)
        LOCAL.saved_hooks.pop()
