"""Older names of initializers."""

from .....nn.initializer import (
    Constant,
    KaimingNormal,
    KaimingUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
)

ConstantInitializer, NormalInitializer, UniformInitializer = Constant, Normal, Uniform
TruncatedNormalInitializer = TruncatedNormal


def XavierInitializer(
    uniform: bool = True, fan_in: object = None, fan_out: object = None, seed: int = 0, gain: float = 1.0
):
    """Xavier's, uniform or normal."""
    return (XavierUniform if uniform else XavierNormal)(fan_in, fan_out, gain=gain)  # type: ignore[arg-type]


def MSRAInitializer(
    uniform: bool = True, fan_in: object = None, seed: int = 0, negative_slope: float = 0.0, nonlinearity: str = "relu"
):
    """Kaiming's, uniform or normal."""
    return (KaimingUniform if uniform else KaimingNormal)(fan_in, negative_slope, nonlinearity)  # type: ignore[arg-type]
