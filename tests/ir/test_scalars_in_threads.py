"""One executable, several threads, different numbers: none gets another's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.ir.tiers import lowering


class _Spec:
    shape, dtype, name = [4], "float32", "x"


def test_a_thread_that_comes_while_another_moves_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = capture(lambda x: x * 2.5, [_Spec()])
    x = paddle.to_tensor(np.ones(4, np.float32))
    compiled, scalars, _, _ = graph.executable([x])
    assert len(scalars) == 1

    def run(factor: float) -> float:
        return float(np.asarray(compiled([x._data()], [factor])[0])[0])

    real = lowering.jax_module()
    meanwhile = [3.0]  # what the other thread comes with, once

    class Interrupted:
        @staticmethod
        def device_put(*arguments: Any) -> Any:
            if meanwhile:
                assert run(meanwhile.pop()) == 3.0
            return real.device_put(*arguments)

    monkeypatch.setattr(lowering, "jax_module", lambda: Interrupted)
    assert [run(2.0), run(2.0)] == [2.0, 2.0]  # the second time they are moved to the device, to stay there
    assert meanwhile == []
    assert [run(3.0), run(3.0), run(2.0)] == [3.0, 3.0, 2.0]
