"""An operation is one file: what is declared there is seen by everybody else, without its name anywhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.samples import SampleSet
from proa.eager.tensor import Tensor
from proa.graph.costs import operations_of
from proa.ir import operation as table
from proa.jit.bucketing import Buckets
from proa.static import InputSpec
from tests.ops import test_samples

FILE = '''
"""An operation of two tensors, element by element."""

from typing import Any

from proa.core.promotion import ARITHMETIC
from proa.eager.declare import op, public
from proa.eager.infer import broadcast
from proa.eager.samples import A, S, samples


@samples(S(A(2, 3), A(3)), S(A(0, 3), A(3)), S(A(), A()), reference=lambda x, y: x / (1 + y * y))
@public(method=True, inplace=True)
@op(
    "x y",
    infer=broadcast,
    promote=ARITHMETIC,
    amp="{amp}",
    flops=lambda call: 3 * call.outputs[0].size,
    family="bending",
    grad={{
        "x": lambda g, y: g / (y * y + 1.0),
        "y": lambda g, x, y: g * x * y * -2.0 / (y * y + 1.0) ** 2,
    }},
)
def bent(xp: Any, x: Any, y: Any) -> Any:
    """`x / (1 + y^2)`, element by element."""
    return x / (1 + y * y)
'''


def declared(folder: Path, amp: str) -> Any:
    path = folder / "bent.py"
    path.write_text(FILE.format(amp=amp))
    specification = importlib.util.spec_from_file_location("bent_operation", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.bent


def forget() -> None:
    table._OPERATIONS.pop("bent")
    for name in ("bent", "bent_"):
        PUBLIC.pop(name)
        delattr(Tensor, name)


@pytest.fixture
def bent(tmp_path: Path) -> Iterator[Any]:
    yield declared(tmp_path, "wide")
    forget()


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).uniform(-2, 2, shape).astype("float32")


def test_samples_run_through_the_generic_checks(bent: Any) -> None:
    samples: SampleSet = bent.samples
    assert len(samples.cases) == 3
    for case in samples.cases:
        test_samples.test_reference_and_modes(bent, case)
        test_samples.test_gradients(bent, case)
    x, y = paddle.to_tensor(numbers(2, 3)), paddle.to_tensor(numbers(3))
    expected = x.numpy() / (1 + y.numpy() ** 2)
    np.testing.assert_allclose(x.bent_(y).numpy(), expected, rtol=1e-6)  # type: ignore[attr-defined]
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)


def test_promotion_and_errors_are_those_of_arithmetic(bent: Any) -> None:
    wide = bent(paddle.to_tensor(numbers(2)), paddle.to_tensor(numbers(2).astype("float64")))
    assert wide.dtype == paddle.float64
    assert bent(paddle.ones([2], "float32"), paddle.to_tensor(2.0, "float64")).dtype == paddle.float32
    with pytest.raises(TypeError, match=r"\(bent\) int32 and float32 have no common data type"):
        bent(paddle.ones([2], "int32"), paddle.ones([2], "float32"))
    with pytest.raises(ValueError, match=r"\(bent\).*cannot be broadcast"):
        bent(paddle.ones([2]), paddle.ones([3]))


def test_derivatives_of_any_order_by_taylor_mode(bent: Any) -> None:
    """Both operands move: t -> bent(sin(x + t), (x + t)^2), beside nested gradients."""
    x = paddle.to_tensor(np.array([0.3, 0.7, 1.1]), stop_gradient=False)
    series = paddle.incubate.autograd.taylor(lambda x: bent(x.sin(), x * x), x, 4)
    value = bent(x.sin(), x * x)
    for order in range(1, 5):
        (value,) = paddle.grad([value.sum()], [x], create_graph=True)
        np.testing.assert_allclose(series[order].numpy(), value.numpy(), rtol=1e-9)


@pytest.mark.parametrize(("amp", "expected"), [("wide", paddle.float32), ("low", paddle.bfloat16), ("never", None)])
def test_mixed_precision_does_what_is_declared(tmp_path: Path, amp: str, expected: Any) -> None:
    bent = declared(tmp_path, amp)
    try:
        for dtype in ("float32", "bfloat16"):
            x = paddle.ones([2, 2], dtype)
            with paddle.amp.auto_cast(dtype="bfloat16", level="O1"):
                assert bent(x, x).dtype == (expected or x.dtype)
        with paddle.amp.auto_cast(dtype="bfloat16", level="O1", custom_black_list={"bent"}):
            x = paddle.ones([2, 2])
            assert bent(x, x).dtype == paddle.float32
    finally:
        forget()


def test_a_class_of_mixed_precision_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="amp must be 'low', 'wide' or 'never'; received 'half'"):
        declared(tmp_path, "half")
    assert "bent" not in table.all_operations()


def test_changing_sizes_share_programs(bent: Any) -> None:
    def mean_of_bent(x: Tensor) -> Tensor:
        return bent(x, x * 0.5).mean(axis=1)

    static = paddle.jit.to_static(mean_of_bent, input_spec=[InputSpec([None, None], "float32")], full_graph=True)
    for length in range(9, 30):
        x = numbers(2, length)
        found = static(paddle.to_tensor(x)).numpy()
        np.testing.assert_allclose(found, (x / (1 + (x / 2) ** 2)).mean(axis=1), rtol=1e-5, atol=1e-6)
    run = static.concrete_program.run
    assert isinstance(run, Buckets)
    assert run.plan.reasons == []
    assert run.num_programs <= 3


def test_counted_in_reports(bent: Any) -> None:
    static = paddle.jit.to_static(lambda x: bent(x, x), input_spec=[InputSpec([4, 5], "float32")], full_graph=True)
    program = static.concrete_program.graph.program
    (call,) = [i for i in program.instructions if i.operation.name == "bent"]
    assert operations_of(call) == 3 * 4 * 5
    assert call.operation.traits.family == "bending"


def test_static_programs_and_saved_files(bent: Any, tmp_path: Path) -> None:
    x, y = numbers(4, 3), numbers(3)
    expected = x / (1 + y**2)
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            fed = paddle.static.data("x", [None, 3], "float32")
            out = bent(fed, paddle.assign(y))
        (found,) = paddle.static.Executor().run(program, feed={"x": x}, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, expected, rtol=1e-6)

    class Bending(paddle.nn.Layer):
        def forward(self, x: Tensor) -> Tensor:
            return bent(x, paddle.to_tensor(y))

    path = str(tmp_path / "bending.proa")
    paddle.jit.save(Bending(), path, input_spec=[InputSpec([None, 3], "float32")])
    np.testing.assert_allclose(paddle.jit.load(path)(paddle.to_tensor(x)).numpy(), expected, rtol=1e-6)
