"""Exact programs: the same bits from the training code and from the engine. `bitwise.py` tries many more."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.place import make_place
from proa.ir.transforms.exactness import arithmetic, compiler_options, wanted
from proa.ir.xla import started_jax
from proa.kernels.gpu import exact as gpu
from proa.llm.engine import Engine, Options
from proa.llm.engine.exact import Scorer, check_exact
from proa.ops.generation.exact import on_gpu, product
from proa.ops.linear.linalg import linear
from proa.ops.neural.normalization import normalise

from .bitwise import MODELS, compare
from .little import little_model, prompts


def test_engine_and_training_code_agree_to_the_last_bit() -> None:
    texts = [[*text, 1] for text in prompts(8, seed=21, longest=50)]
    options = Options(rows=2, context=96, page_size=8, chunk=16, exact=True)
    compared, different, _ = compare({}, options, texts, 3, sizes=(3,))
    assert compared > 120
    assert different == 0


def test_they_agree_with_the_kernels_of_a_gpu_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Counter[str]()

    def counted(name: str) -> Any:
        kernel = getattr(gpu, name)

        def call(*given: Any) -> Any:
            calls[name] += 1
            return kernel(*given)

        return call

    for name in ("product", "row_sums"):
        monkeypatch.setattr(gpu, name, counted(name))
    for primitive, kernel in on_gpu(interpret=True).items():
        monkeypatch.setitem(primitive.operation.kernels, "exact", kernel)
    texts = [[*text, 1] for text in prompts(4, seed=22, longest=40)]
    options = Options(rows=2, context=96, page_size=8, chunk=16, exact=True)
    compared, different, _ = compare(MODELS[1], options, texts, 23, sizes=(3,))
    assert compared > 40
    assert different == 0
    assert calls["product"] > 10
    assert calls["row_sums"] > 10


@pytest.mark.gpu
@pytest.mark.parametrize("number", range(len(MODELS)))
def test_they_agree_on_a_gpu(number: int) -> None:
    before = paddle.get_device()
    paddle.set_device("gpu")
    try:
        texts = [[*text, 1] for text in prompts(8, seed=21, longest=50)]
        options = Options(rows=3, context=96, page_size=8, chunk=16, exact=True)
        compared, different, _ = compare(MODELS[number], options, texts, 30 + number, sizes=(1, 3))
    finally:
        paddle.set_device(before)
    assert compared > 120
    assert different == 0


def test_a_gpu_has_kernels_and_options_of_its_own() -> None:
    for primitive in on_gpu():
        operation = primitive.operation
        assert operation.kernel_for("gpu", "exact") is operation.kernels["exact gpu"]
        assert operation.kernel_for("gpu") is not operation.kernels["exact gpu"]
    assert linear.operation.kernel_for("cpu", "exact") is linear.operation.kernels["exact"]
    assert normalise.operation.kernel_for("cpu", "exact") is normalise.operation.kernels["cpu"]
    off = compiler_options("gpu")["xla_disable_hlo_passes"].split(",")
    assert "priority-fusion" in off
    assert "fusion-wrapper" not in off  # without it XLA has no code for what stands alone
    assert "priority-fusion" not in compiler_options("cpu")["xla_disable_hlo_passes"]


@pytest.mark.parametrize("centred", [False, True])
def test_the_norms_of_a_gpu_are_those_of_the_operation(centred: bool) -> None:
    jnp = started_jax().numpy
    draw = np.random.default_rng(4)
    x, weight = draw.normal(size=(2, 3, 40)).astype("float32"), draw.normal(size=40).astype("float32")
    given = (x, weight, weight if centred else None, 1e-5, x.shape, (2,), (40,), centred)
    found = on_gpu(interpret=True)[normalise](jnp, *given)
    np.testing.assert_allclose(found, normalise.operation.kernel(np, *given), rtol=1e-5, atol=1e-6)


def test_a_product_s_row_does_not_notice_the_others() -> None:
    import jax

    def run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with arithmetic("exact"):
            lowered = jax.jit(lambda a, b: product(jax.numpy, a, b)).lower(x, y)
            return np.asarray(lowered.compile(compiler_options=compiler_options("cpu"))(x, y))

    draw = np.random.default_rng(0)
    for depth, columns in ((40, 24), (3000, 16)):
        x, y = draw.normal(size=(37, depth)).astype("float32"), draw.normal(size=(depth, columns)).astype("float32")
        whole = run(x, y)
        np.testing.assert_allclose(whole, x.astype("float64") @ y, rtol=1e-4, atol=1e-3)
        for rows in ([0], [36], [5, 3], list(range(9)), list(range(30))):
            np.testing.assert_array_equal(run(x[rows], y), whole[rows])


def test_the_scope_ends() -> None:
    with arithmetic("exact"):
        assert wanted() == "exact"
        with arithmetic(""):
            assert not wanted()
        assert wanted() == "exact"
    assert not wanted()


@pytest.mark.parametrize(("options", "what"), [({"adapters": 1}, "no adapters"), ({"cache_dtype": "int8"}, "8 bits")])
def test_what_has_no_exact_form_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Engine(little_model(), None, Options(exact=True, **options))


@pytest.mark.parametrize(
    ("kind", "dtype", "what"),
    [("tpu", "float32", "for the CPU and for NVIDIA GPUs"), ("gpu", "bfloat16", "in float32")],
)
def test_models_without_an_exact_form_are_refused(kind: str, dtype: str, what: str) -> None:
    aval = SimpleNamespace(place=make_place(kind, 0), dtype=dtype)
    model: Any = SimpleNamespace(norm=SimpleNamespace(weight=SimpleNamespace(_aval=aval)))
    with pytest.raises(ValueError, match=what):
        check_exact(model)


def test_ids_that_cannot_be_scored_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two tokens"):
        Scorer(little_model(), exact=False)([[1]])


def test_scores_have_no_gradients_and_agree_with_the_loss() -> None:
    from proa.llm.engine.exact import scores

    model, ids = little_model(), paddle.to_tensor([[1, 5, 9, 2, 7], [3, 3, 8, 4, 6]])
    found = scores(model, ids)
    assert found.stop_gradient
    logits = model(ids)[:, :-1]
    loss = paddle.nn.functional.cross_entropy(logits, ids[:, 1:].unsqueeze(-1), reduction="none")
    np.testing.assert_allclose(found.numpy(), -loss.numpy()[..., 0], rtol=2e-5)
