"""The whole idea of proa in one small file: run it with `python docs/tiny.py`.

It has the same parts under the same names as the real thing, each in its simplest form: an op table with kernels
written against an array namespace, a recorder that walks a trace tree, two tiers, a tape whose backward is again op
calls, liveness by reference count. It has no views, threads, devices, dtypes, dynamic scalars, donation or error
messages: for those, follow the names into the package.
"""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np

# ---- 1. The op table (proa/ir/operation.py) ----------------------------------------------------------------------------


class Operation:
    """A kernel `kernel(xp, *arrays)`, a shape rule, and a gradient `grad(g, inputs, out) -> gradients of the inputs`."""

    def __init__(self, kernel: Any, infer: Any, grad: Any) -> None:
        self.kernel, self.infer, self.grad = kernel, infer, grad


# ---- 2. The trace tree (proa/ir/trace.py) ------------------------------------------------------------------------------


class TraceNode(dict):
    """Everything ever recorded: an edge is a new input's shape or (operation, operand numbers)."""

    def __init__(self, parent: TraceNode | None, index: int) -> None:
        self.parent, self.index = parent, index  # index: the number of the value made here (or of the last one)
        self.instruction: tuple[Operation, tuple[int, ...]] | None = None
        self.shape: tuple[int, ...] = ()
        self.entries: dict[tuple[int, ...], Entry] = {}

    def instructions(self) -> list[tuple[Operation, tuple[int, ...]]]:
        found, node = [], self
        while node is not None:
            if node.instruction is not None:
                found.append(node.instruction)
            node = node.parent
        return found[::-1]


class Entry:
    """A path that ended here with certain values wanted: how often, and its executable once it is hot."""

    def __init__(self) -> None:
        self.count, self.executable = 0, None


ROOT = TraceNode(None, -1)


# ---- 3. Segments and tensors (proa/ir/recording/segment.py, running.py, eager/tensor.py) ------------------


class Segment:
    """Work recorded and not run yet."""

    def __init__(self) -> None:
        self.node = ROOT
        self.refs: list[Tensor] = []  # strong references, dropped at the flush
        self.inputs: list[np.ndarray] = []


class Tensor:
    """A handle to a value that exists (`value`) or is going to (`segment`, `index`)."""

    def __init__(self, value: Any = None, requires_grad: bool = False) -> None:
        self.value = value
        self.shape = () if value is None else value.shape
        self.segment: Segment | None = None
        self.index = 0
        self.requires_grad = requires_grad
        self.node: GradNode | None = None
        self.grad: Tensor | None = None

    def __add__(self, other: Tensor) -> Tensor:
        return record(ADD, self, other)

    def __mul__(self, other: Tensor) -> Tensor:
        return record(MULTIPLY, self, other)

    def __matmul__(self, other: Tensor) -> Tensor:
        return record(MATMUL, self, other)

    def numpy(self) -> np.ndarray:
        if self.value is None:
            flush()
        return np.asarray(self.value)


class State:
    """What is per thread in the real thing."""

    segment = Segment()
    recording_gradients = True


def record(operation: Operation, *tensors: Tensor) -> Tensor:
    """The hot path: one dictionary step where the code has been before (proa/eager/binder.py generates it for each op)."""
    segment = State.segment
    operands = tuple(t.index if t.segment is segment else new_input(segment, t) for t in tensors)
    node = segment.node.get((operation, operands))
    if node is None:
        node = segment.node[(operation, operands)] = TraceNode(segment.node, segment.node.index + 1)
        node.instruction = (operation, operands)
        node.shape = operation.infer(*[t.shape for t in tensors])
    segment.node = node
    out = Tensor()
    out.shape, out.segment, out.index = node.shape, segment, node.index
    segment.refs.append(out)
    if State.recording_gradients and any(t.requires_grad for t in tensors):
        out.requires_grad = True
        out.node = GradNode(operation, tensors)
    return out


def new_input(segment: Segment, tensor: Tensor) -> int:
    """A tensor that has its value becomes input number k of the segment, written as ~k."""
    segment.node = segment.node.setdefault(tensor.shape, None) or grow_input(segment.node, tensor.shape)
    segment.inputs.append(tensor.value)
    tensor.segment, tensor.index = segment, ~(len(segment.inputs) - 1)
    return tensor.index


def grow_input(parent: TraceNode, shape: tuple[int, ...]) -> TraceNode:
    parent[shape] = TraceNode(parent, parent.index)
    return parent[shape]


# ---- 4. Two tiers (proa/ir/tiers/interpreter.py, lowering.py) ---------------------------------------------


def run(xp: Any, instructions: list[Any], inputs: Any, wanted: tuple[int, ...]) -> list[Any]:
    """Tier 0 is this loop with NumPy; tier 1 is the same loop traced by XLA with jax.numpy."""
    values: list[Any] = []
    for operation, operands in instructions:
        values.append(operation.kernel(xp, *[values[i] if i >= 0 else inputs[~i] for i in operands]))
    return [values[i] for i in wanted]


def flush(hot: int = 3) -> None:
    segment, State.segment = State.segment, Segment()
    live = []
    while segment.refs:
        tensor = segment.refs.pop()  # newest first: a dead result takes its history with it
        if sys.getrefcount(tensor) > 2:  # somebody besides this name refers to it
            live.append(tensor)
    wanted = tuple(t.index for t in live)
    entry = segment.node.entries.setdefault(wanted, Entry())
    entry.count += 1
    if entry.executable is None and entry.count >= hot:
        import jax

        instructions = segment.node.instructions()
        entry.executable = jax.jit(lambda *inputs: run(jax.numpy, instructions, inputs, wanted))
        print(f"   (compiled {len(instructions)} operations)")
    if entry.executable is not None:
        results = entry.executable(*segment.inputs)
    else:
        results = run(np, segment.node.instructions(), segment.inputs, wanted)
    for tensor, value in zip(live, results, strict=True):
        tensor.value, tensor.segment = value, None


# ---- 5. Autograd (proa/eager/backward/tape.py, proa/eager/backward/engine.py) --------------------------------------------

next_sequence = itertools.count().__next__


class GradNode:
    """One call on the tape."""

    def __init__(self, operation: Operation, inputs: tuple[Tensor, ...]) -> None:
        self.operation, self.inputs, self.sequence = operation, inputs, next_sequence()


def backward(loss: Tensor) -> None:
    """Newest call first; gradients are recorded like any other work, so they land in the same executable."""
    State.recording_gradients = False
    grads: dict[Any, Tensor] = {loss.node: Tensor(np.ones(loss.shape, "float32"))}
    nodes, stack = {loss.node}, [loss.node]
    while stack:
        for t in stack.pop().inputs:
            if t.node is not None and t.node not in nodes:
                nodes.add(t.node)
                stack.append(t.node)
    for node in sorted(nodes, key=lambda n: -n.sequence):
        for tensor, grad in zip(node.inputs, node.operation.grad(grads.pop(node), node.inputs), strict=True):
            if not tensor.requires_grad:
                continue
            if tensor.node is None:
                tensor.grad = grad if tensor.grad is None else tensor.grad + grad
            else:
                before = grads.get(tensor.node)
                grads[tensor.node] = grad if before is None else before + grad
    State.recording_gradients = True


# ---- 6. A few operations (proa/ops) --------------------------------------------------------------------------------------

ADD = Operation(lambda xp, x, y: x + y, np.broadcast_shapes, lambda g, inputs: (g, g))
MULTIPLY = Operation(lambda xp, x, y: x * y, np.broadcast_shapes, lambda g, inputs: (g * inputs[1], g * inputs[0]))
TRANSPOSE = Operation(lambda xp, x: xp.transpose(x), lambda s: s[::-1], lambda g, inputs: (record(TRANSPOSE, g),))
MATMUL = Operation(
    lambda xp, x, y: xp.matmul(x, y),
    lambda a, b: (a[0], b[1]),
    lambda g, inputs: (g @ record(TRANSPOSE, inputs[1]), record(TRANSPOSE, inputs[0]) @ g),
)


# ---- 7. A training loop: plain eager code -------------------------------------------------------------------------------


def main() -> float:
    random = np.random.default_rng(0)
    x = Tensor(random.normal(size=(32, 4)).astype("float32"))
    target = Tensor(-(x.numpy() @ np.array([[1.0], [-2.0], [3.0], [0.5]], "float32")))
    weight = Tensor(np.zeros((4, 1), "float32"), requires_grad=True)
    rate = Tensor(np.full((4, 1), -0.01, "float32"))
    loss_value = 0.0
    for step in range(8 if "--quick" in sys.argv else 40):
        started = time.perf_counter()
        error = x @ weight + target
        backward(error * error)
        new_weight = weight + weight.grad * rate
        loss = error * error
        weight = Tensor(requires_grad=True)
        weight.shape, weight.segment, weight.index = new_weight.shape, new_weight.segment, new_weight.index
        State.segment.refs.append(weight)
        del new_weight, error
        loss_value = float(loss.numpy().mean())
        if step < 6 or step % 10 == 9:
            print(f"step {step}: loss {loss_value:.5f}, {(time.perf_counter() - started) * 1e3:.2f} ms")
    return loss_value


if __name__ == "__main__":
    final = main()
    assert final < 1.0, final
