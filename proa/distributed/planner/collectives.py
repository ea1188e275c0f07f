"""What devices exchange in a compiled program, read from XLA's text of it."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_SIZES = {"pred": 1, "s4": 1, "u4": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4,
          "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16}  # fmt: skip
_CALL = re.compile(rf"= (?P<type>\(?[^=]*?) (?P<kind>{'|'.join(KINDS)})(?P<start>-start)?\(")
_ARRAY = re.compile(r"\b([a-z]+[0-9]*)\[([0-9,]*)\]")
_COMMENT = re.compile(
    r"/\*.*?\*/"
)  # XLA numbers the members of long tuples, with a sign that ends a type: `/*index=5*/`
_LISTED = re.compile(r"replica_groups=\{\{([0-9,]+)\}")
_PAIRS = re.compile(r"source_target_pairs=\{((?:\{\d+,\d+\},?)+)\}")
_COUNTED = re.compile(r"replica_groups=\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?")
_NAMED = re.compile(r"replica_groups=mesh\[([^\]]*)\] \{([^}]*)\}")
_AXIS = re.compile(r"'([^']+)'(?:=(\d+))?(?::\((\d+)\)(\d+))?")
# What is no work of its own: names for parts of others, and data that is there.
_FREE = re.compile(r"= \(?[^=]*? (?:parameter|constant|get-tuple-element|tuple|bitcast|after-all)\(")


class Exchange(NamedTuple):
    """One collective: its kind, how many devices take part, how far apart they are numbered, the bytes of the whole, and how
    many tensors were put together."""

    kind: str
    members: int
    stride: int
    size: int
    tensors: int = 1


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def _along(mesh: str, axes: str) -> list[int]:
    """The first group along named axes of a mesh; `'a':(2)4` is the part of axis `a` of length 4, behind one of 2."""
    sizes = {name: int(size) for name, size, _, _ in _AXIS.findall(mesh)}
    steps, step = {}, 1
    for name in reversed(sizes):
        steps[name], step = step, step * sizes[name]
    members = np.zeros(1, int)
    for name, _, before, length in _AXIS.findall(axes):
        size = int(length or sizes[name])
        inner = sizes[name] // (int(before or 1) * size)
        members = (members[:, None] + np.arange(size) * inner * steps[name]).reshape(-1)
    return members.tolist()


def _members(line: str) -> list[int]:
    """The devices of the first group of a collective; of several that are sent from one to another, those farthest apart."""
    pairs = _PAIRS.search(line)
    if pairs is not None:
        numbers = [int(number) for number in re.findall(r"\d+", pairs[1])]
        farthest = max(zip(numbers[::2], numbers[1::2], strict=True), key=lambda pair: abs(pair[1] - pair[0]))
        return list(farthest) if farthest[0] != farthest[1] else []
    named = _NAMED.search(line)
    if named is not None:
        return _along(named[1], named[2])
    listed = _LISTED.search(line)
    if listed is not None:
        return _numbers(listed[1])
    counted = _COUNTED.search(line)
    if counted is None:
        return []
    numbers = np.arange(math.prod(_numbers(counted[2]))).reshape(_numbers(counted[2]))
    if counted[3]:
        numbers = numbers.transpose(_numbers(counted[3]))
    return numbers.reshape(_numbers(counted[1]))[0].tolist()


def exchanges(text: str) -> list[Exchange]:
    """All collectives of a compiled program; those that a single device would have with itself are left out."""
    found = []
    for line in _COMMENT.sub("", text).splitlines():
        call = _CALL.search(line)
        if call is None:
            continue
        members = _members(line)
        if len(members) < 2:
            continue
        sizes = [math.prod(_numbers(shape)) * _SIZES.get(dtype, 4) for dtype, shape in _ARRAY.findall(call["type"])]
        # The type of an asynchronous beginning names its operands as well as its results; the result is the larger.
        size = max(sizes, default=0) if call["start"] else sum(sizes)
        if call["kind"] == "reduce-scatter":
            size *= len(members)
        # Numbers are left out: the sums by which variants use their gradients up are among them.
        tensors = 1 if call["start"] else sum(bool(shape) for _, shape in _ARRAY.findall(call["type"]))
        found.append(Exchange(call["kind"], len(members), abs(members[1] - members[0]), size, max(1, tensors)))
    return found


def num_kernels(text: str) -> int:
    """How many things a compiled program does one after another."""
    begin = text.rfind("\nENTRY ")
    lines = _COMMENT.sub("", text[begin:].split("\n}", 1)[0]).splitlines()[2:]
    return sum(" = " in line and not _FREE.search(line) for line in lines)


def figures_of(compiled: Any) -> dict[str, Any]:
    """What XLA says of a compiled program, for each device: operations, bytes, memory, and what is exchanged."""
    cost = compiled.cost_analysis() or {}
    cost = cost[0] if isinstance(cost, list) else cost
    memory = compiled.memory_analysis()
    text = compiled.as_text()
    return {
        "flops": float(cost.get("flops", 0.0)), "bytes": float(cost.get("bytes accessed", 0.0)),
        "temporary": float(memory.temp_size_in_bytes), "arguments": float(memory.argument_size_in_bytes),
        "results": float(memory.output_size_in_bytes), "kernels": num_kernels(text),
        "exchanges": [tuple(one) for one in exchanges(text)],
    }  # fmt: skip
