"""Estimates from shapes alone: floating-point operations, memory over time, families of operations."""

from __future__ import annotations

import math
from typing import Any

from ..core.aval import Aval
from ..ir.program import Instruction, Program

_FAMILIES: dict[str, tuple[str, ...]] = {
    "convolution": ("conv",),
    "product": ("matmul", "linear", "triple_product", "solve", "inverse", "cholesky", "qr", "svd", "eigh"),
    "attention": ("attention",),
    "recurrence": ("recurrence", "linear_recurrence"),
    "normalisation": ("normalise", "running_statistics", "softmax", "log_softmax"),
    "pooling": ("max_pool", "avg_pool", "adaptive_average", "window_max"),
    "reduction": ("sum", "mean", "max", "min", "prod", "argmax", "argmin", "all", "any", "logsumexp", "p_norm", "cumsum"),
    "movement": (
        "reshape", "transpose", "concat", "stack", "split", "unbind", "getitem", "setitem", "expand", "pad", "tile", "flip",
        "roll", "gather_nd", "index_get", "index_set", "take_along_axis", "embedding", "assign", "cast", "pick_along",
    ),
    "creation": ("full", "zeros", "ones", "arange", "eye", "linspace"),
    "random": ("uniform", "gaussian", "randint", "randperm", "bernoulli", "dropout_mask", "multinomial"),
    "control": ("cond", "while_loop"),
}  # fmt: skip
_FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names}
_FREE = ("movement", "creation", "random", "control")


def family_of(name: str) -> str:
    """The family of an operation: convolution, product … or element by element."""
    if name in _FAMILY_OF:
        return _FAMILY_OF[name]
    for prefix in ("conv", "attention", "normalise", "recurrence"):
        if name.startswith(prefix):
            return _FAMILY_OF.get(prefix, "convolution")
    return "element by element"


def bytes_of(aval: Aval) -> int:
    return aval.size * aval.dtype.itemsize


def operations_of(instruction: Instruction) -> int:
    """Floating-point operations of an instruction, a multiplication and an addition being two."""
    name = instruction.operation.name
    avals = [kind for kind in instruction.kinds if isinstance(kind, Aval)]
    out = instruction.outputs[0]
    family = family_of(name)
    if name == "conv":
        return 2 * out.size * math.prod(avals[1].shape[1:])
    if name == "linear":
        return 2 * out.size * avals[1].shape[0]
    if name == "matmul":
        x = avals[0].shape
        return 2 * out.size * (x[-2] if instruction.attributes[0] and len(x) > 1 else x[-1] if x else 1)
    if name == "attention":
        query, keys, values = avals[:3]
        batch, rows, heads, width = query.shape
        return 2 * batch * heads * rows * keys.shape[1] * (width + values.shape[3])
    if family == "pooling" and "kernel" in instruction.operation.attribute_names:
        return out.size * math.prod(instruction.attributes[instruction.operation.attribute_names.index("kernel")])
    if family in _FREE:
        return 0
    if family == "reduction":
        return avals[0].size if avals else 0
    return out.size * (8 if family == "normalisation" else 1)


def memory_timeline(program: Program) -> list[int]:
    """Bytes of intermediate values alive after each instruction, each freed after its last use."""
    sizes: dict[int, int] = {}
    alive = 0
    timeline: list[int] = []
    for instruction, ends in zip(program.instructions, program.last_uses(), strict=True):
        for offset, aval in enumerate(instruction.outputs):
            sizes[instruction.index + offset] = bytes_of(aval)
            alive += bytes_of(aval)
        timeline.append(alive)
        alive -= sum(sizes.get(number, 0) for number in ends)
    return timeline


def xla_costs(executable: Any) -> dict[str, float]:
    """What XLA itself says about a compiled program, as far as the backend says anything."""
    found: dict[str, float] = {}
    try:
        analysis = executable.cost_analysis() or {}
        analysis = analysis[0] if isinstance(analysis, list) else analysis
        for key, name in (("flops", "operations"), ("bytes accessed", "bytes moved")):
            if key in analysis:
                found[name] = float(analysis[key])
        memory = executable.memory_analysis()
        for key, name in (
            ("argument_size_in_bytes", "arguments"), ("output_size_in_bytes", "results"),
            ("temp_size_in_bytes", "temporary memory"), ("generated_code_size_in_bytes", "code"),
        ):  # fmt: skip
            if memory is not None and hasattr(memory, key):
                found[name] = float(getattr(memory, key))
    except (NotImplementedError, RuntimeError, AttributeError, TypeError):
        pass  # a backend that does not tell
    return found
