"""Random functions of inputs with unknown sizes: eager = to_static = saved and loaded = the same file run by Paddle.

    python -m tests.graph.random_sizes --functions 2000 --paddle /path/to/a/python/that/has/paddlepaddle

A function has 2 or 3 inputs with 2 to 4 unknown axes. It slices, reshapes, computes with sizes, uses literals of every size
(also those that stand for unknown sizes in a capture) and asks for sizes. It grows statement by statement; one stays if
eager code can run it at all five sizes. The artifact of a function that asks refuses sizes that answer otherwise than those
of the capture, which counts as refused; Paddle's file of it goes both ways, or is refused as a whole where that is no graph.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.graph import graph as captured_graph
from proa.ir.sizes import bucketed
from proa.ir.sizes.dimensions import Known, UnknownSize
from proa.ir.tiers.interpreter import run_on_numpy
from proa.ir.tiers.lowering import CompiledProgram
from proa.jit import bucketing
from proa.static import InputSpec

NUM_SIZES = 5
_LARGEST = 4000  # elements of a tensor, so that a thousand functions take minutes
_LITERALS = ("2", "3", "7", "28", "64", "1000", "3360", "6720", "10080", "16800", "60000", "73680", "100000", "1031520")
_FLOATS = ("0.5", "1 / 3", "1 / 73680", "1 / 6720", "1 / 1031520", "6720.0", "2.5e-5", "1e-3")


class Function:
    """The source of a function while it grows, and what its variables are at each of the sizes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = f"function_{seed}"
        self.asks = False
        ranks = [self.random.choice((1, 2, 2, 3)) for _ in range(self.random.choice((2, 2, 3)))]
        axes = [(i, axis) for i, rank in enumerate(ranks) for axis in range(rank)]
        unknown = set(self.random.sample(axes, min(len(axes), self.random.choice((2, 3, 4)))))
        self.shapes = [
            [None if (i, axis) in unknown else self.random.choice((1, 2, 3, 4)) for axis in range(rank)]
            for i, rank in enumerate(ranks)
        ]
        self.arguments = [f"x{i}" for i in range(len(ranks))]
        # Some sizes are shared among inputs in all calls, as batches are.
        shared = self.random.random() < 0.6
        values = np.random.default_rng(seed)
        self.inputs: list[list[np.ndarray]] = []
        self.scopes: list[dict[str, Any]] = []
        for _ in range(NUM_SIZES):
            batch = self.random.randint(1, 7)
            arrays = [
                values.standard_normal(
                    [
                        (batch if shared and axis == 0 else self.random.randint(1, 9)) if n is None else n
                        for axis, n in enumerate(shape)
                    ]
                ).astype("float32")
                for shape in self.shapes
            ]
            self.inputs.append(arrays)
            tensors = {name: paddle.to_tensor(array) for name, array in zip(self.arguments, arrays, strict=True)}
            self.scopes.append({"paddle": paddle, **tensors})
        self.lines: list[str] = []
        self.tensors = list(self.arguments)
        self.numbers: list[str] = []
        for _ in range(self.random.randint(4, 9)):
            self.grow()
        self.results = self.random.sample(self.tensors[len(self.arguments) :] or self.tensors, 1) + self.tensors[-1:]

    @property
    def source(self) -> str:
        body = "\n".join(f"    {line}" for statement in self.lines for line in statement.split("\n"))
        return f"def {self.name}({', '.join(self.arguments)}):\n{body}\n    return {', '.join(self.results)}\n"

    # ---- growing -------------------------------------------------------------------------------------------------

    def grow(self) -> None:
        """Adds a statement that runs at every size; gives up after some attempts."""
        for _ in range(12):
            is_number = self.random.random() < 0.35
            target = f"n{len(self.numbers)}" if is_number else f"y{len(self.tensors)}"
            value = self.size() if is_number else self.tensor_value()
            statement = f"{target} = {value}"
            asks = False
            if not is_number and self.random.random() < 0.12 and (self.numbers or self.tensors):
                other = self.tensor_value()
                statement = f"if {self.question()}:\n    {target} = {value}\nelse:\n    {target} = {other}"
                asks = True
            if self.runs(statement, target):
                self.lines.append(statement)
                (self.numbers if is_number else self.tensors).append(target)
                self.asks |= asks
                return

    def runs(self, statement: str, target: str) -> bool:
        scopes = [dict(scope) for scope in self.scopes]
        try:
            for scope in scopes:
                exec(statement, scope)
                value = scope[target]
                if isinstance(value, paddle.Tensor):
                    array = value.numpy()
                    if not 0 < array.size <= _LARGEST or not np.isfinite(array).all() or np.abs(array).max() > 1e9:
                        return False
                elif not -50 <= value <= 300:
                    return False
        except Exception:  # does not fit at one of the sizes
            return False
        if len({scope[target].ndim for scope in scopes if isinstance(scope[target], paddle.Tensor)}) > 1:
            return False
        self.scopes = scopes
        return True

    def one(self) -> str:
        return self.random.choice(self.tensors)

    def rank(self, name: str) -> int:
        return len(self.scopes[0][name].shape)

    def dimension(self) -> str:
        name = self.one()
        return f"{name}.shape[{self.random.randrange(max(self.rank(name), 1))}]"

    def atom(self) -> str:
        if self.numbers and self.random.random() < 0.5:
            return self.random.choice(self.numbers)
        return self.dimension()

    def size(self) -> str:
        a, b, c = self.atom(), self.atom(), self.random.choice((1, 1, 2, 2, 3, 4))
        forms = (
            f"{a} + {c}", f"{a} - {c}", f"{a} * {c}", f"{a} // {c}", f"-(-{a} // {c})", f"{a} % {c + 1}", f"{a} + {b}",
            f"{a} * {b}", f"min({a}, {b})", f"max({a}, {c})", f"max({a} - {b}, {c})", f"{a} * {b} // {c}", a,
            f"({a} + {c}) // {c + 1} * {c}", f"int({a} / 2)", f"{a} - {b} + {c}",
        )  # fmt: skip
        return self.random.choice(forms)

    def question(self) -> str:
        a, b = self.atom(), self.atom()
        c = self.random.choice((1, 2, 3, 5))
        return self.random.choice((f"{a} > {c}", f"{a} == {b}", f"{a} % 2 == 0", f"{a} < {b}", f"{a} >= {b} + {c}"))

    def tensor_value(self) -> str:
        x, y = self.one(), self.one()
        rank = self.rank(x)
        axis = self.random.randrange(max(rank, 1))
        n, m, c = self.atom(), self.size(), self.random.randint(0, 3)
        literal, real = self.random.choice(_LITERALS), self.random.choice(_FLOATS)
        part = self.random.choice(
            (f":{m}", f"{c}:", f":-{c + 1}", f"{c}:{c + 3}", "::2", f"{m}:", f"-{c + 1}:", "::-1")
        )
        index = ", ".join([":"] * axis + [part])
        sizes = [f"{x}.shape[{i}]" for i in range(rank)]
        forms = [
            f"{x}[{index}]", f"{x}[{index}]", f"{x}[{', '.join([':'] * axis + [str(self.random.choice((0, -1)))])}]",
            f"{x} + {y}", f"{x} * {y}", f"{x} * ({real})", f"{x} + {literal}", f"{x} / {n}", f"{x} * (1.0 / {n})",
            f"{x} + {m}", f"{x}.reshape([-1])", f"{x}.reshape([-1, {m}])", f"{x}.reshape([{m}, -1])",
            f"{x}.reshape([{', '.join(reversed(sizes))}])", f"{x}.sum({axis})", f"{x}.mean({axis}, keepdim=True)",
            f"{x}.max({axis})", f"paddle.concat([{x}, {x}], {axis})", f"paddle.concat([{x}, {y}], {axis})",
            f"paddle.full([{m}, {n}], {real})", f"{x} + paddle.arange({n}).astype('float32')",
            f"paddle.arange({m}).astype('float32') * 0.5", f"{x}.sum() + paddle.full([{literal}], {real}).mean()",
            f"{x} * paddle.arange({literal}).astype('float32').mean() * 1e-6", f"paddle.tile({x}, [{c + 1}])",
            f"paddle.expand({x}, [{c + 1}, {', '.join(sizes)}])" if sizes else f"paddle.expand({x}, [{n}])",
            f"paddle.cumsum({x}, {axis})", f"paddle.nn.functional.softmax({x}, {axis})", f"{x}.unsqueeze({axis})",
            f"paddle.stack([{x}, {x} * 2], {axis})", f"paddle.roll({x}, {n}, {axis})", f"{x}.flatten()",
            f"paddle.zeros([paddle.shape({x})[{axis}], {m}]) + {n}", f"paddle.flip({x}, [{axis}])",
            f"{x}.reshape([paddle.shape({x})[0], -1])", f"paddle.matmul({x}, {y}, transpose_y=True)",
        ]  # fmt: skip
        if rank >= 2:
            order = list(range(rank))
            self.random.shuffle(order)
            forms += [
                f"{x}.transpose({order})", f"{x}.reshape([{sizes[0]} * {sizes[1]}{''.join(', ' + s for s in sizes[2:])}])",
                f"{x}.reshape([{sizes[0]}, -1])", f"{x}.flatten(0, 1).reshape([{', '.join(sizes)}])",
            ]  # fmt: skip
        return self.random.choice(forms)


# ---- comparing -----------------------------------------------------------------------------------------------------


def _load(folder: Path, functions: list[Function]) -> Any:
    """The functions as a module: what is converted needs a source."""
    path = folder / f"{functions[0].name}_and_others.py"  # another name for each, since sources are remembered
    path.write_text("import paddle_stand_in as paddle\n\n\n" + "\n\n".join(f.source for f in functions))
    sys.modules["paddle_stand_in"] = paddle  # type: ignore[assignment]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arrays(result: Any) -> list[np.ndarray]:
    return [tensor.numpy() for tensor in (result if isinstance(result, (list, tuple)) else [result])]


def _difference(found: list[np.ndarray], wanted: list[np.ndarray]) -> str | None:
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        if one.shape != other.shape:
            return f"result {number} is {list(one.shape)}, not {list(other.shape)}"
        if not np.allclose(one, other, rtol=2e-4, atol=1e-4):
            return f"result {number} differs by {np.abs(one - other).max()}"
    return None


class Report:
    def __init__(self) -> None:
        self.compared: dict[str, int] = {}
        self.refused: dict[str, int] = {}
        self.differences: list[str] = []

    def note(self, way: str, function: Function, problem: str | None) -> None:
        self.compared[way] = self.compared.get(way, 0) + 1
        if problem is not None:
            self.differences.append(f"{way}: {problem}\n{function.source}")

    def refuse(self, way: str) -> None:
        self.refused[way] = self.refused.get(way, 0) + 1


def check(function: Function, code: Any, folder: Path, report: Report) -> bool:
    """Compares one function in all ways but that by Paddle; whether its file is there for Paddle to run."""
    wanted = [_arrays(code(*map(paddle.to_tensor, arrays))) for arrays in function.inputs]
    specs = [InputSpec(shape, "float32", name) for shape, name in zip(function.shapes, function.arguments, strict=True)]
    static = paddle.jit.to_static(code, input_spec=specs, full_graph=True)
    with paddle.no_grad():
        for arrays, expected in zip(function.inputs, wanted, strict=True):
            report.note("to_static", function, _outcome(static, arrays, expected))
    path = folder / function.name
    try:
        paddle.jit.save(paddle.jit.to_static(code, input_spec=specs, full_graph=True), f"{path}.proa", input_spec=specs)
    except Exception as error:  # the sizes of the capture, which are large, take another way through the code
        report.refuse("artifact")
        if not function.asks:
            report.differences.append(f"artifact: {type(error).__name__}: {error}\n{function.source}")
        return False
    loaded = paddle.jit.load(f"{path}.proa")
    held: list[int] = []
    otherwise: list[int] = []  # sizes that go another way, which a file that is one graph holds as well
    beyond: list[int] = []  # sizes of which a function of ours said no: a file may raise there, and not be wrong
    for number, (arrays, expected) in enumerate(zip(function.inputs, wanted, strict=True)):
        try:
            report.note("artifact", function, _difference(_arrays(loaded(*map(paddle.to_tensor, arrays))), expected))
            held.append(number)
        except UnknownSize:  # the sizes answer otherwise than those of the capture
            report.refuse("artifact, a size")
            (otherwise if _asks(code, specs, arrays) else beyond).append(number)
        except Exception as error:  # whatever it is, it is a difference
            report.note("artifact", function, f"{type(error).__name__}: {error}")
    try:
        paddle.jit.save(paddle.jit.to_static(code, input_spec=specs, full_graph=True), str(path), input_spec=specs)
    except NotImplementedError as error:
        report.refuse("Paddle's files")
        # A wanted size of 0 keeps the axis: a reshape asks, too (that n - 4 is 0 reads `n == 4`).
        keeps = "reshape" in function.source and re.search(r"asks whether .* == \d+ \(", str(error))
        if not function.asks and not keeps:
            report.differences.append(f"Paddle's files: {type(error).__name__}: {error}\n{function.source}")
        return False
    loaded = paddle.jit.load(str(path))
    held += otherwise
    for number in held:
        report.note("Paddle's files", function, _outcome(loaded, function.inputs[number], wanted[number]))
    for number in beyond:
        outcome = _outcome(loaded, function.inputs[number], wanted[number])
        report.note("Paddle's files, beyond", function, outcome if outcome and outcome.startswith("result") else None)
    inputs = {f"in_{i}_{k}": a for i in held for k, a in enumerate(function.inputs[i])}
    outputs = {f"out_{i}_{k}": a for i in held for k, a in enumerate(wanted[i])}
    np.savez(f"{path}.npz", **inputs, **outputs)
    return bool(held)


def _asks(code: Any, specs: list[InputSpec], arrays: list[np.ndarray]) -> bool:
    """Whether it is the function alone that asks for what these sizes answer otherwise."""
    graph = paddle.jit.to_static(code, input_spec=specs, full_graph=True).concrete_program.graph
    known = Known()
    for given, array in zip(graph.inputs, arrays, strict=True):
        known.learn(given.aval, paddle.to_tensor(array)._aval, given.name)
    broken = [guard for guard in graph.assumptions.guards.values() if not guard.holds(known)]
    return all(guard.by_user for guard in broken)


def _outcome(call: Any, arrays: list[np.ndarray], expected: list[np.ndarray]) -> str | None:
    try:
        return _difference(_arrays(call(*map(paddle.to_tensor, arrays))), expected)
    except Exception as error:  # whatever it is, it is a difference
        return f"{type(error).__name__}: {error}"


_BY_PADDLE = """
import sys, numpy as np, paddle
for path in sys.stdin.read().split():
    data = np.load(path + ".npz")
    try:
        model = paddle.jit.load(path)
        for i in sorted({int(k.split("_")[1]) for k in data.files}):
            inputs = [paddle.to_tensor(data[k]) for k in sorted(data.files) if k.startswith(f"in_{i}_")]
            wanted = [data[k] for k in sorted(data.files) if k.startswith(f"out_{i}_")]
            found = model(*inputs)
            found = [t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])]
            for one, other in zip(found, wanted):
                if one.shape != other.shape or not np.allclose(one, other, rtol=2e-4, atol=1e-4):
                    print("DIFFERENT", path, i, one.shape, other.shape)
            print("SAME")
        print("DONE", path)
    except Exception as error:
        print("DIFFERENT", path, type(error).__name__, str(error)[-300:].replace(chr(10), " "))
"""


def by_paddle(python: str, paths: list[str], report: Report, functions: dict[str, Function]) -> None:
    done = subprocess.run(
        [python, "-c", _BY_PADDLE], input="\n".join(paths), capture_output=True, text=True,
        timeout=3600, env={**os.environ, "PYTHONPATH": ""}, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word == "SAME":
            report.compared["Paddle itself"] = report.compared.get("Paddle itself", 0) + 1
        elif word == "DIFFERENT":
            name = Path(rest.split(" ")[0]).name
            report.differences.append(f"Paddle itself: {rest}\n{functions[name].source}")
    if len(done.stdout.split("DONE")) + len(done.stdout.split("DIFFERENT")) - 2 < len(paths):
        report.differences.append(f"Paddle itself: ended early: {done.stderr[-1000:]}")


class _Interpreted:
    """Stands in for an executable: what is tested are sizes, and compiling each of them would take hours."""

    num_flags = 0
    seconds = 0.0

    def __init__(self, program: Any, *_rest: Any) -> None:
        self.program = program

    def __call__(self, inputs: list[Any], scalars: list[Any]) -> list[Any]:
        values = run_on_numpy(self.program, [np.asarray(value) for value in inputs], scalars)
        return [values[number] for number in self.program.outputs]


def run(count: int, first: int, python: str | None, progress: bool = False, compiled: bool = False) -> Report:
    if not compiled:
        for module in (captured_graph, bucketing, bucketed):
            module.CompiledProgram = _Interpreted  # type: ignore[attr-defined]
    try:
        return _run(count, first, python, progress)
    finally:
        for module in (captured_graph, bucketing, bucketed):
            module.CompiledProgram = CompiledProgram  # type: ignore[attr-defined]


def _run(count: int, first: int, python: str | None, progress: bool) -> Report:
    report, begun = Report(), time.time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for start in range(first, first + count, 100):
            functions = [Function(seed) for seed in range(start, min(start + 100, first + count))]
            module = _load(folder, functions)
            written = [f for f in functions if check(f, getattr(module, f.name), folder, report)]
            if python is not None:
                by_paddle(python, [str(folder / f.name) for f in written], report, {f.name: f for f in functions})
            if progress:
                print(f"{start + len(functions) - first} functions, {len(report.differences)} differences, "
                      f"{time.time() - begun:.0f} s", flush=True)  # fmt: skip
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first one")
    parser.add_argument("--paddle", default=os.environ.get("PROA_PARITY_PADDLE_PYTHON"), help="Paddle's interpreter")
    parser.add_argument("--compiled", action="store_true", help="compile every graph for every size")
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    options = parser.parse_args()
    report = run(options.functions, options.first, options.paddle, True, options.compiled)
    for text in report.differences[: options.show]:
        print(text)
    print(f"compared: {report.compared}\nrefused: {report.refused}\ndifferences: {len(report.differences)}")
    return 1 if report.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
