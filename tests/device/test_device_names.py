"""Device handles, contexts, `paddle.cuda`, and what is said where there is no such device."""

from __future__ import annotations

import pickle

import pytest

import proa as paddle

_HAS_GPU = paddle.device.cuda.device_count() > 0


def test_a_device_is_a_string_with_parts() -> None:
    device = paddle.ones([1], device="cpu").device
    assert (device.type, device.index) == ("cpu", None)
    assert device == "cpu"
    second = paddle.device("cuda", 1)
    assert (second, second.type, second.index) == ("cuda:1", "cuda", 1)
    assert paddle.device(0) == "cuda:0"
    assert paddle.device("gpu") == "gpu:0"
    assert paddle.device(paddle.CPUPlace()) == "cpu"
    assert paddle.device.Device(paddle.CUDAPlace(3)) == "cuda:3"
    assert isinstance(pickle.loads(pickle.dumps(second)), paddle.device.Device)
    assert paddle.zeros([1], device=paddle.device("cpu")).place == paddle.CPUPlace()
    for wrong in ("no_such_device", "cuda:x", "npu:3"):
        with pytest.raises(ValueError, match="device"):
            paddle.device(wrong)
    with pytest.raises(ValueError, match="index"):
        paddle.device(None, 1)
    for nothing in (None, 1.5, True):
        with pytest.raises(TypeError, match="device"):
            paddle.device(nothing)


def test_contexts_come_back() -> None:
    before = paddle.get_device()
    for context in (paddle.device("cpu"), paddle.device.device("cpu"), paddle.device.device_guard("cpu"),
                    paddle.device_guard("cpu"), paddle.device.device(None)):  # fmt: skip
        with pytest.raises(KeyError), context:
            raise KeyError
        assert paddle.get_device() == before
    with paddle.device("cpu") as device:
        assert device == "cpu" == paddle.get_device() == paddle.get_default_device()
    with pytest.raises(ValueError, match="no_such_plugin"), paddle.device_guard("no_such_plugin:0"):
        pass
    assert paddle.get_device() == before


def test_default_device() -> None:
    before = paddle.get_device()
    try:
        assert paddle.set_default_device("cpu") is None
        assert paddle.get_default_device() == "cpu"
        assert isinstance(paddle.get_default_device(), paddle.device.Device)
        paddle.set_default_device(None)
        paddle.set_default_device(paddle.CPUPlace())
        assert paddle.device.get_device() == "cpu"
        assert paddle.get_device(paddle.ones([1])) == -1
    finally:
        paddle.set_device(before)


def test_modules_of_devices() -> None:
    assert paddle.get_device_module("cpu") is paddle.device.cpu
    assert paddle.get_device_module("gpu:0") is paddle.get_device_module("cuda") is paddle.cuda
    assert paddle.get_device_module("xpu") is paddle.device.xpu
    with pytest.raises(RuntimeError, match="custom"):
        paddle.get_device_module("custom")
    assert paddle.device.cpu.device_count() == 1


def test_places_that_are_not_there() -> None:
    with pytest.raises(ValueError, match="xpu"):
        paddle.XPUPlace(0)
    with pytest.raises(ValueError, match="ipu"):
        paddle.IPUPlace()
    with pytest.raises(RuntimeError, match="XPU"):
        paddle.XPUPinnedPlace()
    assert not paddle.is_compiled_with_ipu()
    assert paddle.device.XPUPlace is paddle.XPUPlace


@pytest.mark.skipif(_HAS_GPU, reason="this is about machines without a GPU")
def test_without_a_gpu() -> None:
    assert not paddle.cuda.is_available()
    assert not paddle.device.is_available()
    assert paddle.cuda.device_count() == 0
    assert not paddle.cuda.is_initialized()
    assert paddle.cuda.current_device() == 0
    assert paddle.get_cudnn_version() is None
    with pytest.raises(ValueError, match="gpu"):
        paddle.cuda.set_device(0)
    with pytest.raises(ValueError, match="memory"):
        paddle.cuda.mem_get_info()
    with pytest.raises(RuntimeError, match="CUDA"):
        paddle.cuda.cudart()


def test_status_codes() -> None:
    assert paddle.cuda.check_error(0) is None
    with pytest.raises(RuntimeError, match="status 2"):
        paddle.cuda.check_error(2)


def test_random_state_by_device() -> None:
    assert paddle.device.manual_seed(3) is None
    first = paddle.rand([4]).numpy()
    paddle.cuda.manual_seed_all(3)
    state = paddle.device.get_rng_state("cpu")
    assert (paddle.rand([4]).numpy() == first).all()
    paddle.cuda.set_rng_state(state)
    assert (paddle.rand([4]).numpy() == first).all()
    assert paddle.manual_seed(7).initial_seed() == 7
    with pytest.raises(TypeError, match="state"):
        paddle.device.set_rng_state([])


def test_streams_under_every_name() -> None:
    assert paddle.Stream is paddle.device.Stream is paddle.cuda.Stream
    assert paddle.Event is paddle.device.Event is paddle.cuda.Event
    stream = paddle.Stream()
    for context in (
        paddle.cuda.stream(stream),
        paddle.device.StreamContext(stream),
        paddle.device.stream_guard(stream),
    ):
        before = paddle.device.current_stream()
        with context:
            assert paddle.device.current_stream() is stream
        assert paddle.device.current_stream() is before
    with paddle.cuda.stream(None):
        assert paddle.device.current_stream() is not None
    start = paddle.Event(enable_timing=True)
    start.record()
    assert start.query()
    assert not paddle.device.is_current_stream_capturing()
    assert paddle.device.ipc_collect() is None
    assert isinstance(paddle.device.get_stream_from_external(0), paddle.Stream)
    with pytest.raises(TypeError, match="data_ptr"):
        paddle.device.get_stream_from_external("0")


def test_memory_by_other_names() -> None:
    paddle.device.reset_peak_memory_stats()
    assert "Memory of" in paddle.device.cuda.memory_summary()
    assert paddle.device.cuda.vmm_compact() == 0
    assert paddle.cuda.memory_allocated() >= 0
    assert paddle.device.is_bf16_supported()


@pytest.mark.parametrize("module", [paddle.device.xpu, paddle.device.custom_device])
def test_plug_ins_that_are_not_there(module: object) -> None:
    if module.device_count():
        pytest.skip("this machine has such a device")
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved",
                 "reset_max_memory_allocated", "reset_max_memory_reserved", "synchronize"):  # fmt: skip
        with pytest.raises(ValueError, match=rf"\({name}\) no plug-in"):
            getattr(module, name)()
    module.empty_cache()
    with pytest.raises(ValueError):
        paddle.device.xpu.set_debug_level(1)
    with pytest.raises(ValueError, match="custom"):
        paddle.device.custom_device.Event("npu")
