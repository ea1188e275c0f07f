"""What `auto_cast` computes in what: Paddle's own decisions, one call at a time.

The tables hold the type that Paddle 3.3.1's dispatcher chose for the operator on an accelerator, with float32 and with
bfloat16 operands (L: bfloat16, F: float32), at the levels O1 and O2.
"""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import proa as paddle
from proa.ir import report
from proa.ir.recorder import LOCAL

F = paddle.nn.functional
NAMES = {"L": "bfloat16", "F": "float32"}


def tensor(*shape: int, dtype: str = "float32") -> paddle.Tensor:
    numbers = np.linspace(0.1, 0.9, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return paddle.to_tensor(numbers).astype(dtype)


LABELS = np.array([0, 1, 2])

CALLS = {
    "matmul": lambda t: paddle.matmul(t(3, 4), t(4, 5)),
    "mm": lambda t: paddle.mm(t(3, 4), t(4, 5)),
    "einsum": lambda t: paddle.einsum("ij,jk->ik", t(3, 4), t(4, 5)),
    "linear": lambda t: F.linear(t(3, 4), t(4, 5), t(5)),
    "conv1d": lambda t: F.conv1d(t(2, 3, 8), t(4, 3, 3)),
    "conv2d": lambda t: F.conv2d(t(2, 3, 8, 8), t(4, 3, 3, 3)),
    "conv2d in groups": lambda t: F.conv2d(t(2, 3, 8, 8), t(3, 1, 3, 3), groups=3),
    "conv3d": lambda t: F.conv3d(t(1, 2, 4, 4, 4), t(3, 2, 3, 3, 3)),
    "conv2d_transpose": lambda t: F.conv2d_transpose(t(2, 3, 8, 8), t(3, 4, 3, 3)),
    "attention": lambda t: F.scaled_dot_product_attention(t(2, 3, 2, 4), t(2, 3, 2, 4), t(2, 3, 2, 4)),
    "max_pool2d": lambda t: F.max_pool2d(t(2, 3, 8, 8), 2),
    "avg_pool2d": lambda t: F.avg_pool2d(t(2, 3, 8, 8), 2),
    "exp": lambda t: paddle.exp(t(3, 4)),
    "log": lambda t: paddle.log(t(3, 4)),
    "log1p": lambda t: paddle.log1p(t(3, 4)),
    "sqrt": lambda t: paddle.sqrt(t(3, 4)),
    "rsqrt": lambda t: paddle.rsqrt(t(3, 4)),
    "square": lambda t: paddle.square(t(3, 4)),
    "reciprocal": lambda t: paddle.reciprocal(t(3, 4)),
    "tan": lambda t: paddle.tan(t(3, 4)),
    "tanh": lambda t: paddle.tanh(t(3, 4)),
    "sigmoid": lambda t: F.sigmoid(t(3, 4)),
    "relu": lambda t: F.relu(t(3, 4)),
    "gelu": lambda t: F.gelu(t(3, 4)),
    "silu": lambda t: F.silu(t(3, 4)),
    "softplus": lambda t: F.softplus(t(3, 4)),
    "softmax": lambda t: F.softmax(t(3, 4)),
    "log_softmax": lambda t: F.log_softmax(t(3, 4)),
    "add": lambda t: paddle.add(t(3, 4), t(3, 4)),
    "multiply": lambda t: paddle.multiply(t(3, 4), t(3, 4)),
    "x * 2.0": lambda t: t(3, 4) * 2.0,
    "x ** 2": lambda t: t(3, 4) ** 2,
    "x ** y": lambda t: t(3, 4) ** t(3, 4),
    "sum": lambda t: paddle.sum(t(3, 4)),
    "mean": lambda t: paddle.mean(t(3, 4)),
    "prod": lambda t: paddle.prod(t(3, 4)),
    "cumsum": lambda t: paddle.cumsum(t(3, 4)),
    "max": lambda t: paddle.max(t(3, 4)),
    "logsumexp": lambda t: paddle.logsumexp(t(3, 4)),
    "norm": lambda t: paddle.norm(t(3, 4)),
    "layer_norm": lambda t: F.layer_norm(t(3, 4), [4], tensor(4), tensor(4)),
    "layer_norm without parameters": lambda t: F.layer_norm(t(3, 4), [4]),
    "batch_norm": lambda t: F.batch_norm(t(2, 3, 4, 4), tensor(3), tensor(3), tensor(3), tensor(3), training=True),
    "batch_norm in use": lambda t: F.batch_norm(t(2, 3, 4, 4), tensor(3), tensor(3), tensor(3), tensor(3)),
    "instance_norm": lambda t: F.instance_norm(t(2, 3, 4, 4), weight=tensor(3), bias=tensor(3)),
    "group_norm": lambda t: F.group_norm(t(2, 4, 4, 4), 2, weight=tensor(4), bias=tensor(4)),
    "rms_norm": lambda t: F.rms_norm(t(3, 4), [4], tensor(4)),
    "cross_entropy": lambda t: F.cross_entropy(t(3, 4), paddle.to_tensor(LABELS), reduction="none"),
    "nll_loss": lambda t: F.nll_loss(t(3, 4), paddle.to_tensor(LABELS), reduction="none"),
    "bce_with_logits": lambda t: F.binary_cross_entropy_with_logits(t(3, 4), t(3, 4), reduction="none"),
    "embedding": lambda t: F.embedding(paddle.to_tensor(LABELS), t(5, 4)),
    "interpolate": lambda t: F.interpolate(t(1, 2, 4, 4), scale_factor=2, mode="bilinear"),
    "dropout": lambda t: F.dropout(t(3, 4), 0.5),
    "reshape": lambda t: t(3, 4).reshape([4, 3]),
    "concat": lambda t: paddle.concat([t(3, 4), t(3, 4)]),
    "where": lambda t: paddle.where(t(3, 4) > 0.5, t(3, 4), t(3, 4)),
    "gather": lambda t: paddle.gather(t(3, 4), paddle.to_tensor(LABELS)),
    "svd": lambda t: paddle.linalg.svd(t(3, 4))[1],
    # Compositions here, one operator there.
    "bmm": lambda t: paddle.bmm(t(2, 3, 4), t(2, 4, 5)),
    "mv": lambda t: paddle.mv(t(3, 4), t(4)),
    "dot": lambda t: paddle.dot(t(4), t(4)),
    "addmm": lambda t: paddle.addmm(t(3, 5), t(3, 4), t(4, 5)),
    "bilinear": lambda t: F.bilinear(t(3, 4), t(3, 4), t(2, 4, 4)),
    "mish": lambda t: F.mish(t(3, 4)),
    "tanhshrink": lambda t: F.tanhshrink(t(3, 4)),
    "gumbel_softmax": lambda t: F.gumbel_softmax(t(3, 4)),
    "smooth_l1_loss": lambda t: F.smooth_l1_loss(t(3, 4), t(3, 4), reduction="none"),
    "dist": lambda t: paddle.dist(t(3, 4), t(3, 4)),
    "renorm": lambda t: paddle.renorm(t(3, 4), 2.0, 0, 1.0),
    "adaptive_avg_pool2d": lambda t: F.adaptive_avg_pool2d(t(2, 3, 8, 8), 1),
    "scatter": lambda t: paddle.scatter(t(3, 4), paddle.to_tensor(LABELS), t(3, 4)),
}
# Name: O1 of float32, O1 of bfloat16, O2 of float32, O2 of bfloat16. What is not listed is grey, "F L F L".
DECISIONS = {
    **dict.fromkeys(["matmul", "mm", "einsum", "linear", "conv1d", "conv2d", "attention"], "L L L L"),
    **dict.fromkeys(
        ["exp", "log", "rsqrt", "square", "reciprocal", "tan", "softplus", "softmax", "log_softmax", "x ** 2", "sum",
         "mean", "prod", "cumsum", "layer_norm", "layer_norm without parameters", "cross_entropy", "nll_loss",
         "bce_with_logits", "tanhshrink", "smooth_l1_loss", "dist", "renorm"],
        "F F F L",
    ),
    # Parameters in float32 beside a bfloat16 input; batch and layer norms alone look at the input only.
    **dict.fromkeys(["instance_norm", "group_norm", "rms_norm", "embedding", "interpolate", "scatter"], "F F F F"),
    # No half type will do for the kernel.
    "svd": "F F F F",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_computes_in_the_type_that_paddle_chooses(name: str) -> None:
    expected = [NAMES[letter] for letter in DECISIONS.get(name, "F L F L").split()]
    found = []
    for level in ("O1", "O2"):
        for given in ("float32", "bfloat16"):
            with paddle.amp.auto_cast(level=level, dtype="bfloat16"):
                result = CALLS[name](lambda *shape, d=given: tensor(*shape, dtype=d))
            found.append(str(result.dtype).removeprefix("paddle."))
    assert found == expected


@pytest.mark.parametrize(
    ("level", "promote", "expected"),
    [
        # float32 and bfloat16 through a grey operator, float32 through softmax, matmul of both
        ("O1", True, ["float32", "bfloat16", "float32", "float32", "bfloat16"]),
        ("O2", True, ["float32", "bfloat16", "float32", "float32", "bfloat16"]),
        ("O2", False, ["bfloat16", "bfloat16", "bfloat16", "bfloat16", "bfloat16"]),
        ("OD", True, ["float32", "float32", "float32", "float32", "bfloat16"]),
    ],
)
def test_levels(level: str, promote: bool, expected: list[str]) -> None:
    wide, low = tensor(4, 4), tensor(4, 4, dtype="bfloat16")
    with paddle.amp.auto_cast(level=level, dtype="bfloat16", use_promote=promote):
        results = [paddle.tanh(wide), paddle.tanh(low), wide + low, F.softmax(wide), paddle.matmul(wide, low)]
    assert [str(r.dtype).removeprefix("paddle.") for r in results] == expected


def test_mixed_operands_take_the_widest_type() -> None:
    wide, low, double = tensor(3, 4), tensor(3, 4, dtype="bfloat16"), tensor(3, 4, dtype="float64")
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert paddle.concat([wide, low]).dtype == paddle.float32
        assert paddle.stack([low, wide]).dtype == paddle.float32
        assert paddle.where(wide > 0.5, wide, low).dtype == paddle.float32
        assert (low * paddle.to_tensor(2.0)).dtype == paddle.float32  # 0-d or not
        # float64 takes no part
        assert paddle.matmul(double, double.t()).dtype == paddle.float64
        assert F.softmax(double).dtype == paddle.float64
        assert (low + double).dtype == paddle.float64


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda wide, low: F.conv2d_transpose(low(1, 3, 4, 4), weight=wide(3, 2, 3, 3)), "float32"),
        (lambda wide, low: paddle.einsum("ij,jk->ik", low(3, 4), wide(4, 5)), "bfloat16"),
        (lambda wide, low: paddle.add_n([low(3, 4), wide(3, 4)]), "float32"),
        (lambda wide, low: paddle.bmm(low(2, 3, 4), wide(2, 4, 5)), "float32"),
        (lambda wide, low: paddle.kron(low(2, 2), wide(2, 2)), "float32"),
        (lambda wide, low: paddle.put_along_axis(low(3, 4), paddle.to_tensor([[1]]), wide(1, 1), 1), "float32"),
        (lambda wide, low: paddle.index_put(low(3, 4), (paddle.to_tensor([1]),), wide(1, 4)), "float32"),
        (lambda wide, low: paddle.nn.Conv2DTranspose(3, 4, 3)(low(1, 3, 4, 4)), "float32"),
        (lambda wide, low: paddle.nn.LSTM(4, 5)(low(2, 3, 4))[0], "float32"),
        (lambda wide, low: paddle.nn.MultiHeadAttention(8, 2)(low(2, 3, 8), attn_mask=wide(2, 2, 3, 3)), "bfloat16"),
    ],
)
def test_compositions_take_mixed_operands(call, expected: str) -> None:
    with paddle.amp.auto_cast(dtype="bfloat16"):
        result = call(tensor, lambda *shape: tensor(*shape, dtype="bfloat16"))
        assert paddle.amp.is_autocast_enabled()
    assert str(result.dtype) == f"paddle.{expected}"
    assert np.isfinite(result.astype("float32").numpy()).all()


def test_out_is_left_alone_in_compositions() -> None:
    out = paddle.zeros([3], "float32")
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        assert paddle.mv(tensor(3, 4), tensor(4)).dtype == paddle.float32
        product = paddle.dot(tensor(2, 3), tensor(2, 3), out=out[:2])
    assert product.dtype == paddle.float32


def test_conversions_comparisons_and_in_place_operations_are_left_alone() -> None:
    low = tensor(3, 4, dtype="bfloat16")
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert low.astype("float16").dtype == paddle.float16
        assert (low > 0.5).dtype == paddle.bool
        assert low.clone().exp_().dtype == paddle.bfloat16
        written = low.clone()
        written[0] = tensor(4)
        assert written.dtype == paddle.bfloat16
        assert paddle.ones_like(low).dtype == paddle.bfloat16


def test_custom_lists_name_operators_as_paddle_does() -> None:
    a, b = tensor(3, 4), tensor(3, 4)
    with paddle.amp.auto_cast(custom_white_list={"elementwise_add"}, dtype="bfloat16"):
        assert (a + b).dtype == paddle.bfloat16
        assert (a * b).dtype == paddle.float32
    with paddle.amp.auto_cast(custom_white_list={"elementwise_add"}, level="O2", dtype="bfloat16"):
        assert (a + b).dtype == paddle.bfloat16
    with paddle.amp.auto_cast(custom_black_list={"conv2d", "matmul"}, dtype="bfloat16"):
        assert F.conv2d(tensor(1, 3, 4, 4), tensor(2, 3, 3, 3)).dtype == paddle.float32
        assert paddle.matmul(a, b.t()).dtype == paddle.float32
        assert F.linear(a, b.t()).dtype == paddle.bfloat16
    with paddle.amp.auto_cast(custom_white_list=["softmax"], dtype="bfloat16"):
        assert F.softmax(a).dtype == paddle.bfloat16


def test_gradients_of_float32_parameters_are_float32() -> None:
    x, w = tensor(3, 4), tensor(4, 5)
    w.stop_gradient = False
    with paddle.amp.auto_cast(dtype="bfloat16"):
        loss = F.softmax(paddle.matmul(x, w)).sum()
    loss.backward()
    assert loss.dtype == paddle.float32
    assert w.grad.dtype == paddle.float32
    # bfloat16 has 8 bits: the operands of the product are rounded to it
    exact = paddle.matmul(x, w)
    with paddle.amp.auto_cast(dtype="bfloat16"):
        rounded = paddle.matmul(x, w)
    np.testing.assert_allclose(rounded.astype("float32").numpy(), exact.numpy(), rtol=2e-2)
    assert not np.array_equal(rounded.astype("float32").numpy(), exact.numpy())


def test_backward_inside_the_block_computes_as_outside() -> None:
    results = []
    for inside in (True, False):
        w = tensor(4, 5)
        w.stop_gradient = False
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = (paddle.matmul(tensor(3, 4), w) ** 2).mean()
            if inside:
                loss.backward()
                assert paddle.amp.is_autocast_enabled()
        if not inside:
            loss.backward()
        results.append(w.grad.numpy())
    np.testing.assert_array_equal(results[0], results[1])


def test_nested_blocks_restore_what_held_before() -> None:
    a = tensor(3, 3)
    assert not paddle.amp.is_autocast_enabled()
    with paddle.amp.auto_cast(dtype="bfloat16"):
        assert paddle.amp.is_autocast_enabled()
        assert paddle.amp.get_autocast_dtype() == "bfloat16"
        with paddle.amp.auto_cast(enable=False):
            assert not paddle.is_autocast_enabled()
            assert paddle.matmul(a, a).dtype == paddle.float32
            with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
                assert paddle.matmul(a, a).dtype == paddle.bfloat16
        assert paddle.matmul(a, a).dtype == paddle.bfloat16
        with paddle.amp.auto_cast(level="O0"):
            assert paddle.matmul(a, a).dtype == paddle.float32
    assert paddle.matmul(a, a).dtype == paddle.float32
    assert paddle.get_autocast_gpu_dtype() == "float16"


def test_an_error_inside_the_block_restores_the_state() -> None:
    a = tensor(3, 3)
    with pytest.raises(ValueError, match="matmul"), paddle.amp.auto_cast(dtype="bfloat16"):
        paddle.matmul(a, tensor(4, 4))
    assert LOCAL.scope is None
    assert paddle.matmul(a, a).dtype == paddle.float32


def test_an_index_error_inside_the_block_takes_the_call_back() -> None:
    with paddle.amp.auto_cast(dtype="bfloat16"):
        x = tensor(3, 4)
        with pytest.raises((IndexError, ValueError)):
            F.embedding(paddle.to_tensor([7]), x)
        product = paddle.matmul(x, x.t())
    np.testing.assert_allclose(product.astype("float32").numpy(), x.numpy() @ x.numpy().T, rtol=2e-2)


def test_decorates_functions() -> None:
    @paddle.amp.auto_cast(dtype="bfloat16")
    def product(a: paddle.Tensor) -> paddle.Tensor:
        return paddle.matmul(a, a)

    assert product(tensor(3, 3)).dtype == paddle.bfloat16
    assert product(tensor(3, 3)).dtype == paddle.bfloat16
    assert not paddle.amp.is_autocast_enabled()


def test_each_thread_has_its_own_state() -> None:
    a = tensor(3, 3)
    found = {}

    def work() -> None:
        found["enabled"] = paddle.amp.is_autocast_enabled()
        found["dtype"] = paddle.matmul(a, a).dtype

    with paddle.amp.auto_cast(dtype="bfloat16"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert paddle.matmul(a, a).dtype == paddle.bfloat16
    assert found == {"enabled": False, "dtype": paddle.float32}


def test_another_thread_reads_a_pending_value_from_behind_the_mark() -> None:
    a = tensor(3, 3)
    with paddle.amp.auto_cast(dtype="bfloat16"):
        pending = F.softmax(paddle.matmul(a, a))
        after = pending + 1
        found = []
        thread = threading.Thread(target=lambda: found.append(pending.numpy()))
        thread.start()
        thread.join()
    product = (a.numpy() @ a.numpy()).astype(np.float32)
    expected = np.exp(product) / np.exp(product).sum(-1, keepdims=True)
    np.testing.assert_allclose(found[0], expected, rtol=2e-2)
    np.testing.assert_allclose(after.numpy(), expected + 1, rtol=2e-2)


def test_both_tiers_agree_and_one_program_is_compiled() -> None:
    x, w, v = tensor(8, 16), tensor(16, 16), tensor(16, 4)

    def work() -> list[np.ndarray]:
        for p in (w, v):
            p.stop_gradient = False
            p.clear_gradient(False)
        with paddle.amp.auto_cast(dtype="bfloat16"):
            out = F.softmax(paddle.matmul(F.gelu(paddle.matmul(x, w)), v))
            loss = out.square().mean()
        loss.backward()
        return [t.numpy() for t in (w.grad, v.grad, loss)]

    first = work()
    work()
    compiles, hits = report.STATISTICS.compiles, report.STATISTICS.hits
    third = work()
    work()
    assert report.STATISTICS.compiles == compiles + 1  # forward and backward: nothing was cut
    assert report.STATISTICS.hits == hits + 2
    for cold, hot in zip(first, third, strict=True):
        # XLA keeps float32 between two operations where tier 0 rounds to bfloat16.
        np.testing.assert_allclose(hot, cold, rtol=8e-2, atol=1e-5)


def test_blocks_with_nothing_in_them_leave_no_trace() -> None:
    a = tensor(2, 2)
    b = a + 1
    node = LOCAL.segment.node
    for _ in range(3):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            pass
    assert LOCAL.segment.node is node
    np.testing.assert_array_equal(b.numpy(), a.numpy() + 1)


def test_bad_settings() -> None:
    for options, words in (
        ({"level": "O3"}, "level"),
        ({"dtype": "float64"}, "float16"),
        ({"dtype": "int8"}, "float16"),
        ({"custom_white_list": {"exp"}, "custom_black_list": {"exp"}, "dtype": "bfloat16"}, "overlap"),
    ):
        with pytest.raises(ValueError, match=words):
            paddle.amp.auto_cast(**options)
    with pytest.raises(TypeError, match="custom_white_list"):
        paddle.amp.auto_cast(custom_white_list="exp", dtype="bfloat16")
    with pytest.raises(TypeError, match="generator"):

        @paddle.amp.auto_cast(dtype="bfloat16")
        def numbers():  # type: ignore[no-untyped-def]
            yield 1


def test_float16_has_no_effect_on_a_cpu() -> None:
    a = tensor(3, 3)
    with pytest.warns(UserWarning, match="bfloat16"):
        block = paddle.amp.auto_cast()
    with block:
        assert paddle.matmul(a, a).dtype == paddle.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.amp.auto_cast(enable=False)
        paddle.amp.auto_cast(dtype=paddle.bfloat16)
    assert paddle.amp.is_bfloat16_supported()
    assert not paddle.amp.is_float16_supported("cpu")


def test_autocast_as_in_pytorch() -> None:
    a = tensor(3, 3)
    with paddle.autocast("cpu", dtype="bfloat16"):
        assert paddle.matmul(a, a).dtype == paddle.bfloat16
    with paddle.autocast("cpu", dtype="bfloat16", enabled=False):
        assert paddle.matmul(a, a).dtype == paddle.float32


def test_the_lists_are_paddles() -> None:
    white, black = paddle.amp.amp_lists.white_list(), paddle.amp.amp_lists.black_list()
    assert sorted(white["bfloat16"]["O1"]) == [
        "conv2d", "einsum", "flash_attn", "fused_gemm_epilogue", "fused_rotary_position_embedding", "linear_v2",
        "matmul", "matmul_v2", "max_pool2d_with_index", "mul",
    ]  # fmt: skip
    assert len(white["float16"]["O2"]) == 14
    assert black["float16"]["OD"] == set()
    assert len(black["bfloat16"]["O1"]) == 53
    assert sorted(black["bfloat16"]["O2"]) == [
        "bicubic_interp_v2", "bilinear_interp_v2", "linear_interp_v2", "lookup_table", "lookup_table_v2",
        "nearest_interp_v2", "scatter", "trilinear_interp_v2",
    ]  # fmt: skip
