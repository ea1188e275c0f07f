"""The programs of steps: the pools are written where they lie, and no more shapes are compiled than are promised."""

import re

import numpy as np
import pytest

from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.engine.steps import Shape

from .little import little_model, prompts


@pytest.mark.parametrize("rows", [1, 4])
def test_a_step_copies_no_pool(rows: int) -> None:
    with Engine(little_model(), None, Options(rows=rows, context=96, page_size=8, chunk=16)) as engine:
        streams = [engine.submit(Request(p, Sampling(max_tokens=6, ignore_end=True))) for p in prompts(rows, seed=1)]
        for stream in streams:
            stream.tokens()
        before = [pool._data().unsafe_buffer_pointer() for pool in engine.steps.pools]
        engine.submit(Request([1, 2], Sampling(max_tokens=4, ignore_end=True))).tokens()
        assert [pool._data().unsafe_buffer_pointer() for pool in engine.steps.pools] == before
        shape = ",".join(map(str, engine.steps.pools[0]._aval.shape))
        for graph in engine.steps._graphs.values():
            for compiled, *_ in graph.optimised()._compiled.values():
                text = compiled.executable.as_text()
                assert not re.search(rf"f32\[{shape}\]\S* copy\(", text)
                assert "input_output_alias" in text


def test_only_the_promised_shapes_are_compiled() -> None:
    options = Options(rows=3, context=96, page_size=4, chunk=16, widening=2)
    with Engine(little_model(), None, options) as engine:
        promised = set(engine.rounds.shapes())
        for stream in [engine.submit(Request(p, Sampling(max_tokens=9))) for p in prompts(9, seed=4, longest=80)]:
            stream.tokens()
        used = set(engine.steps.shapes)
        assert used <= promised
        assert len({shape.width for shape in used}) > 1


def test_a_bad_token_is_an_error_where_the_step_is_read_not_where_it_is_started() -> None:
    model = little_model()
    with Engine(model, None, Options(rows=1, context=96)) as engine:
        shape = Shape(1, 1, engine.widths[0], 1)
        started = engine.steps.start(shape, {"ids": np.array([[model.config.vocab_size]], np.int32)})
        with pytest.raises(IndexError, match="embedding"):
            started.read()
        assert engine.steps.start(shape, {"ids": np.array([[1]], np.int32)}).read().tokens.shape == (1,)
