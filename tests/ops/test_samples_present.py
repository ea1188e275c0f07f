"""Every public function has at least three samples; what has none is listed here with its reason."""

from __future__ import annotations

import inspect

import pytest

import proa.onnx  # noqa: F401 - its functions are public once it is imported
from proa.eager.declare import PUBLIC
from proa.eager.samples import SampleSet
from tests.parity.settings import attached_samples

ENOUGH = 3

# Functions whose results no sample can describe: dotted name, or a whole module with a dot at its end.
WITHOUT = {
    "Generator": "makes a generator, not a tensor",
    "async_save": "writes a file; tests/framework",
    "autocast": "a switch; tests/amp",
    "autograd.": "takes a function or a graph; tests/autograd",
    "batch": "takes a reader and gives another; tests/ops/test_create_names.py",
    "check_shape": "checks its argument and gives nothing",
    "clear_async_save_task_queue": "waits for files; tests/framework",
    "compat.seed": "state of the generator; tests/ops/test_random.py",
    "create_parameter": "draws a parameter; tests/nn",
    "cuda.": "speaks about the machine; tests/device",
    "device.": "speaks about the machine; tests/device",
    "disable_": "a switch",
    "onnx.export": "writes a file; tests/onnx",
    "enable_": "a switch",
    "from_dlpack": "takes another framework's tensor",
    "get_autocast_": "speaks about the thread; tests/amp",
    "get_cudnn_version": "speaks about the machine; tests/device",
    "get_default_": "a setting",
    "get_device_module": "speaks about the machine; tests/device",
    "get_cuda_rng_state": "state of the generator; tests/ops/test_random.py",
    "get_device": "speaks about the machine; tests/device",
    "get_rng_state": "state of the generator; tests/ops/test_random.py",
    "grad": "takes a graph; tests/autograd",
    "utils.try_import": "imports a module; tests/utils",
    "in_dynamic_mode": "speaks about the thread",
    "incubate.autograd.": "takes a function; tests/autograd",
    "incubate.optimizer.functional.": "takes a function; tests/optimizer",
    "is_autocast_enabled": "speaks about the thread; tests/amp",
    "is_compiled_with_": "speaks about the machine; tests/device",
    "is_grad_enabled": "speaks about the thread; tests/autograd",
    "load": "reads a file; tests/framework",
    "memory_budget": "a setting; tests/framework",
    "manual_seed": "state of the generator; tests/ops/test_random.py",
    "random.initial_seed": "state of the generator; tests/ops/test_random.py",
    "save": "writes a file; tests/framework",
    "seed": "state of the generator; tests/ops/test_random.py",
    "set_cuda_rng_state": "state of the generator; tests/ops/test_random.py",
    "set_default_": "a setting",
    "set_printoptions": "a setting; tests/core/test_printing.py",
    "set_device": "speaks about the machine; tests/device",
    "set_rng_state": "state of the generator; tests/ops/test_random.py",
    "to_dlpack": "gives a capsule for another framework",
    "use_compat_guard": "a switch",
    "utils.require_version": "speaks about the version; tests/utils",
}


def is_exempt(name: str) -> bool:
    return name in WITHOUT or any(name.startswith(key) for key in WITHOUT if key.endswith((".", "_")))


def samples_of(name: str) -> int:
    """How many samples a function has; an in-place form counts those of the function it is made from."""
    for candidate in (name, name.removesuffix("_")):
        given = attached_samples(PUBLIC.get(candidate))
        if isinstance(given, SampleSet):
            return len(given.cases)
    return 0


FUNCTIONS = sorted(name for name, function in PUBLIC.items() if inspect.isfunction(function) and not is_exempt(name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_has_three_samples(name: str) -> None:
    """Edge shapes, dtypes and arguments other than the defaults need at least three calls."""
    assert samples_of(name) >= ENOUGH, f"{name} has {samples_of(name)} samples"


def test_exemptions_are_needed() -> None:
    """An exemption that names nothing any more is removed."""
    unused = [
        key
        for key in WITHOUT
        if not any(name == key or (key.endswith((".", "_")) and name.startswith(key)) for name in PUBLIC)
    ]
    assert not unused
