"""Which array of a PyTorch model belongs to which parameter of a layer of ours.

First by name: the path of a layer with torch's name of the weight. What is left is matched by structure: layers in the
order in which they were made, each with the next group of arrays whose names and shapes fit it. Layers say what has to be
turned: a Linear's weight is [in, out] here and [out, in] there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...core.tracebacks import boundary
from ...eager.modes import no_grad
from ...eager.tensor import Tensor, tensor_from_data
from ...nn import Linear
from ...nn.layer import Layer
from .files import read_torch_weights

# Ours: theirs, for the weights whose names differ.
_NAMES = {"_mean": "running_mean", "_variance": "running_var"}
_IGNORED = ("num_batches_tracked",)


@dataclass
class WeightReport:
    """What a match has found: pairs of (ours, theirs), and what is left on either side.

    Examples:
        >>> print(paddle.convert.WeightReport(matched=[("weight", "fc.weight")], missing=["bias"]))
        1 matched; 1 without a weight: bias
    """

    matched: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # parameters that got nothing
    unused: list[str] = field(default_factory=list)  # arrays that nothing took
    wrong_shapes: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether everything on both sides has found its place.

        Examples:
            >>> paddle.convert.WeightReport(missing=["bias"]).is_complete
            False
        """
        return not (self.missing or self.unused or self.wrong_shapes)

    def __str__(self) -> str:
        lines = [f"{len(self.matched)} matched"]
        for what, names in (
            ("without a weight", self.missing),
            ("not used", self.unused),
            ("of another shape", self.wrong_shapes),
        ):
            if names:
                lines.append(f"{len(names)} {what}: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}")
        return "; ".join(lines)


@dataclass
class _Group:
    """The weights of one layer: its own tensors by torch's names, and how arrays are turned for them."""

    path: str
    tensors: dict[str, Tensor]
    names: dict[str, str]  # torch's local name: our full name
    turns: dict[str, Callable[[np.ndarray], np.ndarray]]

    def fits(self, arrays: Mapping[str, np.ndarray]) -> bool:
        return set(arrays) == set(self.tensors) and all(
            self.turned(name, array).shape == tuple(self.tensors[name]._aval.shape) for name, array in arrays.items()
        )

    def turned(self, name: str, array: np.ndarray) -> np.ndarray:
        turn = self.turns.get(name)
        return array if turn is None else turn(array)


@boundary
def load_torch_weights(layer: Layer, source: Any, *, strict: bool = True) -> WeightReport:
    """Gives a layer the weights of a PyTorch model: a file, or a state dictionary of arrays or tensors.

    With `strict`, a parameter without a weight, a weight that nothing takes, or another shape is an error, and the layer
    stays as it was. Without, what fits is taken and the report says what did not.

    Args:
        layer: a Layer, which is changed.
        source: where the weights are.
        strict: whether everything must fit.

    Returns:
        A `WeightReport`.

    Examples:
        >>> layer = paddle.nn.Linear(2, 3)
        >>> weights = {"weight": np.ones((3, 2), "float32"), "bias": np.zeros(3, "float32")}
        >>> print(paddle.convert.load_torch_weights(layer, weights))
        2 matched
        >>> layer.weight.shape  # PyTorch's is turned
        paddle.Size([2, 3])
    """
    if not isinstance(layer, Layer):
        raise type_error("load_torch_weights", "a Layer is needed", type(layer).__name__)
    arrays = read_torch_weights(source) if isinstance(source, (str, os.PathLike)) else _arrays(source)
    found, report = match_weights(layer, arrays)
    if strict and not report.is_complete:
        raise value_error(
            "load_torch_weights", f"the model and the weights are not the same: {report}", "",
            "give strict=False to take what fits",
        )  # fmt: skip
    with no_grad():
        for tensor, array in found:
            tensor.set_value(tensor_from_data(array).astype(tensor.dtype))
    return report


def _arrays(source: Any) -> dict[str, np.ndarray]:
    if not isinstance(source, Mapping):
        raise type_error("load_torch_weights", "a file or a dictionary is needed", type(source).__name__)
    found = {}
    for name, value in source.items():
        if hasattr(value, "detach"):
            from ..torch.reading import array_of

            value = array_of(value) if not isinstance(value, Tensor) else value.numpy()
        found[str(name)] = np.asarray(value)
    return found


def match_weights(
    layer: Layer, arrays: Mapping[str, np.ndarray]
) -> tuple[list[tuple[Tensor, np.ndarray]], WeightReport]:
    """Pairs of (tensor, array that is ready for it), and the report."""
    left = {name: array for name, array in _separated(layer, arrays).items() if not name.endswith(_IGNORED)}
    report = WeightReport()
    pairs: list[tuple[Tensor, np.ndarray]] = []
    waiting: list[_Group] = []
    for group in _groups(layer):
        own = {local: left[f"{group.path}{local}"] for local in group.tensors if f"{group.path}{local}" in left}
        if not own:
            waiting.append(group)
            continue
        _take(group, own, {local: f"{group.path}{local}" for local in own}, left, pairs, report)
    _by_structure(waiting, left, pairs, report)
    report.unused = list(left)
    return pairs, report


def _take(
    group: _Group, own: Mapping[str, np.ndarray], theirs: Mapping[str, str], left: dict[str, np.ndarray],
    pairs: list[tuple[Tensor, np.ndarray]], report: WeightReport,
) -> None:  # fmt: skip
    for local, tensor in group.tensors.items():
        name = group.names[local]
        if local not in own:
            report.missing.append(name)
            continue
        array = group.turned(local, own[local])
        left.pop(theirs[local])
        if array.shape != tuple(tensor._aval.shape):
            report.wrong_shapes.append(f"{name} {list(tensor._aval.shape)}, {theirs[local]} {list(array.shape)}")
            continue
        report.matched.append((name, theirs[local]))
        pairs.append((tensor, array))


def _by_structure(
    waiting: list[_Group], left: dict[str, np.ndarray], pairs: list[tuple[Tensor, np.ndarray]], report: WeightReport
) -> None:
    """Layers in order, each with the next group of arrays that fits it."""
    theirs: dict[str, dict[str, str]] = {}
    for name in left:
        path, _, local = name.rpartition(".")
        theirs.setdefault(path, {})[local] = name
    order, place = list(theirs), 0
    for group in waiting:
        for position in range(place, len(order)):
            names = theirs[order[position]]
            own = {local: left[name] for local, name in names.items() if name in left}
            if own and group.fits(own):
                _take(group, own, names, left, pairs, report)
                place = position + 1
                break
        else:
            report.missing += list(group.names.values())


def _groups(layer: Layer) -> list[_Group]:
    """The weights of every layer that has some of its own; a tensor that two layers share counts once."""
    found, seen = [], set()
    for path, part in layer.named_sublayers(include_self=True):
        prefix = f"{path}." if path else ""
        tensors, names, turns = {}, {}, {}
        for local, tensor in (*part._parameters.items(), *part._buffers.items()):
            if tensor is None or id(tensor) in seen or local in part._non_persistable_buffer_names_set:
                continue
            seen.add(id(tensor))
            other = _NAMES.get(local, local)
            tensors[other], names[other] = tensor, prefix + local
            if isinstance(part, Linear) and local == "weight":
                turns[other] = np.transpose
        if tensors:
            found.append(_Group(prefix, tensors, names, turns))
    return found


def _separated(layer: Layer, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """torch keeps the three projections of an attention in one array; ours has a layer for each."""
    names = {path for path, _ in layer.named_sublayers()}
    found: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        path, _, local = name.rpartition(".")
        if (
            local in ("in_proj_weight", "in_proj_bias")
            and f"{path}.q_proj".removeprefix(".") in names
            and len(array) % 3 == 0
        ):
            kind = local.removeprefix("in_proj_")
            for part, piece in zip(("q_proj", "k_proj", "v_proj"), np.split(array, 3), strict=True):
                found[f"{path}.{part}.{kind}".removeprefix(".")] = piece
        else:
            found[name] = array
    return found


__all__ = ["WeightReport", "load_torch_weights", "match_weights"]
