"""`paddle.nn.utils`: weight and spectral norm, parameters as one vector, clipping of gradients."""

from __future__ import annotations

from .gradients import clip_grad_norm_, clip_grad_value_
from .reparameterize import remove_weight_norm, spectral_norm, weight_norm
from .vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "remove_weight_norm", "spectral_norm",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip
