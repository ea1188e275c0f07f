"""Native kernels called on NumPy arrays, without XLA."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from proa.core import flags
from proa.core.dtype import BFLOAT16
from proa.kernels.cpu import direct, library, rows
from proa.ops.neural import normalization
from proa.ops.neural.windowed import convolution_kernels, pooling_kernels
from tests.kernels.cases import light_cases
from tests.kernels.cases import references as r

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The handlers called."""
    seen: list[str] = []
    original = direct.call

    def watched(symbol: str, *rest: Any) -> Any:
        seen.append(symbol)
        return original(symbol, *rest)

    monkeypatch.setattr(direct, "call", watched)
    return seen


def host(primitive: Any) -> Any:
    return primitive.operation.kernels["numpy"]


@pytest.mark.parametrize("seed", range(12))
def test_convolutions(seed: int) -> None:
    ops = convolution_kernels
    generator = np.random.default_rng(seed)
    (x, weight, bias), window = r.convolution_case(generator)
    wide = [a.astype(np.float64) for a in (x, weight, bias)]
    y = ops._numpy_conv(np, *wide, *window)
    dy = r.draw(generator, *y.shape)
    grads = dy.astype(np.float64)
    assert r.error_of(host(ops.conv)(np, x, weight, bias, *window), y) < 1e-5
    dx = host(ops.conv_grad_input)(np, dy, weight, x.shape, *window)
    assert r.error_of(dx, ops._numpy_grad_input(np, grads, wide[1], x.shape, *window)) < 1e-5
    dw = host(ops.conv_grad_weight)(np, x, dy, weight.shape, *window)
    assert r.error_of(dw, ops._numpy_grad_weight(np, wide[0], grads, weight.shape, *window)) < 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_norms(seed: int) -> None:
    ops = normalization
    arrays, attributes = r.norm_case(np.random.default_rng(seed))
    x, grad, weight, bias = arrays
    epsilon = 1e-3
    found = (
        host(ops.normalise)(np, x, weight, bias, epsilon, *attributes),
        host(ops.normalise_grad_input)(np, x, grad, weight, epsilon, *attributes),
        host(ops.normalise_grad_weight)(np, x, grad, epsilon, *attributes),
    )
    for one, expected in zip(found, r.norm_references(arrays, 1e-3, attributes), strict=True):
        assert r.error_of(np.asarray(one), expected) < 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_pooling_and_rows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(seed)
    (x, y), window = r.pool_case(generator)
    primitive: Any = pooling_kernels.max_pool_grad
    expected = primitive.operation.kernel(np, x, y.astype(np.float64), *window)
    assert r.error_of(host(primitive)(np, x, y, *window), expected) < 1e-6
    monkeypatch.setattr(light_cases, "_cpu", host)
    arrays, run, references = light_cases.rows_case(generator)
    for one, reference in zip(run(np, *arrays), references, strict=True):
        assert r.error_of(one, reference) < 1e-5


def test_it_is_native_code_that_runs_and_only_where_it_pays(calls: list[str]) -> None:
    kernel = direct.on_host(rows.native_softmax, lambda xp, x, axis: "plain")
    x = np.ones((64, 80), np.float32)
    np.testing.assert_allclose(kernel(np, x.T.copy().T, -1), 1 / 80, rtol=1e-6)  # not contiguous: copied
    assert calls == ["Softmax"]
    assert kernel(np, x[:2], -1) == "plain"
    assert kernel(np, x.astype(np.float64), -1) == "plain"
    with r.native(False):
        assert kernel(np, x, -1) == "plain"
    assert calls == ["Softmax"]


def test_the_sums_of_a_batch_norm_are_found_once(calls: list[str]) -> None:
    ops, generator = normalization, np.random.default_rng(0)
    x, y = (generator.standard_normal((4, 8, 16, 16)).astype(np.float32) for _ in range(2))
    mean, variance, momentum = np.zeros(8, np.float32), np.ones(8, np.float32), np.float32(0.9)
    form = (1e-5, x.shape, (0, 2, 3), (8, 1, 1), True)

    def step(x: Any, y: Any) -> list[Any]:
        return [
            host(ops.normalise)(np, x, None, None, *form),
            *host(ops.running_statistics)(np, x, mean, variance, momentum, (0, 2, 3)),
            host(ops.normalise_grad_input)(np, x, y, None, *form),
            host(ops.normalise_grad_weight)(np, x, y, *form),
            host(ops.normalise_grad_bias)(np, x, y, (0, 2, 3)),
        ]

    first = step(x, y)
    assert calls == ["ChannelMoments", "ChannelGradSums"]
    for one, other in zip(first, step(x.copy(), y.copy()), strict=True):  # equal, but other arrays
        np.testing.assert_array_equal(one, other)
    assert calls == 2 * ["ChannelMoments", "ChannelGradSums"]
    found = step(x, 2 * y)
    assert calls == 3 * ["ChannelMoments", "ChannelGradSums"]
    np.testing.assert_allclose(found[-1].ravel(), 2 * y.astype(np.float64).sum((0, 2, 3)), rtol=1e-4, atol=1e-4)
    channels_last = x.transpose(0, 2, 3, 1)
    other = host(ops.normalise)(np, channels_last, None, None, 1e-5, channels_last.shape, (0, 1, 2), (8,), True)
    np.testing.assert_allclose(other.transpose(0, 3, 1, 2), first[0], rtol=1e-5, atol=1e-6)


def test_what_was_found_for_an_array_is_not_found_for_its_successor_in_memory(calls: list[str]) -> None:
    ops = normalization
    for level in range(3):
        x = np.full((4, 8, 16, 16), level, np.float32)
        x[0] += 1
        moved = host(ops.running_statistics)(
            np, x, np.zeros(8, np.float32), np.ones(8, np.float32), np.float32(0), (0, 2, 3)
        )
        np.testing.assert_allclose(moved[0], level + 0.25, rtol=1e-6)
        del x
    assert calls == 3 * ["ChannelMoments"]


def test_calls_are_told_apart_by_everything_that_decides_them() -> None:
    x, y = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    described = [
        direct._described(1, [x, x], {"last": True}), direct._described(1, [x, x], {"last": 1}),
        direct._described(2, [x, x], {"last": True}), direct._described(1, [x, y], {"last": True}),
        direct._described(1, [x, x], {"lost": True}), direct._described(1, [x, x], {"last": np.array([1, 2])}),
        direct._described(1, [x, x], {"last": np.array([1, 3])}), direct._described(1, [x, x], {"last": np.float32(0.0)}),
        direct._described(1, [x, x], {"last": np.float32(-0.0)}),
    ]  # fmt: skip
    assert len({(numbers.tobytes(), names) for numbers, _, names in described}) == len(described)
    assert all(numbers.ctypes.data == address for numbers, address, _ in described)
    assert direct._described(1, [x, x], {"last": np.array([1, 2])})[0] is described[5][0]


def test_addresses_are_those_of_the_elements() -> None:
    base = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    arrays = [
        base, base[1], base[:, 1:, ::2], base[::-1], base.T, base[2, 3, 4:], np.array(3, np.float32),
        np.zeros((0, 7), np.int8), base.view(np.int32), base.astype(">f4"), np.broadcast_to(base[0, 0], (9, 5)),
        np.frombuffer(b"12345678", np.uint8)[3:], np.ma.masked_array(base), np.zeros(3, BFLOAT16),
    ]  # fmt: skip
    assert direct._addresses is direct._read_addresses  # CPython
    assert direct._addresses(arrays) == [array.__array_interface__["data"][0] for array in arrays]


def test_what_a_handler_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library.THREAD, "direct", direct)
    with pytest.raises(RuntimeError, match=r"\(Softmax\)"):
        library.call("Softmax", library.shaped((4, 4)), np.ones((4, 4), np.float64))


def test_libraries_that_are_not_there_are_not_waited_for(tmp_path: pathlib.Path) -> None:
    script = (
        "import sys, numpy as np, proa\n"
        "x = proa.to_tensor(np.linspace(-3, 3, 8192, dtype='float32'))\n"
        "y = proa.nn.functional.silu(x).numpy()\n"
        "x = x.numpy().astype('float64')\n"
        "assert abs(y - x / (1 + np.exp(-x))).max() < 1e-6\n"
        "assert 'jax' not in sys.modules\n"
    )
    environment = {**os.environ, "PROA_NATIVE_DIR": str(tmp_path / "native")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "native").exists()


def run_script(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=110,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_threads_can_be_chosen(count: int) -> None:
    script = (
        "import os, numpy as np, proa\n"
        "x = proa.to_tensor(np.ones(200_000, 'float32'))\n"
        "assert abs(proa.nn.functional.silu(x).numpy() - 0.7310586).max() < 1e-6\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    assert run_script(script, PROA_NUM_THREADS=str(count)) == str(count)


def test_workers_of_a_data_loader_start_no_threads() -> None:
    script = (
        "import os, numpy as np, proa\n"
        "from proa.kernels.cpu import direct\n"
        "assert direct.handler('Activation') is not None\n"  # found before the fork, called behind it
        "class Set(proa.io.Dataset):\n"
        "    def __len__(self): return 2\n"
        "    def __getitem__(self, i):\n"
        "        before = len(os.listdir('/proc/self/task'))\n"
        "        y = proa.nn.functional.silu(proa.to_tensor(np.ones(200_000, 'float32'))).numpy()\n"
        "        assert abs(y - 0.7310586).max() < 1e-6\n"
        "        return np.array([before, len(os.listdir('/proc/self/task'))])\n"
        "print([b.tolist() for b in proa.io.DataLoader(Set(), batch_size=None, num_workers=1)])\n"
    )
    (before, after), again = json.loads(run_script(script, PROA_NUM_THREADS="4"))
    assert before == after
    assert again == [after, after]


@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_forked_child_works_alone() -> None:
    x = np.random.default_rng(0).standard_normal((512, 512)).astype(np.float32)
    kernel = direct.on_host(rows.native_softmax, lambda xp, x, axis: None)
    expected = kernel(np, x, -1)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(kernel(np, x, -1), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert flags.get("FLAGS_native_kernels")
