"""`proa verify`: does a saved model still give what it gave when it was saved?

For a `.proa` artifact the recorded test vectors are replayed. Files of Paddle hold no vectors: they are read, checked and
run once on made-up inputs, so that the verdict says whether they load and run here, not whether the numbers are right.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass, field

from ..core.errors import value_error
from ..eager.tensor import tensor_from_data
from .problems import told


@dataclass
class Result:
    """The verdict on one file."""

    path: str
    kind: str = ""
    good: bool = False
    seconds: float = 0.0
    lines: list[str] = field(default_factory=list)


def run(arguments: argparse.Namespace) -> int:
    results = [verify(path, arguments.tolerance) for path in arguments.models]
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=2))
    else:
        for result in results:
            print(
                f"{result.path}: {'good' if result.good else 'BAD'} ({result.kind or 'unknown'}, {result.seconds:.2f} s)"
            )
            for line in result.lines:
                print(f"  {line}")
    return 0 if all(result.good for result in results) else 1


def verify(path: str, tolerance: float | None = None) -> Result:
    """The verdict on one model; what goes wrong is part of it."""
    result = Result(path)
    started = time.perf_counter()
    try:
        own = path if path.endswith(".proa") else path + ".proa"
        has_paddle = any(os.path.isfile(path + ending) for ending in ("", ".json", ".pdmodel")) or os.path.isdir(path)
        if path.endswith(".proa") or (os.path.isfile(own) and not has_paddle):
            _verify_own(own, result, tolerance)
        else:
            _verify_paddle(path, result)
    except (ValueError, TypeError, OSError, NotImplementedError, RuntimeError, MemoryError) as error:
        result.good = False
        result.lines.append(f"{type(error).__name__}: {told(error)}")
    result.seconds = time.perf_counter() - started
    return result


def _verify_own(path: str, result: Result, tolerance: float | None) -> None:
    from ..formats.proa import load_artifact
    from ..formats.proa.tests import replay

    result.kind = "proa artifact"
    artifact = load_artifact(path)
    result.lines.append(f"version {artifact.meta.get('version')}, written by proa {artifact.meta.get('proa')}")
    count, good = 0, True
    for title, method in artifact.methods.items():
        for verdict in replay(method.graph, title, method.tests, tolerance):
            count += 1
            good &= verdict.good
            result.lines.append(f"{title}, test {verdict.number}: {'good' if verdict.good else 'BAD'}; {verdict.text}")
    result.lines += [str(note) for note in artifact.meta.get("notes") or []]
    if not count:
        result.lines.append("no test vectors: the file is whole, its results were not compared")
    result.good = good


def _verify_paddle(path: str, result: Result) -> None:
    import numpy as np

    from ..formats.paddle.files.reading import read_model
    from ..formats.paddle.reading import LoadedModel

    if path.endswith(".onnx"):
        raise value_error(
            "proa verify", "a .proa file or Paddle's files", repr(path),
            "turn it into one with proa convert, which compares the two",
        )  # fmt: skip
    result.kind = "Paddle model"
    model = read_model(path)
    loaded = LoadedModel(model, name=os.path.basename(path))
    count = sum(array.size for array in model.parameters.values())
    result.lines.append(f"{len(model.block.ops)} operations, {len(model.parameters)} parameters with {count:,} numbers")
    generator = np.random.default_rng(0)
    problem = ""
    for unknown in (2, 8, 32, 64, 224):
        inputs = []
        for value in model.inputs:
            sizes = [unknown if size < 0 else size for size in value.shape or ()]
            array = generator.standard_normal(sizes) if "float" in value.dtype else generator.integers(0, 2, sizes)
            inputs.append(tensor_from_data(np.asarray(array).astype(value.dtype)))
        try:
            outputs = loaded.run(inputs)
        except (ValueError, TypeError, IndexError, RuntimeError) as error:
            problem = problem or str(error)[:300]
            if not any(size < 0 for value in model.inputs for size in value.shape or ()):
                break
            continue
        for value, tensor in zip(model.outputs, outputs, strict=True):
            array = np.asarray(tensor._data())
            finite = array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
            result.lines.append(f"{value.name}: {tensor._aval}, {'finite' if finite else 'with NaN or infinity'}")
        result.lines.append("runs on made-up inputs; Paddle's files hold no test vectors to compare with")
        result.good = True
        return
    result.lines.append(f"loads, but does not run on made-up inputs: {problem}")
