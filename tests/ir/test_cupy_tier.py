"""Tier 0 on CuPy: what it does at its borders and with what CuPy cannot do, on a stand-in for CuPy without a GPU.

Whether CuPy computes the same as NumPy is seen on a GPU (tests/kernels/gpu/test_on_cupy.py).
"""

from __future__ import annotations

import ctypes
import gc
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
import pytest

import proa as paddle
from proa.core.place import CPU
from proa.ir.recorder import LOCAL, flush_current
from proa.ir.recording import running
from proa.ir.tiers import cupy_device, cupy_tier
from proa.ir.tiers.cupy_namespace import CupyNamespace
from proa.ir.tiers.interpreter import Problem
from proa.ir.tiers.lent import Lent, bring_out
from proa.ir.transforms import donation
from proa.ir.watch import watch_results
from proa.kernels.gpu.cold import arithmetic

from .staying import stay


class PooledMemory:
    """Memory of the stand-in's own; anything else came from elsewhere."""


class FakeArray(np.ndarray):
    """An array that NumPy does not get without being asked, like CuPy's."""

    mem: Any = None

    def __array_finalize__(self, parent: Any) -> None:
        self.mem = getattr(parent, "mem", None) if self.base is not None else PooledMemory()

    @property
    def data(self) -> Any:  # type: ignore[override]
        return types.SimpleNamespace(mem=self.mem)

    def get(self) -> np.ndarray:
        return np.array(self.view(np.ndarray))

    def copy(self, order: Any = "C") -> FakeArray:
        return owned(self)


def owned(array: Any, dtype: Any = None) -> FakeArray:
    made = np.ndarray.__new__(FakeArray, np.shape(array), dtype or np.asarray(array).dtype)
    made[...] = np.asarray(array)
    made.mem = PooledMemory()
    return made


def at_address(address: int, size: int, _owner: Any) -> Any:
    return (ctypes.c_char * size).from_address(address)


class Event:
    waited = 0

    def __init__(self) -> None:
        self.done = False

    def synchronize(self) -> None:
        Event.waited += 1
        self.done = True


class OutOfMemoryError(Exception):
    pass


def make_fake() -> Any:
    def asarray(value: Any, dtype: Any = None) -> Any:
        return value if isinstance(value, FakeArray) and dtype in (None, value.dtype) else owned(value, dtype)

    def from_dlpack(value: Any) -> Any:
        view = np.asarray(value).view(FakeArray)
        view.mem = object()
        return view

    @contextmanager
    def nothing(*_arguments: Any) -> Iterator[None]:
        yield

    fake = types.ModuleType("cupy")
    for name in ("add", "multiply", "exp", "sum", "where", "clip", "maximum", "matmul", "reshape", "take", "full"):
        setattr(fake, name, getattr(np, name))
    fake.ndarray, fake.asarray, fake.from_dlpack = FakeArray, asarray, from_dlpack
    fake.empty = lambda shape, dtype: owned(np.empty(shape, dtype))
    fake.asnumpy = lambda value: value.get()
    fake.cuda = types.SimpleNamespace(
        using_allocator=nothing, memory=types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
    )
    return fake


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = object.__new__(cupy_tier.CupyDevice)
    made.cupy, made.place, made.array_type, made.borrowed, made.seen = make_fake(), CPU, FakeArray, [], {}
    made.xp, made.full = CupyNamespace(made.cupy), OutOfMemoryError
    made.unseen, made.waits = True, []

    def lend(value: Any, stream: Any) -> Any:
        made.waits.append(stream is not None)
        return jax.dlpack.from_dlpack(value)

    made.lend = lend
    made.unowned, made.pointer = at_address, (lambda memory, _offset: memory)
    freed: list[int] = []

    class Entered:
        def __enter__(self) -> None:
            pass

        def __exit__(self, *_problem: Any) -> None:
            pass

        def record(self) -> Event:
            return Event()

    made.device = made.stream = Entered()
    made.pool = types.SimpleNamespace(
        malloc=lambda size: None, free_all_blocks=lambda: freed.append(1), get_limit=lambda: 1 << 30
    )
    made.freed = freed
    monkeypatch.setattr(cupy_tier, "_device", lambda place: made)
    monkeypatch.setattr(arithmetic, "_places", lambda large, small: None)  # its kernels are CUDA's
    monkeypatch.setattr(jax.dlpack, "from_dlpack", lambda array: jax.numpy.asarray(array.get()))
    monkeypatch.setattr(cupy_tier, "REFUSED", {})
    monkeypatch.setattr(cupy_tier, "_REFUSING", set())
    monkeypatch.setattr(Event, "waited", 0)
    yield made
    cupy_tier.READING.clear()


def run(function: Any, *arrays: Any, watch: Any = None) -> Any:
    """The value of a function's result, by this tier."""
    flush_current()
    results = function(*[paddle.to_tensor(array) for array in arrays])
    results = results if isinstance(results, tuple) else (results,)
    segment = LOCAL.segment
    program = segment.node.program(tuple(result._index for result in results))
    inputs = [jax.numpy.asarray(value) for value in segment.inputs]
    values = cupy_tier.run_on_cupy(program, inputs, list(segment.scalars), CPU, watch)
    found = [values[result._index] for result in results]
    flush_current()
    return found[0] if len(found) == 1 else found


ROW = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_results_are_jax_arrays_of_the_right_values(device: Any) -> None:
    found = run(lambda x: (x * 2.0 + x).exp().sum(axis=1), ROW)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(np.asarray(found), np.exp(ROW * 3).sum(1), rtol=1e-6)


def test_a_result_that_shows_an_input_is_a_copy(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(jax.dlpack, "from_dlpack", lambda array: shown.append(array) or jax.numpy.asarray(array.get()))
    run(lambda x: x.reshape([3, 2]), ROW)
    assert isinstance(shown[0].data.mem, PooledMemory)
    assert shown[0].base is None


def test_two_results_never_share_memory(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(jax.dlpack, "from_dlpack", lambda array: shown.append(array) or jax.numpy.asarray(array.get()))

    def both(x: Any) -> Any:
        y = x + 1.0
        return y, y.reshape([6])

    first, second = run(both, ROW)
    assert not np.shares_memory(shown[0], shown[1])
    np.testing.assert_array_equal(np.asarray(first).reshape(-1), np.asarray(second))


def test_what_cupy_refuses_goes_through_xla_and_is_remembered(device: Any) -> None:
    calls: list[int] = []

    def refuse(*_arguments: Any) -> Any:
        calls.append(1)
        raise NotImplementedError("not here")

    device.cupy.exp = refuse
    for _ in range(2):
        found = run(lambda x: (x + 1.0).exp() + 1.0, ROW)
        np.testing.assert_allclose(np.asarray(found), np.exp(ROW + 1) + 1, rtol=1e-6)
    assert len(calls) == 1
    ((operation, _), why), *_ = cupy_tier.REFUSED.items()
    assert operation.name == "exp"
    assert "not here" in why
    run(lambda x: x.exp(), ROW.astype(np.float64))  # another type may well be possible
    assert len(calls) == 2


def test_a_full_pool_is_emptied_and_forgotten(device: Any) -> None:
    def full(*_arguments: Any) -> Any:
        raise OutOfMemoryError

    device.cupy.exp = full
    found = run(lambda x: x.exp(), ROW)
    np.testing.assert_allclose(np.asarray(found), np.exp(ROW), rtol=1e-6)
    assert device.freed
    assert not cupy_tier.REFUSED


def test_an_error_that_is_the_users_comes_from_xla(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_arguments: Any) -> Any:
        raise TypeError("what CuPy says")

    def refused(*_arguments: Any) -> Any:
        raise ValueError("what XLA says")

    device.cupy.exp = wrong
    monkeypatch.setattr(cupy_tier, "call_jitted", refused)
    with pytest.raises(Problem, match="what XLA says"):
        run(lambda x: x.exp() * 1.5, ROW)
    assert not cupy_tier.REFUSED


def test_inputs_are_held_until_they_are_read(device: Any) -> None:
    run(lambda x: x + 1.0, ROW)
    ((event, held),) = cupy_tier.READING
    assert len(held) == 1
    assert not event.done
    cupy_tier.settle()
    assert not cupy_tier.READING
    assert Event.waited == 1


def test_no_more_runs_are_held_than_some(device: Any) -> None:
    for _ in range(200):
        run(lambda x: x + 1.0, ROW)
    assert len(cupy_tier.READING) <= cupy_tier._MOST_READING + 1
    assert Event.waited >= 100


def test_memory_of_cupys_is_not_written_over(device: Any) -> None:
    """XLA would give it back to CuPy while the result of the program lies in it."""
    inputs = [run(lambda x: x + 1.0, ROW)]
    assert id(inputs[0]) in cupy_device.LENT
    pointer = inputs[0].unsafe_buffer_pointer()
    cupy_tier.settle()
    compiled = types.SimpleNamespace(donated=(0,), copies=0)
    protected = donation.protect(inputs, compiled)
    assert protected[0].unsafe_buffer_pointer() != pointer
    assert compiled.copies == 1
    np.testing.assert_array_equal(np.asarray(protected[0]), ROW + 1)
    assert id(protected[0]) not in cupy_device.LENT
    inputs.clear(), protected.clear()
    gc.collect()
    assert not cupy_device.LENT


def test_a_bad_index_is_named(device: Any) -> None:
    weight = np.ones((4, 2), np.float32)

    def rows(x: Any, table: Any) -> Any:
        return paddle.nn.functional.embedding(x + 1, table)

    with pytest.raises(Problem, match="out of range; allowed: 0 to 3"):
        run(rows, np.array([1, 7]), weight, watch=watch_results(False, device.xp))


def test_results_that_stay_become_jaxs_when_somebody_wants_them(device: Any) -> None:
    flush_current()
    x = paddle.to_tensor(ROW)
    y, z = x + 1.0, x * 2.0
    segment = LOCAL.segment
    program = segment.node.program((y._index, z._index))
    values = cupy_tier.run_on_cupy(program, [jax.numpy.asarray(ROW)], list(segment.scalars), CPU, stays=True)
    first, second = values[y._index], values[z._index]
    assert first.__class__ is second.__class__ is Lent
    assert not device.waits
    assert device.entered(first) is first.own  # the next run takes it as it is
    made = first.get()
    assert isinstance(made, jax.Array)
    assert id(first.get()) == id(made)
    pair = [first, second]
    bring_out(pair)
    np.testing.assert_array_equal(np.asarray(pair[0]), ROW + 1)
    np.testing.assert_array_equal(np.asarray(pair[1]), ROW * 2)
    assert device.waits == [True, False]  # XLA waits for CuPy once
    assert device.entered(made) is first.own
    device.borrowed.clear()
    assert len(cupy_device.LENT) == 2  # they are wanted again
    del made, pair, first, second
    pair = [values.pop(z._index)]
    values.clear()
    bring_out(pair)
    pair[0] = None  # what nobody else had, a program may write over
    gc.collect()
    assert not cupy_device.LENT
    flush_current()


def test_tensors_whose_values_stay_behave_as_others(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading, copying, pending work, compiled programs, other threads: nobody sees where a value lies."""
    monkeypatch.setattr(running, "_run_tier0", stay(running._run_tier0))  # which takes such values, as it does on a GPU

    def staying(array: np.ndarray) -> Any:
        tensor = paddle.to_tensor(array)
        tensor._value = Lent(device, device.cupy.asarray(array))
        return tensor

    x = staying(ROW + 1)
    y = x.clone()
    assert y.tolist() == (ROW + 1).tolist()
    assert float(staying(ROW).sum()) == float(ROW.sum())
    found: list[Any] = []
    z = staying(ROW) * 3.0
    thread = threading.Thread(target=lambda: found.append(z.numpy()))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], ROW * 3)
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 1})
    try:
        w = staying(ROW * 0.25)
        np.testing.assert_array_equal((w + x - w * 3.0).numpy(), ROW * 0.5 + 1)
    finally:
        paddle.set_flags(before)
    x = staying(ROW)
    x += 1.0
    np.testing.assert_array_equal(x.numpy(), ROW + 1)
    rows = paddle.nn.functional.embedding(staying(np.array([0, 1])), paddle.ones([2, 3]))
    assert rows.tolist() == [[1.0] * 3] * 2


def test_zero_elements_need_no_memory(device: Any) -> None:
    found = run(lambda x: x * 2.0, np.ones((0, 3), np.float32))
    assert found.shape == (0, 3)


def test_without_cupy_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_tier.importlib.util, "find_spec", lambda name: None)
    assert cupy_tier.why_not() == "CuPy is not installed"
    assert not cupy_tier.serves(CPU)


@pytest.mark.parametrize(("share", "most"), [("", 0.21), ("0.9", 0.06), ("0.3", 0.66), ("rubbish", 0.21)])
def test_the_pool_is_what_xla_leaves(share: str, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", share)
    assert cupy_device._pool_size(100 << 30) == pytest.approx(most * (100 << 30), rel=1e-6)


def test_arrays_are_filled_up_and_cut_without_a_compiler(device: Any) -> None:
    device.cupy.zeros = lambda shape, dtype: owned(np.zeros(shape, dtype))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    longer = cupy_tier.filled(jax.numpy.asarray(x), (2, 3), (4, 5), (4, 5), CPU)
    np.testing.assert_array_equal(longer, np.pad(x, ((0, 2), (0, 2))))
    np.testing.assert_array_equal(cupy_tier.cut(longer, (slice(0, 2), slice(0, 3)), CPU), x)
    flat = cupy_tier.filled(jax.numpy.asarray(x.reshape(-1)), (2, 3), (2, 5), (10,), CPU)
    np.testing.assert_array_equal(flat, np.pad(x, ((0, 0), (0, 2))).reshape(-1))
    assert len(cupy_tier.READING) == 3  # what was read is held


def test_parameters_are_found_again_while_they_live(device: Any) -> None:
    value = jax.numpy.arange(6.0)
    value.block_until_ready()
    first = device.entered(value)
    assert device.entered(value) is first
    np.testing.assert_array_equal(first.get(), np.arange(6.0))
    device.borrowed.clear()
    del value
    gc.collect()
    assert not device.seen


def test_arrays_of_the_host_go_by_way_of_cupy(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupy_tier, "serves", lambda place: True)
    data = np.arange(6, dtype="float32").reshape(2, 3)
    made = cupy_tier.from_host(data, CPU)
    data[:] = 0
    np.testing.assert_array_equal(np.asarray(made), [[0, 1, 2], [3, 4, 5]])
    assert cupy_tier.from_host(np.empty((0, 3), "float32"), CPU) is None
    assert cupy_tier.from_host(np.zeros(3, jax.numpy.bfloat16), CPU) is None

    def full(*_arguments: Any) -> Any:
        raise OutOfMemoryError

    device.cupy.asarray = full
    assert cupy_tier.from_host(data, CPU) is None
    assert device.freed
