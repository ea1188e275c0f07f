"""LoRA adapters by request: each row as the model with that adapter merged, whoever stands beside it."""

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm import CausalLM
from proa.llm.engine import Engine, Options, Request, Sampling

from .little import greedy, little_model, prompts

NAMES = ("layers.0.attention.query", "layers.1.attention.output", "layers.1.mlp.down")


def _factors(seed: int, rank: int) -> dict[str, tuple[Any, Any]]:
    draw, found = np.random.default_rng(seed), {}
    for name, layer in little_model().named_sublayers():
        if name in NAMES:
            found[name] = (draw.normal(size=(layer.in_features, rank)).astype("float32") * 0.3,
                           draw.normal(size=(rank, layer.out_features)).astype("float32") * 0.3)  # fmt: skip
    assert len(found) == len(NAMES)
    return found


def _merged(factors: dict[str, tuple[Any, Any]], base: CausalLM | None = None) -> CausalLM:
    base = base or little_model()
    model = CausalLM(base.config)
    model.set_state_dict(base.state_dict())
    model.eval()
    for name, layer in model.named_sublayers():
        if name in factors:
            down, up = factors[name]
            layer.weight.set_value(layer.weight.numpy() + down @ up)
    return model


def test_rows_with_different_adapters_run_together() -> None:
    first, second = _factors(1, 4), _factors(2, 3)
    asked = prompts(3, seed=3, longest=30)
    how = Sampling(max_tokens=8, ignore_end=True)
    models = {None: little_model(), "first": _merged(first), "second": _merged(second)}
    expected = {name: [greedy(model, prompt, 8) for prompt in asked] for name, model in models.items()}
    assert expected["first"] != expected[None] != expected["second"]
    with Engine(
        little_model(), None, Options(rows=4, context=96, page_size=8, chunk=16, adapters=2, adapter_rank=4)
    ) as engine:
        engine.add_adapter("first", first)
        engine.add_adapter("second", second)
        for _ in range(2):  # the second time through kept prefixes, which adapters must not share
            streams = {
                (name, number): engine.submit(Request(prompt, how, adapter=name))
                for number, prompt in enumerate(asked)
                for name in models
            }
            for (name, number), stream in streams.items():
                assert stream.tokens() == expected[name][number]
        # Its place taken by another, under the same name.
        engine.remove_adapter("first")
        engine.add_adapter("first", second)
        assert engine.submit(Request(asked[0], how, adapter="first")).tokens() == expected["second"][0]
        _refusals(engine)
    assert all(getattr(layer, "adapter", None) is None for layer in little_model().sublayers())


def _refusals(engine: Engine) -> None:
    with pytest.raises(ValueError, match="no adapter 'third'; there are: first, second"):
        engine.submit(Request([1], adapter="third"))
    with pytest.raises(ValueError, match="room for 2"):
        engine.add_adapter("third", {})
    with pytest.raises(ValueError, match="already"):
        engine.add_adapter("second", {})
    engine.remove_adapter("second")
    with pytest.raises(ValueError, match="no projection"):
        engine.add_adapter("third", {"layers.7.attention.query": (paddle.zeros([32, 2]), paddle.zeros([2, 32]))})
    with pytest.raises(ValueError, match="rank of at most 4"):
        engine.add_adapter("third", {NAMES[0]: (paddle.zeros([32, 5]), paddle.zeros([5, 32]))})
    with pytest.raises(ValueError, match="takes factors"):
        engine.add_adapter("third", {NAMES[0]: (paddle.zeros([32, 2]), paddle.zeros([3, 32]))})


def test_adapters_of_an_mlp_that_sees_tokens_in_one_row() -> None:
    """The MLP beside experts is given all tokens of a step in one list; each must meet the adapter of its own row."""
    from proa.llm import Experts

    experts = Experts(4, 2, 16, (True, True), shared_intermediate_size=24, shared_gate=True)
    model = little_model(family="qwen2_moe", experts=experts)
    draw = np.random.default_rng(5)
    factors = {
        name: (draw.normal(size=(layer.in_features, 2)).astype("float32"),
               draw.normal(size=(2, layer.out_features)).astype("float32"))
        for name, layer in model.named_sublayers()
        if name in ("layers.0.mlp.shared.up", "layers.1.mlp.shared_gate")
    }  # fmt: skip
    assert len(factors) == 2
    asked, how = prompts(2, seed=4, longest=20), Sampling(max_tokens=6, ignore_end=True)
    models = {None: model, "tuned": _merged(factors, model)}
    expected = {name: [greedy(each, prompt, 6) for prompt in asked] for name, each in models.items()}
    assert expected["tuned"] != expected[None]
    with Engine(model, None, Options(rows=4, context=64, page_size=8, chunk=8, adapters=1, adapter_rank=2)) as engine:
        engine.add_adapter("tuned", factors)
        streams = {
            (name, number): engine.submit(Request(prompt, how, adapter=name))
            for number, prompt in enumerate(asked)
            for name in models
        }
        for (name, number), stream in streams.items():
            assert stream.tokens() == expected[name][number]
        with pytest.raises(ValueError, match="merge it into its model"):
            engine.add_adapter("head", {"head": (paddle.zeros([32, 2]), paddle.zeros([2, 32]))})
