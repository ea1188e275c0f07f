"""Devices: selection, errors in plain words, places, memory, streams."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import proa as paddle


def test_cpu_is_always_there() -> None:
    assert paddle.set_device("cpu") == paddle.CPUPlace()
    assert paddle.get_device() == "cpu"
    assert "cpu" in paddle.device.get_available_device()
    assert paddle.device.device_count("cpu") == 1


@pytest.mark.parametrize("device", ["gpu:7", "no_such_plugin:0"])
def test_a_missing_device_is_explained(device: str) -> None:
    if device.startswith("gpu") and paddle.device.cuda.device_count() > 7:
        pytest.skip("this machine has that many GPUs")
    with pytest.raises(ValueError, match=r"proa doctor|there is no"):
        paddle.set_device(device)
    assert (paddle.to_tensor([1.0]) + 1.0).item() == 2.0


@pytest.mark.parametrize("device", ["", "cpu:x", "1cpu", 3.5, None])
def test_nonsense_is_refused(device: object) -> None:
    with pytest.raises(ValueError, match="not a device"):
        paddle.set_device(device)


def test_places_compare_and_travel() -> None:
    assert paddle.CPUPlace() == paddle.to_tensor([1.0]).place
    assert paddle.CUDAPlace(1) != paddle.CUDAPlace(0)
    assert str(paddle.CUDAPlace(1)) == "Place(gpu:1)"
    assert str(paddle.CPUPlace()) == "Place(cpu)"
    assert paddle.CustomPlace("tpu", 2).get_device_id() == 2
    assert pickle.loads(pickle.dumps(paddle.CUDAPlace(1))) is paddle.CUDAPlace(1)
    assert copy.deepcopy(paddle.CPUPlace()) is paddle.CPUPlace()


def test_streams_and_events_wait() -> None:
    start, end = paddle.device.Event(), paddle.device.Event()
    start.record()
    x = paddle.to_tensor(np.ones((64, 64), "float32"))
    for _ in range(10):
        x = x * 1.5
    end.record()
    assert x._value is not None, "recording an event runs the work before it"
    assert start.elapsed_time(end) >= 0.0
    with paddle.device.stream_guard(paddle.device.Stream()):
        assert paddle.device.current_stream().query()


def test_unrecorded_events_have_no_time() -> None:
    with pytest.raises(RuntimeError, match="recorded"):
        paddle.device.Event().elapsed_time(paddle.device.Event())


def test_memory_statistics_are_numbers() -> None:
    assert paddle.device.memory_allocated() >= 0
    assert paddle.device.max_memory_allocated() >= 0
    paddle.device.empty_cache()


@pytest.mark.gpu
def test_gpu_computes_and_moves() -> None:
    paddle.set_device("gpu:0")
    try:
        x = paddle.to_tensor([1.0, 2.0])
        assert x.place == paddle.CUDAPlace(0)
        y = (x * 2.0).cpu()
        assert y.place == paddle.CPUPlace()
        assert y.tolist() == [2.0, 4.0]
    finally:
        paddle.set_device("cpu")
