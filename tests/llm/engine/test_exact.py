"""Exact programs: the same bits from the training code and from the engine. `bitwise.py` tries many more."""

from typing import Any

import numpy as np
import pytest

from proa.ir.transforms.exactness import COMPILER_OPTIONS, arithmetic, wanted
from proa.llm.engine import Engine, Options
from proa.llm.engine.exact import Scorer
from proa.ops.generation.exact import product

from .bitwise import compare
from .little import little_model, prompts


def test_engine_and_training_code_agree_to_the_last_bit() -> None:
    texts = [[*text, 1] for text in prompts(8, seed=21, longest=50)]
    options = Options(rows=2, context=96, page_size=8, chunk=16, exact=True)
    compared, different, _ = compare({}, options, texts, 3, sizes=(3,))
    assert compared > 120
    assert different == 0


def test_a_product_s_row_does_not_notice_the_others() -> None:
    import jax

    def run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        with arithmetic("exact"):
            lowered = jax.jit(lambda a, b: product(jax.numpy, a, b)).lower(x, y)
            return np.asarray(lowered.compile(compiler_options=COMPILER_OPTIONS)(x, y))

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


def test_ids_that_cannot_be_scored_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two tokens"):
        Scorer(little_model(), exact=False)([[1]])


def test_scores_have_no_gradients_and_agree_with_the_loss() -> None:
    import proa as paddle
    from proa.llm.engine.exact import scores

    model, ids = little_model(), paddle.to_tensor([[1, 5, 9, 2, 7], [3, 3, 8, 4, 6]])
    found = scores(model, ids)
    assert found.stop_gradient
    logits = model(ids)[:, :-1]
    loss = paddle.nn.functional.cross_entropy(logits, ids[:, 1:].unsqueeze(-1), reduction="none")
    np.testing.assert_allclose(found.numpy(), -loss.numpy()[..., 0], rtol=2e-5)
