"""How exact the native kernels are, beside XLA's own: `python -m tests.kernels.accuracy --cases 64`.

Results and gradients of random cases are compared with float64. The error of an output is its largest difference, relative
to the largest value of the reference; the table shows the worst and the geometric mean over the cases. A kernel passes when
its worst error is at most 1e-5 and its mean one is no worse than XLA's, where both are more than rounding to float32.
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from proa.kernels.cpu import library
from tests.kernels import random_shapes
from tests.kernels.cases import bfloat_cases
from tests.kernels.cases import references as r

LIMIT = 1e-5
ROUNDING = 4 * 2.0**-24  # a few roundings of the largest value
NOISE = 1.25  # so much do means over other random cases differ
_AT_ONCE = 8
# What the outputs of a kind of case are, where they have names.
_LAYER = ["result", "gradient of input", "gradient of weight"]
NAMES = {
    "product": ["product"],
    "linear": _LAYER,
    "norm": _LAYER,
    "pool": ["gradient of input", "result"],
    "rows": [
        "softmax", "gelu", "gelu, gradient", "gelu by tanh", "gelu by tanh, gradient", "silu", "silu, gradient",
    ],
    "attention": ["result", "gradient of query", "gradient of keys", "gradient of values"],
    "cross entropy": ["loss", "gradient of logits"],
    "embedding": ["gradient of table"],
}  # fmt: skip


def _kinds() -> dict[str, Callable[[np.random.Generator], Any]]:
    """Kinds of cases; layers that have code of their own for a form are a kind for each form."""
    found = dict(random_shapes.KINDS)
    for name in ("convolution", "transposed convolution", "recurrence", "depthwise", "fused depthwise"):
        found.pop(name, None)  # the last two call native code by name: as convolutions they are here below
    for name in bfloat_cases.CASES:
        found.pop(name)  # these as well; what XLA gives for their operands is another rounding
    for spatial in (1, 2, 3):
        found[f"conv{spatial}d"] = functools.partial(random_shapes.convolution, spatial=spatial, form="dense")
        found[f"conv{spatial}d transposed"] = functools.partial(random_shapes.transposed, spatial=spatial)
        for form in ("grouped", "depthwise"):
            found[f"conv{spatial}d {form}"] = functools.partial(random_shapes.convolution, spatial=spatial, form=form)
    NAMES.update({name: _LAYER for name in found if name.startswith("conv")})
    for layer in ("LSTM", "GRU", "RNN_TANH", "RNN_RELU"):
        found[layer] = functools.partial(random_shapes.recurrence, layer=layer)
    return found


KINDS = _kinds()


@dataclass
class Accuracy:
    """One output of a kind of case: the worst and the mean error of native code and of XLA."""

    kind: str
    output: str
    cases: int
    native: float
    xla: float
    native_mean: float
    xla_mean: float

    @property
    def passes(self) -> bool:
        return self.native <= LIMIT and self.native_mean <= max(ROUNDING, NOISE * self.xla_mean)


def errors_of(kind: str, seeds: range, native: bool) -> list[list[float]]:
    """The error of every output of every case."""
    cases = [KINDS[kind](np.random.default_rng(seed)) for seed in seeds]
    with r.native(native):
        found = iter(r.jitted(*random_shapes.as_one_program(cases)))
    return [[r.error_of(next(found), reference) for reference in expected] for _, _, expected in cases]


def measure(kind: str, cases: int, first: int = 0) -> list[Accuracy]:
    """The rows of the table for a kind of case."""
    both: dict[bool, list[list[float]]] = {True: [], False: []}
    for start in range(first, first + cases, _AT_ONCE):
        seeds = range(start, min(start + _AT_ONCE, first + cases))
        for native, errors in both.items():
            errors += errors_of(kind, seeds, native)
    names = NAMES.get(kind)
    if names is None:  # outputs differ in number and meaning from case to case: the worst of each case
        names = ["all"]
        both = {native: [[max(case)] for case in errors] for native, errors in both.items()}
    rows = []
    for place, name in enumerate(names):
        native, xla = (np.array([case[place] for case in both[on]]) for on in (True, False))
        means = [float(np.exp(np.log(np.maximum(e, 1e-9)).mean())) for e in (native, xla)]
        rows.append(Accuracy(kind, name, len(native), float(native.max()), float(xla.max()), *means))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=64, help="of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind of kernel")
    parser.add_argument("--json", type=pathlib.Path, help="a file to keep the table in")
    arguments = parser.parse_args()
    if library.why_not():
        print(f"There are no native kernels: {library.why_not()}")
        return 1
    random_shapes.let_small_work_be_native()
    print(f"{'kernel':24}{'output':24}{'cases':>6}{'native':>10}{'XLA':>10}{'mean':>10}{'XLA':>10}  verdict")
    table: list[Accuracy] = []
    for kind in [arguments.only] if arguments.only else list(KINDS):
        for row in measure(kind, arguments.cases, arguments.seed):
            table.append(row)
            shown = "".join(f"{e:10.1e}" for e in (row.native, row.xla, row.native_mean, row.xla_mean))
            print(
                f"{kind:24}{row.output:24}{row.cases:6}{shown}  {'passes' if row.passes else 'NOT PASSED'}", flush=True
            )
    if arguments.json:
        rows: list[dict[str, Any]] = [{**asdict(row), "passes": row.passes} for row in table]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.passes for row in table) else 1


if __name__ == "__main__":
    sys.exit(main())
