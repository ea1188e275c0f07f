"""ONNX's own tests of single operators, through the importer: `python -m tests.convert.node_tests [-k TEXT] [--list]`.

The cases and their expected results come with the package `onnx`. They are counted by the types of their inputs and
results: "numbers" are float, int and bool tensors (and sequences of them); the others have strings, eight-bit floats,
numbers of four bits and fewer, or need a library (pictures).
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import os
import sys
import time
import warnings
from typing import Any

import numpy as np

# What comes out of these is drawn anew at each run, so that the recorded results say nothing about it.
RANDOM = ("bernoulli", "randomnormal", "randomuniform", "multinomial", "training_dropout")


@functools.cache
def _all_cases() -> tuple[Any, ...]:
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        return tuple(collect_testcases(None))


def collect(pattern: str = "") -> list[Any]:
    """The cases of the installed package; making them takes seconds, once."""
    return [case for case in _all_cases() if pattern in case.name]


def kind_of(case: Any) -> str:
    """ "numbers", or what else the case is about."""
    domains = {node.domain for node in case.model.graph.node} - {"", "ai.onnx"}
    if domains:
        return "other domain"
    if "image_decoder" in case.name:
        return "pictures"
    numbers = set()
    for info in (*case.model.graph.input, *case.model.graph.output):
        kind = info.type
        while not kind.HasField("tensor_type"):
            name = kind.WhichOneof("value")
            if name not in ("sequence_type", "optional_type"):
                return "other"
            kind = getattr(kind, name).elem_type
        numbers.add(kind.tensor_type.elem_type)
    # Casts from and to small types may pass them only inside.
    words = ("FLOAT8", "E8M0", "UINT4", "INT4", "FLOAT4", "UINT2", "INT2", "float8", "_e4m3", "_e5m2", "int4", "int2")
    if 8 in numbers or "string" in case.name.lower():
        return "strings"
    if any(number > 16 for number in numbers) or any(word in case.name for word in words):
        return "small types"
    return "numbers"


def run_case(case: Any, compiled: bool = False) -> None:
    """Raises where results differ from those of the case.

    The model is captured as a Graph, and the graph is replayed operation by operation: compiling nearly two thousand
    programs takes most of an hour. With `compiled` that is what happens.
    """
    from proa.convert import from_onnx

    layer = from_onnx(case.model)
    for inputs, expected in case.data_sets:
        given = [_given(value) for value in inputs]
        results = layer(*given) if compiled else _replayed(layer, given)
        results = results if len(layer.output_names) > 1 else [results]
        assert len(results) == len(expected), f"{len(results)} results, {len(expected)} expected"
        if not any(word in case.name for word in RANDOM):
            for result, wanted in zip(results, expected, strict=True):
                compare(result, wanted, case.rtol, case.atol)


def _replayed(layer: Any, given: list[Any]) -> Any:
    from proa.graph.replay import replay
    from proa.jit import eager_mode

    tensors = layer._tensors(given, {})
    graph = layer._graph_for(tensors)
    with eager_mode("immediate"):  # whatever of it an earlier case has made hot
        return layer._results(layer._run(tensors) if graph is None else replay(graph, tensors))


def _given(value: Any) -> Any:
    if hasattr(value, "SerializeToString"):
        import onnx.numpy_helper

        return onnx.numpy_helper.to_array(value)
    return [_given(part) for part in value] if isinstance(value, list) else value


def compare(result: Any, wanted: Any, rtol: float, atol: float) -> None:
    if isinstance(wanted, list):
        assert isinstance(result, list), f"{result!r:.80} for a sequence"
        assert len(result) == len(wanted), f"{len(result)} in a sequence, expected {len(wanted)}"
        for part, other in zip(result, wanted, strict=True):
            compare(part, other, rtol, atol)
        return
    if wanted is None:
        return
    wanted = np.asarray(_given(wanted))
    array = np.asarray(result.numpy())
    assert array.shape == wanted.shape, f"shape {array.shape}, expected {wanted.shape}"
    assert array.dtype == wanted.dtype, f"type {array.dtype}, expected {wanted.dtype}"
    if wanted.dtype.kind in "fcV":
        kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(array.astype(kind), wanted.astype(kind), rtol=rtol, atol=atol)
    else:
        np.testing.assert_array_equal(array, wanted)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", default="", help="only cases with this in their names")
    parser.add_argument("--list", action="store_true", help="print every case that fails")
    parser.add_argument("--compiled", action="store_true", help="compile every model")
    arguments = parser.parse_args()
    started = time.time()
    passed: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    for case in collect(arguments.k):
        kind = kind_of(case)
        total[kind] += 1
        try:
            run_case(case, arguments.compiled)
        except Exception as error:
            text = " ".join(str(error).split())
            if kind == "numbers":
                reasons[f"{type(error).__name__}: {text[:100]}"] += 1
            if arguments.list:
                print(f"FAILED {kind}: {case.name}: {type(error).__name__}: {text[:300]}")
        else:
            passed[kind] += 1
    for kind in sorted(total):
        print(f"{kind}: {passed[kind]} of {total[kind]} passed ({passed[kind] / total[kind]:.1%})")
    for reason, count in reasons.most_common():
        print(f"  {count:4d}  {reason}")
    print(f"{time.time() - started:.0f} s")
    return 0 if passed["numbers"] >= 0.9 * total["numbers"] else 1


if __name__ == "__main__":
    sys.exit(main())
