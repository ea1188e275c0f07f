"""Plans for convolutions and for attention over long sequences."""

from __future__ import annotations

from typing import Any

from ...core.errors import value_error
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from ..meshes.dtensor import reshard
from ..meshes.mesh import ProcessMesh
from .plans import PlanBase, placements_on

SEQUENCE = "sep"  # the axis of the mesh that cuts sequences
_BACKENDS = ("p2p", "all2all")


class ConvParallel(PlanBase):
    """Cuts the images that enter a Conv2D along their width, over `mp`. XLA exchanges the columns that windows share, so any
    kernel, stride and padding will do.

    Examples:
        >>> dist = paddle.distributed
        >>> layer, mesh = paddle.nn.Conv2D(1, 2, 3), dist.ProcessMesh([0], ["mp"])
        >>> dist.ConvParallel().apply(layer, mesh)
        >>> layer(paddle.ones([1, 1, 4, 4])).shape
        paddle.Size([1, 2, 2, 2])
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes the images that the layer gets lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Conv2D(1, 2, 3), dist.ProcessMesh([0], ["mp"])
            >>> dist.ConvParallel().apply(layer, mesh)
            >>> layer(paddle.ones([1, 1, 4, 4])).shape
            paddle.Size([1, 2, 2, 2])
        """
        width = 2 if getattr(layer, "_data_format", "NCHW") == "NHWC" else 3

        def cut(_layer: Layer, inputs: Any) -> Any:
            placements = placements_on(process_mesh, dp=0, mp=width)
            return tuple(reshard(x, process_mesh, placements) if isinstance(x, Tensor) else x for x in inputs)

        layer.register_forward_pre_hook(cut)


class ContextParallel(PlanBase):
    """Attention whose sequences, `[batch, sequence, heads, width]`, are cut over the axis `sep`.

    With "p2p" each device keeps its queries and meets all keys and values; with "all2all" it gets all positions of some
    heads, and gives back its positions of all heads. Whichever it is, the numbers are the same.

    Args:
        backend: "p2p" or "all2all".

    Raises:
        ValueError: `backend` is another one.

    Examples:
        >>> paddle.distributed.ContextParallel("all2all").backend
        'all2all'
    """

    def __init__(self, backend: str = "p2p") -> None:
        if backend not in _BACKENDS:
            raise value_error(type(self).__name__, f"backend is one of {list(_BACKENDS)}", repr(backend))
        self.backend = backend

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the layer gets and gives lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Identity(), dist.ProcessMesh([0], ["sep"])
            >>> dist.ContextParallel().apply(layer, mesh)
            >>> layer(paddle.ones([1, 4, 2, 8])).shape
            paddle.Size([1, 4, 2, 8])
        """
        by_heads = self.backend == "all2all"

        def enter(_layer: Layer, args: Any, kwargs: Any) -> Any:
            return (
                tuple(laid_out(x, by_heads or not position) for position, x in enumerate(args)),
                {name: laid_out(x, by_heads or name in ("q", "query")) for name, x in kwargs.items()},
            )

        def laid_out(x: Any, is_cut: bool) -> Any:
            if not isinstance(x, Tensor) or x.ndim != 4:
                return x
            cut = (2 if by_heads else 1) if is_cut else None
            return reshard(x, process_mesh, placements_on(process_mesh, dp=0, **{SEQUENCE: cut}))

        def leave(_layer: Layer, _inputs: Any, outputs: Any) -> Any:
            whole = placements_on(process_mesh, dp=0, **{SEQUENCE: 1})
            return reshard(outputs, process_mesh, whole) if isinstance(outputs, Tensor) else outputs

        layer.register_forward_pre_hook(enter, with_kwargs=True)
        layer.register_forward_post_hook(leave)


class PrepareContextParallel(ContextParallel):
    """Cuts what enters a model along the sequence, the second dimension, over the axis `sep`.

    Examples:
        >>> paddle.distributed.PrepareContextParallel().backend
        'p2p'
    """

    def apply(self, layer: Layer, process_mesh: ProcessMesh, shard_param_list: list[str] | None = None) -> None:
        """Makes what the model gets lie so.

        Examples:
            >>> dist = paddle.distributed
            >>> layer, mesh = paddle.nn.Identity(), dist.ProcessMesh([0], ["sep"])
            >>> dist.PrepareContextParallel().apply(layer, mesh)
            >>> layer(paddle.ones([1, 4])).placements
            [Shard(dim=1)]
        """
        placements = placements_on(process_mesh, dp=0, **{SEQUENCE: 1})

        def cut(x: Any) -> Any:
            return reshard(x, process_mesh, placements) if isinstance(x, Tensor) and x.ndim >= 2 else x

        layer.register_forward_pre_hook(
            lambda _layer, args, kwargs: (tuple(map(cut, args)), {name: cut(x) for name, x in kwargs.items()}),
            with_kwargs=True,
        )
