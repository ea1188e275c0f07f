"""llama.cpp's arithmetic: the bits of its logits, which `llama_cpp_bits.py` got from it; and what is refused."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from proa.kernels.cpu import library
from proa.llm import CausalLM, Config, Rope, load
from proa.llm.engine import Engine, Options, Request, Sampling
from proa.llm.engine.choices import run_graph
from proa.llm.quantised import quantise

from .llama_cpp_bits import DECODED, KEPT, PROMPTS, small_file

needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return small_file(tmp_path_factory.mktemp("ggml") / "small.gguf")


class _Watched:
    """The logits of an engine's steps at the places where tokens were wanted."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[np.ndarray] = []

        def run(graph: Any, inputs: Any, name: str = "", checks: Any = None) -> Any:
            found = run_graph(graph, inputs, name, checks)
            self.rows.append(np.asarray(found[1]._data()).copy())
            return found

        monkeypatch.setattr("proa.llm.engine.steps.run_graph", run)


def _greedy(count: int) -> Sampling:
    return Sampling(max_tokens=count, temperature=0.0, ignore_end=True)


@needs_native
@pytest.mark.parametrize("chunk", [16, 128])
def test_logits_have_llama_cpp_s_bits(chunk: int, path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.array(json.loads(KEPT.read_text()), np.int32)
    options = Options(rows=1, context=128, chunk=chunk, prefixes=False, arithmetic="llama.cpp")
    with Engine(load(path, keep_quantised=True), None, options) as engine:
        watched = _Watched(engine, monkeypatch)
        for prompt, rows in zip(PROMPTS, expected, strict=True):
            watched.rows.clear()
            engine.submit(Request(list(prompt), _greedy(DECODED + 1))).tokens()
            found = np.concatenate(watched.rows)[-len(rows) :]
            np.testing.assert_array_equal(found.view(np.int32), rows)


def _chances(streams: list[Any]) -> list[list[Any]]:
    return [[(piece.token, np.float32(piece.logprob).view(np.int32)) for piece in stream] for stream in streams]


@needs_native
@pytest.mark.parametrize("arithmetic", [None, "llama.cpp"])
def test_company_changes_no_bit(arithmetic: str | None, path: pathlib.Path) -> None:
    """Also where the first tokens of a prompt are found in the cache; activations in 8 bits would amplify a last bit."""
    options = Options(rows=4, context=128, chunk=32, arithmetic=arithmetic)
    how = Sampling(max_tokens=12, temperature=0.0, ignore_end=True, logprobs=0)
    with Engine(load(path, keep_quantised=True), None, options) as engine:
        alone = [_chances([engine.submit(Request(list(prompt), how))])[0] for prompt in PROMPTS]
        together = _chances([engine.submit(Request(list(prompt), how)) for prompt in PROMPTS * 4])
        assert engine.statistics()["reused_tokens"] > 0
    assert together == alone * 4


@needs_native
def test_the_usual_arithmetic_is_near_but_other(path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(load(path, keep_quantised=True), None, Options(rows=1, context=128, prefixes=False)) as engine:
        watched = _Watched(engine, monkeypatch)
        engine.submit(Request(list(PROMPTS[1]), _greedy(1))).tokens()
    found, expected = watched.rows[-1][0], np.array(json.loads(KEPT.read_text())[1][0], np.int32).view(np.float32)
    assert not np.array_equal(found, expected)
    assert np.abs(found - expected).max() < 0.1 * expected.std()


def _floats(path: pathlib.Path) -> Any:
    return load(path)


def _another_grid(path: pathlib.Path) -> Any:
    return quantise(load(path), 4)


def _scaled(path: pathlib.Path) -> Any:
    model = load(path, keep_quantised=True)
    model.config = model.config.changed(rope=Rope(10000.0, 64, scaling="linear", factor=2.0))
    return model


def _other_family(path: pathlib.Path) -> Any:
    return CausalLM(Config("qwen2", vocab_size=96, hidden_size=64, layers=1, heads=1, intermediate_size=64))


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_floats, "Q4_1, Q5_0, Q5_1 and Q8_0"),
        (_another_grid, "Q4_1, Q5_0, Q5_1 and Q8_0"),
        (_scaled, "Llama's kind"),
        (_other_family, "Llama's kind"),
    ],
)
def test_models_that_llama_cpp_computes_otherwise_are_refused(make: Any, what: str, path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=what):
        Engine(make(path), None, Options(arithmetic="llama.cpp"))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"arithmetic": "ggml"}, "None or llama.cpp"),
        ({"arithmetic": "llama.cpp", "exact": True}, "no exact programs"),
        ({"arithmetic": "llama.cpp", "adapters": 1}, "no adapters"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Options(**options)


def test_its_cache_is_float16(path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="cache is float16"):
        Engine(load(path, keep_quantised=True), None, Options(arithmetic="llama.cpp", cache_dtype="float32"))
