"""Programs with several threads, which share inputs and hand over tensors.

What is handed over has not been computed yet in the self-compiling mode. Nothing here depends on
which thread is faster: a tensor is changed in place by one thread only, none draws random numbers,
and one thread alone adds to the gradient of a shared leaf.
"""

from __future__ import annotations

from .model import NOISE_LIMIT, Storage, Variable
from .scope import Scope
from .sections import changing_scalar, enter_loop, leave_loop, record_some
from .statements import gradients
from .statements.table import write_some

THREAD_AREAS = frozenset(
    {"elementwise", "reduction", "matmul", "shape", "indexing", "join", "split", "where",
     "softmax", "comparison", "integer", "in-place", "control flow"}
)  # fmt: skip


def threads(scope: Scope, with_gradients: bool) -> None:
    """Two or three threads; the first hands a tensor to each of the others and is done with it."""
    scope.feature("threads")
    gradients.finish_graph(scope)
    shared = list(scope.variables)
    receivers = scope.chance.randint(1, 2)
    scope.emit("from queue import Queue")
    scope.emit(f"channels, handed_back = [Queue() for _ in range({receivers})], {{}}")
    for variable in shared:
        variable.storage.frozen = True
    back: dict[str, Variable] = {}
    sent = sender(scope, shared, receivers, back)
    for number in range(receivers):
        receiver(scope, shared, sent[number], number, with_gradients, back)
    names = ["sender", *(f"receiver{number}" for number in range(receivers))]
    scope.emit(f"run_threads({', '.join(names)})")
    scope.label = ""
    scope.variables = shared
    for variable in shared:
        variable.storage.frozen = False
    # Results of threads that have ended by now, perhaps not computed yet.
    for name, one in back.items():
        variable = Variable(
            scope.fresh("back"), one.shape, one.dtype, Storage(one.magnitude, one.noise),
            smooth=False, depth=one.depth,
        )  # fmt: skip
        scope.emit(f"{variable.name} = handed_back['{name}'].detach()")
        scope.bind(variable)
    write_some(scope, 2, THREAD_AREAS)


def hand_back(scope: Scope, shared: list[Variable], name: str, back: dict[str, Variable]) -> None:
    """Leave a result for the thread that started this one."""
    found = [one for one in scope.variables if one not in shared and one.is_float]
    if not found:
        return
    back[name] = scope.chance.choice(found)
    scope.emit(f"handed_back['{name}'] = {back[name].name}")


def sender(scope: Scope, shared: list[Variable], receivers: int, back: dict[str, Variable]) -> list[list[Variable]]:
    sent: list[list[Variable]] = [[] for _ in range(receivers)]
    scope.label = "sender "
    with scope.block("def sender():"):
        repetitions = scope.chance.randint(1, 4)
        if repetitions > 1:
            write_repeated(scope, repetitions)
        write_some(scope, scope.chance.randint(3, 5), THREAD_AREAS)
        found = [
            variable
            for variable in scope.variables
            if variable not in shared and variable.is_float and not variable.storage.frozen
        ]
        for number in range(receivers):
            # A storage goes to one receiver only, and the sender is done with it.
            free = [one for one in found if all(one.storage is not x.storage for y in sent for x in y)]
            variable = (
                scope.chance.choice(free)
                if free
                else scope.assign(f"{shared[0].name} * 0.5", shared[0].shape, [shared[0]],
                                  dtype=shared[0].dtype, magnitude=shared[0].magnitude,
                                  noise=1.0, gain=shared[0].gain, smooth=False)
            )  # fmt: skip
            assert variable is not None
            sent[number].append(variable)
            scope.emit(f"channels[{number}].put({variable.name})")
        handed = [one for group in sent for one in group]
        for variable in [one for one in scope.variables if one not in shared]:
            if any(variable.storage is one.storage for one in handed):
                scope.variables.remove(variable)
        write_some(scope, 2, THREAD_AREAS)
        own_gradient(scope, shared)
        record_some(scope, 1)
        hand_back(scope, shared, "sender", back)
    return sent


def write_repeated(scope: Scope, repetitions: int) -> None:
    """A short loop inside a thread."""
    counter = scope.fresh("step")
    states, frozen = enter_loop(scope, False)
    with scope.block(f"for {counter} in range({repetitions}):", keep=True):
        changing_scalar(scope, counter, repetitions)
        write_some(scope, 3, THREAD_AREAS - {"control flow"})
        record_some(scope, 1)
    leave_loop(scope, frozen)
    assert not states


def receiver(
    scope: Scope,
    shared: list[Variable],
    sent: list[Variable],
    number: int,
    with_gradients: bool,
    back: dict[str, Variable],
) -> None:
    scope.label = f"receiver{number} "
    with scope.block(f"def receiver{number}():"):
        for original in sent:
            name = scope.fresh("received")
            scope.emit(f"{name} = channels[{number}].get(timeout=20)")
            scope.bind(
                Variable(
                    name, original.shape, original.dtype,
                    Storage(original.magnitude, min(NOISE_LIMIT, original.noise),
                            saved=original.storage.saved),
                    contiguous=original.contiguous, differentiable=original.differentiable,
                    leaf=original.leaf, smooth=False, repeatable=False, gain=original.gain,
                    depth=original.depth,
                )
            )  # fmt: skip
        write_some(scope, scope.chance.randint(3, 6), THREAD_AREAS)
        record_some(scope, 2)
        own_gradient(scope, shared)
        hand_back(scope, shared, f"receiver{number}", back)
        # One thread alone differentiates what reaches the shared leaves: which of two threads
        # adds to a leaf's gradient first would be a matter of luck.
        targets = gradients.computed(scope)
        leaves = gradients.leaves_of(scope)
        if number == 0 and with_gradients and targets and leaves:
            scope.feature("gradient in thread")
            gradients.write_loss(scope, targets[-1:], "loss")
            scope.emit("loss.backward()")
            for leaf in leaves:
                scope.record(f"{leaf.name}.grad")


def own_gradient(scope: Scope, shared: list[Variable]) -> None:
    """A gradient of a leaf that belongs to this thread, while others take theirs."""
    factor = scope.chance.choice(shared)
    if not factor.is_float or scope.decide(0.5):
        return
    scope.feature("gradient in thread")
    own = scope.literal(factor.shape, factor.dtype, leaf=True, prefix="own")
    scope.emit(f"paddle.tanh({own.name} * {factor.name}.detach()).sum().backward()")
    scope.record(f"{own.name}.grad")
    scope.forget([own])
