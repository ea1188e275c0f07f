"""ATen operators beside torch: `python -m tests.convert.aten_operators [-k TEXT]`. Needs torch.

Every sample that torch's own tests have for an operator (float32; integers and booleans where it takes no floats) is traced
to ATen operators, those are translated, and both results are compared.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from proa.convert.torch import operators as operators
from proa.convert.torch.program import Input, Part, Program
from proa.convert.torch.reading import _described, _Reader, array_of
from proa.convert.torch.registry import find_reader
from proa.convert.torch.translation import TorchTranslation, is_covered
from proa.eager.tensor import tensor_from_data

MOST_SAMPLES = 6


def cases(pattern: str) -> Any:
    from torch.testing._internal.common_methods_invocations import op_db

    for operation in op_db:
        if pattern not in operation.name or "random" in operation.name or operation.name.startswith(("_", "masked.")):
            continue
        dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in operation.dtypes), None)
        if dtype is not None:
            yield operation, dtype


def traced(function: Any, tensors: list[Any]) -> Any:
    from torch._decomp import core_aten_decompositions

    table = {op: rule for op, rule in core_aten_decompositions().items() if find_reader(str(op)) is None}
    return make_fx(torch.func.functionalize(function), decomposition_table=table, tracing_mode="real")(*tensors)


def as_program(graph: Any, tensors: list[Any]) -> Program:
    reader = _Reader.__new__(_Reader)
    part: Part = reader.part(graph)
    inputs: list[Input] = [_described(name, tensor) for name, tensor in zip(part.arguments, tensors, strict=True)]
    return Program(inputs, {}, set(), {}, {}, part, [])


def check(operation: Any, sample: Any) -> str:
    """ "" if the results agree, "missing …" where an operator has no translator, or what differs."""
    leaves, form = torch.utils._pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def call(*given: Any) -> Any:
        rest = iter(given)
        filled = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        first, args, kwargs = torch.utils._pytree.tree_unflatten(filled, form)
        found = torch.utils._pytree.tree_leaves(operation(first, *args, **kwargs))
        return [one for one in found if isinstance(one, torch.Tensor)]

    try:
        wanted = call(*[tensor.clone() for tensor in tensors])
        program = as_program(traced(call, [tensor.detach().clone() for tensor in tensors]), tensors)
    except Exception:
        return "not traced"
    missing = sorted({node.target for node in program.part.all_nodes() if not is_covered(node.target)})
    if missing:
        return f"missing {', '.join(missing)}"
    translation = TorchTranslation(program, {})
    results = translation.run([tensor_from_data(array_of(tensor)) for tensor in tensors])
    for result, other in zip(results, wanted, strict=True):
        mine, theirs = np.asarray(result.numpy()), array_of(other)
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return f"{mine.dtype}{list(mine.shape)} for {theirs.dtype}{list(theirs.shape)}"
        if not np.allclose(mine, theirs, rtol=1e-3, atol=1e-4, equal_nan=True):
            return f"differs by {np.nanmax(np.abs(mine.astype('complex128') - theirs)):.2g}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", default="", help="only operators with this in their names")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    counts: collections.Counter[str] = collections.Counter()
    for operation, dtype in cases(arguments.k):
        torch.manual_seed(0)
        verdicts = []
        try:
            samples = list(operation.sample_inputs("cpu", dtype))[:MOST_SAMPLES]
        except Exception:
            continue
        for sample in samples:
            try:
                verdicts.append(check(operation, sample))
            except Exception as error:
                verdicts.append(f"{type(error).__name__}: {' '.join(str(error).split())[:140]}")
        tried = [verdict for verdict in verdicts if verdict != "not traced"]
        if not tried:
            counts["not traced"] += 1
            continue
        bad = [verdict for verdict in tried if verdict]
        kind = "agree" if not bad else "have no translator" if bad[0].startswith("missing") else "differ"
        counts[kind] += 1
        if bad:
            print(f"{operation.name}: {bad[0]} ({len(bad)} of {len(tried)})", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
