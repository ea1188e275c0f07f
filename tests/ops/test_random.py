"""Random numbers: known answers, the same bits on both tiers, distributions, state, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import proa as paddle
from proa.ir import report
from proa.kernels import random_bits

F = paddle.nn.functional


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> list[int]:
    def arrays(values: tuple[int, ...]) -> Any:
        return tuple(np.array([v], np.uint64) for v in values)

    return [int(word[0]) for word in random_bits.philox(arrays(counter), arrays(key))]


def test_known_answers() -> None:
    """The test vectors that come with the reference implementation (Random123, philox4x32-10)."""
    assert philox((0,) * 4, (0,) * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert philox((ones,) * 4, (ones,) * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    digits_of_pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    assert philox(*digits_of_pi) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_words_are_counted_by_block_and_lane() -> None:
    seed, offset = np.array(0x1122334455667788), np.array(9)
    words = random_bits.words32(np, (3, 3), seed, offset).ravel()
    for position, word in enumerate(words):
        expected = philox((position // 4, 0, 9, 0), (0x55667788, 0x11223344))[position % 4]
        assert int(word) == expected
    # A draw of more than one chunk continues where the chunk ended.
    size = 4 * 8192 + 5
    long = random_bits.words32(np, (size,), seed, offset)
    assert int(long[-1]) == philox(((size - 1) // 4, 0, 9, 0), (0x55667788, 0x11223344))[(size - 1) % 4]


@pytest.mark.parametrize("shape", [(), (7,), (5, 3, 9), (0, 4)])
def test_numpy_and_xla_draw_the_same_bits(shape: tuple[int, ...]) -> None:
    from proa.ir.xla import jax_module

    jnp = jax_module().numpy
    seed, offset = np.array(2**62 + 12345), np.array(77)
    for function in (random_bits.words32, random_bits.words64):
        host = function(np, shape, seed, offset)
        device = function(jnp, shape, jnp.asarray(seed), jnp.asarray(offset))
        assert host.dtype == device.dtype
        np.testing.assert_array_equal(host, np.asarray(device))
    for dtype in ("float32", "float64", "float16"):
        host = random_bits.uniform(np, shape, np.dtype(dtype), seed, offset)
        device = random_bits.uniform(jnp, shape, np.dtype(dtype), jnp.asarray(seed), jnp.asarray(offset))
        np.testing.assert_array_equal(host, np.asarray(device))


DRAWS = {
    "rand": lambda: paddle.rand([40, 3]),
    "rand double": lambda: paddle.rand([40], "float64"),
    "rand half": lambda: paddle.rand([40], "float16"),
    "uniform": lambda: paddle.uniform([40], min=-3.0, max=5.0),
    "randn": lambda: paddle.randn([40, 3]),
    "randn double": lambda: paddle.randn([41], "float64"),
    "normal": lambda: paddle.normal(2.0, 3.0, [40]),
    "randint": lambda: paddle.randint(-5, 50, [40]),
    "randint wide": lambda: paddle.randint(0, 2**60, [40]),
    "randint 32": lambda: paddle.randint(0, 7, [40], "int32"),
    "randperm": lambda: paddle.randperm(50),
    "bernoulli": lambda: paddle.bernoulli(paddle.full([40], 0.3)),
    "multinomial": lambda: paddle.multinomial(paddle.to_tensor([[0.1, 0.0, 0.4], [1.0, 2.0, 3.0]]), 30, True),
    "without": lambda: paddle.multinomial(paddle.arange(30, dtype="float32"), 20),
    "exponential": lambda: paddle.ones([40]).exponential_(2.0),
    "dropout": lambda: F.dropout(paddle.ones([40, 3]), 0.4),
    "dropout axis": lambda: F.dropout(paddle.ones([40, 3]), 0.4, axis=0),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_numbers_cold_compiled_and_immediate(name: str) -> None:
    drawn = []
    for mode in ("auto",) * 5 + ("immediate",):
        paddle.seed(99)
        with paddle.jit.eager_mode(mode):
            drawn.append([DRAWS[name]().numpy(), DRAWS[name]().numpy()])
    for first, second in drawn[1:]:
        if "randn" in name or name in (
            "normal",
            "exponential",
        ):  # logarithms and cosines differ in the last digits
            np.testing.assert_allclose(first, drawn[0][0], rtol=2e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(first, drawn[0][0])
            np.testing.assert_array_equal(second, drawn[0][1])
    assert not np.array_equal(*drawn[0]), "the second draw must differ from the first"


def test_drawing_compiles_once() -> None:
    before = 0
    for i in range(12):
        if i == 6:
            before = report.STATISTICS.compiles
        x = F.dropout(
            paddle.rand([4, 4]) + paddle.uniform([4, 4], min=-i, max=float(i + 1)),
            0.1 * (i % 9) + 0.05,
        )
        (x + paddle.randn([4, 4]) + paddle.randint(0, i + 1, [4, 4]).astype("float32")).numpy()
        if i > 0:
            paddle.seed(i)
    assert report.STATISTICS.compiles == before


# ---- distributions -------------------------------------------------------------------------------


def fits(sample: np.ndarray, distribution: Any) -> bool:
    return stats.kstest(sample.ravel().astype("float64"), distribution).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_uniform_and_normal(dtype: str) -> None:
    for index in range(3):
        paddle.seed(index)
        uniform = paddle.rand([30000], dtype).numpy()
        assert uniform.min() >= 0
        assert uniform.max() < 1
        assert fits(uniform, stats.uniform().cdf)
        normal = paddle.randn([30001], dtype).numpy()
        assert fits(normal, stats.norm().cdf)
        # Neighbours come from the same block: they must not know of each other.
        for lag in (1, 2, 4):
            assert abs(np.corrcoef(normal[:-lag], normal[lag:])[0, 1]) < 0.03
            assert abs(np.corrcoef(normal[:-lag] ** 2, normal[lag:] ** 2)[0, 1]) < 0.03
    moved = paddle.uniform([20000], dtype, -2.0, 6.0).numpy()
    assert fits(moved, stats.uniform(-2, 8).cdf)
    assert fits(paddle.normal(1.0, 2.5, [20000]).numpy(), stats.norm(1, 2.5).cdf)
    assert fits(paddle.empty([20000], dtype).exponential_(2.0).numpy(), stats.expon(scale=0.5).cdf)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_stay_below_one(dtype: str) -> None:
    drawn = paddle.rand([20000], dtype).numpy().astype("float64")
    assert drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.01
    assert abs(paddle.randn([20000], dtype).numpy().astype("float64").std() - 1) < 0.03


def test_complex_normal() -> None:
    drawn = paddle.randn([20000], "complex64").numpy()
    assert fits(drawn.real * np.sqrt(2), stats.norm().cdf)
    assert fits(drawn.imag * np.sqrt(2), stats.norm().cdf)


def test_normal_with_tensors() -> None:
    mean = paddle.to_tensor(np.array([0.0, 100.0], "float32")).expand([5000, 2])
    drawn = paddle.normal(mean, paddle.full([5000, 2], 2.0)).numpy()
    assert fits(drawn[:, 0], stats.norm(0, 2).cdf)
    assert fits(drawn[:, 1], stats.norm(100, 2).cdf)


def test_integers() -> None:
    drawn = paddle.randint(-3, 4, [70000]).numpy()
    assert stats.chisquare(np.bincount(drawn + 3, minlength=7)).pvalue > 1e-3
    wide = paddle.randint(0, 2**62, [20000]).numpy()
    assert fits(wide / 2.0**62, stats.uniform().cdf)
    assert paddle.randint(5).shape == [1]
    assert paddle.randint_like(paddle.ones([3]), 5).dtype == paddle.float32
    for act in (
        lambda: paddle.randint(5, 5),
        lambda: paddle.randint(0),
        lambda: paddle.randint(5, 2),
    ):
        with pytest.raises(ValueError, match="low"):
            act()
    with pytest.raises(TypeError):
        paddle.randint(0, 5, [2], "float32")


def test_permutations() -> None:
    counts = np.zeros((5, 5), int)
    for _ in range(600):
        order = paddle.randperm(5).numpy()
        assert sorted(order) == [0, 1, 2, 3, 4]
        counts[np.arange(5), order] += 1
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3
    assert paddle.randperm(0).shape == [0]
    with pytest.raises(ValueError, match="negative"):
        paddle.randperm(-1)


def test_bernoulli_and_multinomial() -> None:
    p = np.linspace(0, 1, 5, dtype="float32")
    drawn = paddle.bernoulli(paddle.to_tensor(np.broadcast_to(p, (20000, 5)).copy())).numpy()
    np.testing.assert_allclose(drawn.mean(0), p, atol=0.02)
    assert set(np.unique(drawn)) == {0, 1}
    weights = np.array([0.0, 1.0, 3.0, 0.0, 6.0], "float32")
    picked = paddle.multinomial(paddle.to_tensor(weights), 20000, True).numpy()
    np.testing.assert_allclose(np.bincount(picked, minlength=5) / 20000, weights / 10, atol=0.02)
    pairs = [tuple(paddle.multinomial(paddle.to_tensor(weights), 2).tolist()) for _ in range(400)]
    assert all(a != b and weights[a] and weights[b] for a, b in pairs)
    assert 0.5 < np.mean([a == 4 for a, _ in pairs]) < 0.7
    x = paddle.to_tensor(weights)
    for bad in (
        lambda: paddle.multinomial(x, 4),
        lambda: paddle.multinomial(x, 6),
        lambda: paddle.multinomial(x, 0),
        lambda: paddle.multinomial(-x, 1),
        lambda: paddle.multinomial(x * 0.0, 1, True).numpy(),
        lambda: paddle.multinomial(x * float("nan"), 1).numpy(),
        lambda: paddle.multinomial(paddle.ones([2, 2, 2]), 1),
    ):
        with pytest.raises(ValueError):
            bad().numpy()
    with pytest.raises(TypeError):
        paddle.multinomial(x.astype("int64"), 1)
    with pytest.raises(IndexError):
        paddle.bernoulli(paddle.full([2], 2.0)).numpy()


def test_in_place_forms() -> None:
    x = paddle.zeros([10000])
    assert x.uniform_(-1.0, 3.0) is x
    assert fits(x.numpy(), stats.uniform(-1, 4).cdf)
    assert fits(x.normal_(1.0, 2.0).numpy(), stats.norm(1, 2).cdf)
    assert x.inplace_version == 2
    assert abs(x.bernoulli_(0.3).numpy().mean() - 0.3) < 0.03
    assert x.random_(0, 5).numpy().max() == 4
    view = x[0:5]
    x.uniform_(5.0, 6.0)
    assert view.numpy().min() >= 5
    np.testing.assert_array_equal(
        x.uniform_(0.0, 1.0, seed=3).numpy(),
        paddle.uniform([10000], min=0.0, max=1.0, seed=3).numpy(),
    )
    for bad in (lambda: paddle.ones([2], "int32").uniform_(), lambda: paddle.rand([2], "int32")):
        with pytest.raises(TypeError, match="floating"):
            bad()
    with pytest.raises(ValueError, match="positive"):
        x.exponential_(0.0)
    with pytest.raises(ValueError, match="negative"):
        paddle.rand([-1])


# ---- state ---------------------------------------------------------------------------------------


def test_state() -> None:
    assert paddle.seed(7).initial_seed() == 7
    first = paddle.rand([3]).numpy()
    state = paddle.get_rng_state()
    second = paddle.rand([3]).numpy()
    paddle.set_rng_state(state)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), second)
    paddle.seed(7)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), first)
    cuda_state = paddle.get_cuda_rng_state()
    paddle.set_cuda_rng_state(cuda_state)
    assert paddle.Generator().initial_seed() == 7
    with pytest.raises(ValueError):
        paddle.set_rng_state([])
    with pytest.raises(TypeError):
        paddle.seed("a")


# ---- dropout -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_dropout_uses_one_mask_forward_and_backward(mode: str) -> None:
    for _ in range(5):
        x = paddle.full([200, 100], 2.0)
        x.stop_gradient = False
        y = F.dropout(x, 0.3, mode=mode)
        y.sum().backward()
        out, gradient = y.numpy(), x.grad.numpy()
        kept = out != 0
        assert abs(kept.mean() - 0.7) < 0.02
        factor = 1 / 0.7 if mode == "upscale_in_train" else 1.0
        np.testing.assert_allclose(out[kept], 2 * factor, rtol=1e-6)
        np.testing.assert_allclose(gradient, kept * factor, rtol=1e-6)


def test_dropout_along_axes() -> None:
    x = paddle.ones([300, 4, 5])
    kept = F.dropout(x, 0.5, axis=[0, 1]).numpy() != 0
    assert (kept == kept[:, :, :1]).all()
    assert 0.4 < kept.mean() < 0.6
    images = F.dropout2d(paddle.ones([200, 3, 2, 2]), 0.25).numpy() != 0
    assert (images == images[:, :, :1, :1]).all()
    volumes = F.dropout3d(paddle.ones([200, 2, 2, 2, 3]), 0.25, data_format="NDHWC").numpy() != 0
    assert (volumes == volumes[:, :1, :1, :1]).all()


def test_dropout_in_half_precision_and_in_place() -> None:
    x = paddle.ones([100, 100], "bfloat16")
    out = F.dropout(x, 0.5)
    assert out.dtype == paddle.bfloat16
    assert set(np.unique(out.numpy().astype("float32"))) == {0, 2}
    y = paddle.ones([100])
    assert F.dropout(y, 0.5, inplace=True) is y
    assert set(np.unique(y.numpy())) == {0, 2}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1.5,), ValueError),
        ((-0.5,), ValueError),
        (("a",), TypeError),
        ((0.5, 5), ValueError),
        ((0.5, [-1]), ValueError),
        ((float("nan"),), ValueError),
    ],
)
def test_misuse_of_dropout(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="dropout"):
        F.dropout(paddle.ones([2, 3]), *arguments)
    with pytest.raises(ValueError, match="mode"):
        F.dropout(paddle.ones([2, 3]), 0.5, mode="foo")
    with pytest.raises(TypeError):
        F.dropout(paddle.ones([2], "int32"), 0.5)
    with pytest.raises(ValueError, match="dimensions"):
        F.dropout2d(paddle.ones([2, 2]))


@pytest.mark.parametrize("seed", [7, 0])
def test_a_seed_of_its_own_holds_for_captured_code_too(seed: int) -> None:
    # In Paddle 3.3.1 a static program with uniform(seed=7) gives the same numbers at each run.
    def drawn() -> Any:
        return paddle.uniform([8], seed=seed)

    function = paddle.jit.to_static(drawn)
    runs = [function().numpy() for _ in range(3)]
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            result = drawn()
        runs += [paddle.static.Executor().run(main, fetch_list=[result])[0] for _ in range(3)]
    finally:
        paddle.disable_static()
    runs.append(drawn().numpy())
    assert len({run.tobytes() for run in runs}) == (1 if seed else len(runs))
