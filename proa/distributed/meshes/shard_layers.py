"""Layers on a mesh: parameters laid out by a function of the user's, and layers that work on the parts of single devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import type_error, value_error
from ...eager.tensor import Tensor
from ...nn.layer import Layer
from .dtensor import dtensor_from_local, lay_out_parameter, reshard
from .layouts import found_layout
from .local import locals_of
from .mesh import ProcessMesh, require_devices
from .placement import Placement, Replicate


def lay_out_rest(layer: Layer, mesh: ProcessMesh) -> None:
    """Lays parameters and buffers that nobody has laid out whole on each device of a mesh."""
    for tensor in (*layer.parameters(), *layer.buffers()):
        if isinstance(tensor, Tensor) and tensor._layout is None:
            lay_out_parameter(tensor, mesh, (Replicate(),) * mesh.ndim)


def shard_layer(
    layer: Layer,
    process_mesh: ProcessMesh,
    shard_fn: Callable[..., Any] | None = None,
    input_fn: Callable[..., Any] | None = None,
    output_fn: Callable[..., Any] | None = None,
) -> Layer:
    """The layer with its parameters on a mesh: as `shard_fn(name, sublayer, mesh)` lays them out, the others whole.

    `input_fn(inputs, mesh)` and `output_fn(outputs, mesh)` see what goes in and comes out.

    Args:
        layer: a Layer, which is given back.
        process_mesh: the mesh.
        shard_fn: called for the layer and all that it has; None: all parameters lie whole on each device.
        input_fn: changes the inputs.
        output_fn: changes the outputs.

    Examples:
        >>> dist = paddle.distributed
        >>> def columns(name, layer, mesh):
        ...     layer.weight = dist.shard_tensor(layer.weight, mesh, [dist.Shard(1)])
        >>> layer = dist.shard_layer(paddle.nn.Linear(2, 4), dist.ProcessMesh([0], ["mp"]), columns)
        >>> layer.weight.placements, layer.bias.placements
        ([Shard(dim=1)], [Replicate()])
    """
    if not isinstance(layer, Layer):
        raise type_error("shard_layer", "layer must be a Layer", type(layer).__name__)
    require_devices("shard_layer", process_mesh)
    if shard_fn is not None:
        for name, part in layer.named_sublayers(include_self=True):
            shard_fn(name, part, process_mesh)
    lay_out_rest(layer, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: _as_arguments(input_fn(inputs, process_mesh)))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def _as_arguments(inputs: Any) -> Any:
    return tuple(inputs) if isinstance(inputs, list) else inputs


def _on_parts(
    where: str, function: Callable[..., Any], inputs: Sequence[Any], named: dict[str, Any], attributes: Sequence[Any]
) -> Any:
    """Calls a function with the parts of each of this process's devices and puts its results together.

    A process with several devices calls it once for each: they are parts of one program all the same.
    """
    values = [*inputs, *named.values()]
    layouts = [found_layout(v) if isinstance(v, Tensor) and v.is_dist() else None for v in values]
    columns = [
        locals_of(value, layout) if layout is not None else None for value, layout in zip(values, layouts, strict=True)
    ]
    count = max((len(column) for column in columns if column is not None), default=1)
    rows: list[Any] = []
    for number in range(count):
        row = [value if column is None else column[number] for value, column in zip(values, columns, strict=True)]
        rows.append(function(*row[: len(inputs)], **dict(zip(named, row[len(inputs) :], strict=True))))
    several = isinstance(rows[0], (list, tuple))
    results = [list(row) if several else [row] for row in rows]
    if len(attributes) != len(results[0]):
        raise value_error(
            where, f"the function gives {len(results[0])} result(s), and each needs a mesh and placements",
            f"{len(attributes)} of them",
        )  # fmt: skip
    made = [
        parts[0] if attribute is None else dtensor_from_local(list(parts), *attribute)
        for parts, attribute in zip(zip(*results, strict=True), attributes, strict=True)
    ]
    return type(rows[0])(made) if several else made[0]


class LocalLayer(Layer):
    """A layer whose `forward` gets the parts that a device has, and gives parts of distributed tensors.

    `out_dist_attrs` has a mesh and placements for each result (`Partial` where devices have addends of it). Gradients lie
    as their tensors do, so that `grad_dist_attrs` needs not be looked at.

    Args:
        out_dist_attrs: a mesh and placements for each result.
        grad_dist_attrs: taken; it is not needed.

    Examples:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> class Total(dist.LocalLayer):
        ...     def forward(self, x):
        ...         return x.sum()
        >>> total = Total([(mesh, [dist.Partial()])])
        >>> float(total(dist.shard_tensor([1.0, 2.0], mesh, [dist.Shard(0)])))
        3.0
    """

    def __init__(
        self,
        out_dist_attrs: list[tuple[ProcessMesh, list[Placement]]],
        grad_dist_attrs: list[tuple[ProcessMesh, list[Placement]]] | None = None,
    ) -> None:
        super().__init__()
        self.out_dist_attrs = out_dist_attrs
        self.grad_dist_attrs = grad_dist_attrs

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        return _on_parts(type(self).__name__, super().__call__, inputs, kwargs, self.out_dist_attrs)


def local_map(
    func: Callable[..., Any], out_placements: list[Any], in_placements: list[Any] | None = None,
    process_mesh: ProcessMesh | None = None, reshard_inputs: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The function of distributed tensors that calls `func` on the parts of each device.

    `in_placements` says how inputs must lie; one that lies otherwise is laid out anew with `reshard_inputs`, and an error
    without it.

    Args:
        func: a function of tensors.
        out_placements: how each result lies (None: an ordinary tensor).
        in_placements: how each input must lie; None: in any way.
        process_mesh: the mesh; None: that of the inputs.
        reshard_inputs: whether inputs are laid out anew.

    Examples:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], ["dp"])
        >>> total = dist.local_map(lambda x: x.sum(), [[dist.Partial()]])
        >>> float(total(dist.shard_tensor([1.0, 2.0], mesh, [dist.Shard(0)])))
        3.0
    """

    def call(*inputs: Any, **kwargs: Any) -> Any:
        given = list(inputs)
        mesh = process_mesh
        for position, value in enumerate(given):
            if not isinstance(value, Tensor) or not value.is_dist():
                continue
            layout = found_layout(value)
            assert layout is not None
            mesh = mesh or layout.mesh
            wanted = in_placements[position] if in_placements is not None else None
            if wanted is not None and list(wanted) != list(layout.placements):
                if not reshard_inputs:
                    raise value_error(
                        "local_map", f"input {position} must lie as {list(wanted)}", f"{list(layout.placements)}",
                        "lay it out with reshard(), or pass reshard_inputs=True",
                    )  # fmt: skip
                given[position] = reshard(value, layout.mesh, wanted)
        if mesh is None and any(one is not None for one in out_placements):
            raise value_error("local_map", "no input is distributed, so process_mesh must be given", "None")
        attributes = [None if one is None else (mesh, one) for one in out_placements]
        return _on_parts("local_map", func, given, kwargs, attributes)

    return call
