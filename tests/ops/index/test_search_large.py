"""Sorting, searching and scanning of many elements: run at once with NumPy, between compiled segments."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa.ops.index import ordering

t = paddle.to_tensor
SIZE = ordering.MANY_TO_SORT + 7


def expected_order(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    special = random.standard_normal(5000).astype(np.float32)
    for step, value in ((7, np.nan), (11, -np.nan), (13, np.inf), (3, -0.0), (5, 0.0)):
        special[1::step] = value
    wide = random.integers(-(2**63), 2**63 - 1, 5000)
    repeated = wide.copy()
    repeated[::2] = repeated[1]
    return {
        "float32": random.standard_normal(5000, dtype=np.float32),
        "float64": random.standard_normal(5000).round(1),
        "special": special,
        "special64": special.astype(np.float64),
        "int32": random.integers(-50, 50, 5000).astype(np.int32),
        "uint8": random.integers(0, 200, 5000).astype(np.uint8),
        "int64": random.integers(-99, 99, 5000),
        "wide": wide,
        "repeated": repeated,
        "nearly equal": (random.integers(0, 2**60, 5000) >> 20 << 20) + random.integers(0, 4, 5000),
        "few different": random.integers(0, 3, 5000) * 2**61,
    }


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", arrays())
def test_stable_order(kind: str, descending: bool) -> None:
    x = arrays()[kind]
    for shape, axis in (((5000,), 0), ((50, 100), 1), ((50, 100), 0)):
        x = x.reshape(shape)
        np.testing.assert_array_equal(ordering.stable_order(x, axis, descending), expected_order(x, axis, descending))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", ["special", "int32", "wide", "uint8"])
def test_compiled_order_is_the_same(kind: str, descending: bool) -> None:
    """Small enough to be compiled, from the third time on."""
    x = arrays()[kind][:200]
    for _ in range(4):
        order = (t(x) * 1 if x.dtype != np.uint8 else t(x)).argsort(descending=descending).numpy()
        np.testing.assert_array_equal(order, expected_order(x, 0, descending))
        values = paddle.sort(t(x), descending=descending).numpy()
        np.testing.assert_array_equal(values, x[expected_order(x, 0, descending)])


def test_large_operations_in_a_hot_loop() -> None:
    x = np.random.default_rng(0).standard_normal(SIZE).astype(np.float32)
    for scale in range(1, 6):
        tensor = t(x, stop_gradient=False)
        result = (paddle.sort(tensor * float(scale), descending=True) * 2).sum()
        result.backward()
        assert result.item() == pytest.approx(2 * scale * x.sum(dtype=np.float64), rel=1e-4, abs=1.0)
        np.testing.assert_allclose(tensor.grad.numpy(), np.full(SIZE, 2.0 * scale), rtol=1e-6)


def test_large_sorts_are_not_compiled() -> None:
    x = t(np.random.default_rng(1).integers(0, 2**40, SIZE))
    programs = _compiled_operations()
    for _ in range(5):
        paddle.sort(x).numpy()
        paddle.argsort(x).numpy()
    assert _compiled_operations() == programs


def _compiled_operations() -> set[str]:
    from proa.ir.tiers.kept import PROGRAMS

    return {
        f"{instruction.operation.name} {instruction.outputs[0]}"
        for record in PROGRAMS.values()
        for instruction in record.program.instructions
    }


def test_gradient_of_a_large_sort() -> None:
    values = np.random.default_rng(3).permutation(SIZE).astype(np.float64)
    x = t(values, stop_gradient=False)
    weights = np.arange(SIZE, dtype=np.float64)
    (paddle.sort(x) * t(weights)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), values)


def test_unique_of_many() -> None:
    x = np.random.default_rng(4).integers(0, 500, SIZE)
    expected = np.unique(x, True, True, True)
    for found, wanted in zip(paddle.unique(t(x), True, True, True), expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_scans_and_searches_in_two_threads(dtype: str) -> None:
    random = np.random.default_rng(5)
    size = ordering.MANY_TO_SCAN + 3
    x = random.integers(0, 4, size).astype(dtype)
    np.testing.assert_array_equal(paddle.cumsum(t(x)).numpy(), np.cumsum(x, dtype=dtype))
    np.testing.assert_array_equal(paddle.nonzero(t(x)).numpy(), np.argwhere(x))
    matrix = x[: size - size % 2].reshape(2, -1)
    np.testing.assert_array_equal(paddle.nonzero(t(matrix)).numpy(), np.argwhere(matrix))
    sequence, wanted = (
        np.sort(random.integers(0, 2**20, size)).astype(dtype),
        random.integers(0, 2**20, size).astype(dtype),
    )
    for side in ("left", "right"):
        found = paddle.searchsorted(t(sequence), t(wanted), side=side).numpy()
        np.testing.assert_array_equal(found, np.searchsorted(sequence, wanted, side))


def test_an_error_in_the_other_thread_arrives() -> None:
    def work(part: slice) -> None:
        if part.start:
            raise ValueError("second half")

    with pytest.raises(ValueError, match="second half"):
        ordering.in_halves(work, ordering.MANY_TO_SCAN)


def test_results_lie_where_xla_reads_them() -> None:
    made = ordering.room((3, 5), np.int64)
    assert made.shape == (3, 5)
    assert made.ctypes.data % 64 == 0
    assert made.flags.c_contiguous
    assert ordering.room((0, 5), np.float32).size == 0


@pytest.mark.parametrize("name", ["sort", "argsort", "topk", "kthvalue", "mode", "searchsorted", "cumsum"])
def test_many_elements_prefer_the_host(name: str) -> None:
    """Declared at the operation, and asked of it by the recorder: on a CPU, from many elements on."""
    from proa.core.aval import make_aval
    from proa.core.place import CPU, make_place
    from proa.ir.operation import find_operation

    operation = find_operation(name)
    many, few = (make_aval((size,), np.dtype("float32"), CPU) for size in (ordering.MANY_TO_SCAN, 100))
    assert operation.prefers_host((few, many), CPU)
    assert not operation.prefers_host((few, few), CPU)
    assert not operation.prefers_host((few, many), make_place("gpu", 0))
