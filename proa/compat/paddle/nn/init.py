"""`paddle.nn.init`: fills a tensor in place, under PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....nn import initializer as I


def _filled(tensor: Any, initializer: Any) -> Any:
    initializer(tensor)
    return tensor


def _calculate_fan_in_and_fan_out(var: Any) -> tuple[int, int]:
    """How many inputs feed one output, and how many outputs one input feeds."""
    return I.fans(list(var.shape))


def constant_(tensor: Any, val: float) -> Any:
    return _filled(tensor, I.Constant(val))


def zeros_(tensor: Any) -> Any:
    return _filled(tensor, I.Constant(0.0))


def ones_(tensor: Any) -> Any:
    return _filled(tensor, I.Constant(1.0))


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    return _filled(tensor, I.Uniform(a, b))


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    return _filled(tensor, I.Normal(mean, std))


def trunc_normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Any:
    return _filled(tensor, I.TruncatedNormal(mean, std, a, b))


def kaiming_uniform_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    return _filled(tensor, I.KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def kaiming_normal_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    return _filled(tensor, I.KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode))


def xavier_uniform_(tensor: Any, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Any:
    return _filled(tensor, I.XavierUniform(fan_in, fan_out, gain=gain))


def xavier_normal_(tensor: Any, gain: float = 1.0, fan_in: Any = None, fan_out: Any = None) -> Any:
    return _filled(tensor, I.XavierNormal(fan_in, fan_out, gain=gain))


def orthogonal_(tensor: Any, gain: float = 1) -> Any:
    return _filled(tensor, I.Orthogonal(gain))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    return _filled(tensor, I.Dirac(groups))


def eye_(tensor: Any) -> Any:
    """Ones on the diagonal of a matrix."""
    import numpy as np

    rows, columns = tensor.shape
    return _filled(tensor, I.Assign(np.eye(rows, columns)))
