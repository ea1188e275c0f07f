"""PyTorch's `pad` as programs hold it: arguments at their default are left out."""

from __future__ import annotations

import numpy as np

import proa as paddle
from proa.convert.torch.operators.shape import pad, reflection_pad


def test_pad_without_a_mode_is_constant() -> None:
    x = np.arange(24, dtype="float32").reshape(1, 2, 3, 4) + 1
    wanted = [(0, 0), (0, 0), (2, 1), (1, 0)]
    np.testing.assert_array_equal(pad(paddle.to_tensor(x), [1, 0, 2, 1]).numpy(), np.pad(x, wanted))
    np.testing.assert_array_equal(
        reflection_pad(paddle.to_tensor(x), [1, 0, 2, 1]).numpy(), np.pad(x, wanted, mode="reflect")
    )
