"""Larger parts of a program: loops, functions that are called in loops, training."""

from __future__ import annotations

from .model import ROUNDING, Scalar, Storage, Variable
from .scope import Scope
from .statements import gradients
from .statements.gradients import FORWARD_AREAS
from .statements.table import write_some

# The bounds that a tensor which a loop changes in place has at the start of each repetition.
STATE_MAGNITUDE = 2.0
STATE_NOISE = 3.0

LOOP_AREAS = FORWARD_AREAS | {"integer", "cast", "caught error"}


def record_some(scope: Scope, count: int) -> None:
    known = [variable for variable in scope.variables if variable.depth > 0]
    for variable in scope.chance.sample(known, min(count, len(known))):
        scope.record(variable.name)


def enter_loop(scope: Scope, may_have_states: bool) -> tuple[list[Variable], list[Storage]]:
    """Choose what the loop may change in place; everything else in reach is frozen meanwhile."""
    states: list[Variable] = []
    if may_have_states:
        found = [
            variable
            for variable in scope.variables
            if variable.is_float
            and variable.whole
            and not variable.storage.saved
            and not variable.storage.frozen
            and not any(one.differentiable for one in variable.storage.variables)
        ]
        states = scope.chance.sample(found, min(2, len(found)))
    kept = {state.storage for state in states}
    frozen: list[Storage] = []
    for variable in scope.variables:
        storage = variable.storage
        storage.outer = True
        if storage in kept:
            storage.magnitude = max(storage.magnitude, STATE_MAGNITUDE)
            storage.noise = max(storage.noise, STATE_NOISE)
        elif not storage.frozen:
            storage.frozen = True
            frozen.append(storage)
    return states, frozen


def settle_states(scope: Scope, states: list[Variable], before: dict[Storage, tuple]) -> None:
    """Bring the states back to the bounds that they had when the repetition began."""
    for state in states:
        storage = state.storage
        magnitude, noise = before[storage]
        if storage.magnitude <= magnitude and storage.noise <= noise:
            storage.magnitude, storage.noise = magnitude, noise
            continue
        factor = min(magnitude / max(storage.magnitude, 1e-9), (noise - ROUNDING) / max(storage.noise, 1e-9))
        if factor > 0.05:
            scope.emit(f"{state.name}.scale_({factor * 0.95:.2g})")
        else:
            scope.emit(f"{state.name}.fill_(0.37)")
        storage.magnitude, storage.noise = magnitude, noise


def leave_loop(scope: Scope, frozen: list[Storage]) -> None:
    for storage in frozen:
        storage.frozen = False
    for variable in scope.variables:
        variable.storage.outer = False


def changing_scalar(scope: Scope, counter: str, repetitions: int) -> None:
    """A Python number that has another value in each repetition."""
    name = scope.fresh("rate")
    if scope.decide(0.5):
        scope.emit(f"{name} = 0.3 + 0.11 * {counter}")
    else:
        values = [round(scope.chance.uniform(-1.1, 1.1), 2) for _ in range(repetitions)]
        scope.emit(f"{name} = {values}[{counter}]")
    scope.scalars.append(Scalar(name, 1.1, ROUNDING))


def repetitions_for(scope: Scope) -> int:
    if scope.decide(0.55):
        scope.feature("hot loop")
        return scope.chance.randint(4, 8)
    return scope.chance.randint(2, 3)


def body_of(scope: Scope, count: int, with_backward: bool, states: list[Variable]) -> None:
    """The statements that are repeated."""
    before = {state.storage: (state.magnitude, state.noise) for state in states}
    write_some(scope, count, LOOP_AREAS)
    if with_backward:
        targets = gradients.computed(scope)
        if targets:
            chosen = scope.chance.sample(targets, min(len(targets), scope.chance.randint(1, 2)))
            gradients.backward(scope, chosen, in_loop=True)
            gradients.after_gradients(scope)
        gradients.finish_graph(scope)
    settle_states(scope, states, before)


def loop(scope: Scope, with_gradients: bool) -> None:
    """A loop whose body stands in the loop itself, perhaps with a value carried around."""
    scope.feature("loop")
    repetitions = repetitions_for(scope)
    with_backward = with_gradients and bool(gradients.leaves_of(scope)) and scope.decide(0.7)
    if with_backward:
        gradients.finish_graph(scope)
    has_graph = any(variable.differentiable for variable in scope.variables)
    carried = carry_start(scope) if scope.decide(0.35) and not with_backward else None
    states, frozen = enter_loop(scope, with_backward or not has_graph)
    counter, kept = scope.fresh("step"), None
    if repetitions > 3 and scope.decide(0.5):
        scope.feature("kept for later")
        kept = scope.fresh("kept")
        scope.emit(f"{kept} = []")
    with scope.block(f"for {counter} in range({repetitions}):", keep=not with_backward):
        changing_scalar(scope, counter, repetitions)
        body_of(scope, scope.chance.randint(3, 7), with_backward, states)
        if kept:
            keep_for_later(scope, kept, f"{counter} > {repetitions // 2}", carried, states)
        if carried is not None:
            carry_on(scope, carried)
        record_some(scope, 1)
    if kept:
        with scope.block(f"for value in {kept}:"):
            scope.record(kept, "value")
    leave_loop(scope, frozen)


def keep_for_later(scope: Scope, kept: str, late: str, carried: Variable | None, states: list[Variable]) -> None:
    """Hold on to a tensor in late repetitions only.

    What was compiled by then has not met this reference: memory that it took to be free is not,
    and it has one more result to give.
    """
    with scope.block(f"if {late}:"):
        local = [variable for variable in scope.variables if variable.depth > 0 and not variable.storage.outer]
        # References alone leave the recorded operations as they were, copies add to them.
        if scope.decide(0.7):
            if carried is not None:
                scope.emit(f"{kept}.append({carried.name})")
            if local and (carried is None or scope.decide(0.3)):
                scope.emit(f"{kept}.append({scope.chance.choice(local).name})")
        else:
            for one in states + local[:1]:
                scope.emit(f"{kept}.append({one.name}.detach().clone())")


def carry_start(scope: Scope) -> Variable | None:
    """A name that each repetition binds anew from its old value."""
    source = scope.pick_float(lambda variable: variable.depth < 4)
    if source is None:
        return None
    scope.feature("carried value")
    name = scope.fresh("carried")
    scope.emit(f"{name} = {source.name} * 0.5")
    storage = Storage(STATE_MAGNITUDE, STATE_NOISE, frozen=True)
    return scope.bind_derived(name, source, storage, gain=2.0, steps=2, repeatable=False)


def carry_on(scope: Scope, carried: Variable) -> None:
    """Bind the carried name anew so that all its bounds hold again."""
    other = scope.pick_float(
        lambda variable: (
            variable.shape == carried.shape
            and variable.dtype == carried.dtype
            and variable is not carried
            and (carried.differentiable or not variable.differentiable)
        )
    )
    if other is None:
        scope.emit(f"{carried.name} = {carried.name} * 0.7 + 0.2")
        return
    share = min(
        0.4,
        1.0 / max(other.magnitude, 1e-9),
        1.2 / max(other.noise, 1e-9),
        1.0 / max(other.gain, 1e-9),
    )
    form = "paddle.tanh({0} * 0.4 + {1} * {2:.2g})" if scope.decide(0.4) else "{0} * 0.4 + {1} * {2:.2g}"
    scope.emit(f"{carried.name} = " + form.format(carried.name, other.name, share))
    if carried.differentiable:
        other.storage.saved = True


def repeated_function(scope: Scope, with_gradients: bool) -> None:
    """A function of a few arguments that is called in a loop, and once more afterwards."""
    scope.feature("loop", "function")
    repetitions = repetitions_for(scope)
    with_backward = with_gradients and bool(gradients.leaves_of(scope))
    if with_backward:
        gradients.finish_graph(scope)
    has_graph = any(variable.differentiable for variable in scope.variables)
    outer = list(scope.variables)
    count = min(len(outer), scope.chance.randint(1, 3))
    arguments = scope.chance.sample(outer, count)
    leaves = gradients.leaves_of(scope)
    if leaves and not any(argument in leaves for argument in arguments):
        arguments.append(scope.chance.choice(leaves))
    states, frozen = enter_loop(scope, with_backward or not has_graph)
    names = [f"argument{position}" for position in range(len(arguments))]
    function, rate, kept = scope.fresh("function"), "rate", None
    if repetitions > 3 and scope.decide(0.4):
        scope.feature("kept for later")
        kept = scope.fresh("kept")
        scope.emit(f"{kept} = []")
    scope.variables = []
    inner = [
        Variable(
            name, one.shape, one.dtype, one.storage, contiguous=one.contiguous, whole=one.whole,
            differentiable=one.differentiable, leaf=one.leaf, smooth=one.smooth,
            repeatable=one.repeatable, gain=one.gain, depth=one.depth,
        )
        for name, one in zip(names, arguments, strict=True)
    ]  # fmt: skip
    scalars, indices = scope.scalars, scope.indices
    scope.scalars, scope.indices = [Scalar(rate, 1.1, ROUNDING)], []
    result: Variable | None = None
    with scope.block(f"def {function}({', '.join(names)}, {rate}):", keep=True):
        for variable in inner:
            scope.bind(variable)
        local_states = [
            variable
            for variable, one in zip(inner, arguments, strict=True)
            if any(state.storage is one.storage for state in states) and variable.whole
        ]
        body_of(scope, scope.chance.randint(3, 8), with_backward, local_states)
        results = [variable for variable in scope.variables if variable not in inner and not variable.storage.outer]
        computed = [variable for variable in results if variable.depth > 0]
        result = scope.chance.choice(computed or results or inner)
        if kept and computed:
            # Other local tensors die when the function returns, but for this one in late calls.
            with scope.block(f"if {rate} > {0.25 + 0.1 * (repetitions // 2 + 1):.2f}:"):
                scope.emit(f"{kept}.append({scope.chance.choice(computed).name})")
        scope.emit(f"return {result.name}")
    scope.forget(scope.variables)
    scope.variables = outer
    scope.scalars, scope.indices = scalars, indices
    counter, name = scope.fresh("step"), scope.fresh("returned")
    call = f"{function}({', '.join(one.name for one in arguments)}, {{0}})"
    with scope.block(f"for {counter} in range({repetitions}):"):
        scope.emit(f"{name} = {call.format(f'0.3 + 0.1 * {counter}')}")
        if scope.decide(0.7):
            scope.record(name)
    if scope.decide(0.3):
        scope.emit(f"{name} = {call.format('-0.45')}")
    if kept:
        with scope.block(f"for value in {kept}:"):
            scope.record(kept, "value")
    leave_loop(scope, frozen)
    result.name = name
    result.storage.variables.append(result)
    scope.bind(result)


def training(scope: Scope) -> None:
    """A layer with fixed starting values and an optimiser."""
    scope.feature("training", "loop", "gradient")
    inputs, outputs = scope.chance.choice(scope.dimensions), scope.chance.choice(scope.dimensions)
    weight = scope.literal((inputs, outputs), low=-0.8, high=0.8, prefix="weight")
    bias = scope.literal((outputs,), low=-0.5, high=0.5, prefix="bias")
    rows = scope.chance.randint(1, 4)
    batch = scope.literal((rows, inputs), prefix="batch")
    target = scope.literal((rows, outputs), prefix="target")
    scope.emit(f"layer = paddle.nn.Linear({inputs}, {outputs})")
    scope.emit(f"layer.weight.set_value({weight.name})")
    scope.emit(f"layer.bias.set_value({bias.name})")
    # A large epsilon keeps Adam from blowing up the rounding noise of gradients near zero, and
    # 1 - beta would lose digits for a beta near one.
    adam = "Adam(learning_rate={0}, beta1=0.7, beta2=0.8, epsilon=0.2, "
    optimizer = scope.chance.choice(("SGD(learning_rate={0}, ", adam))
    scope.emit(
        "optimizer = paddle.optimizer."
        + optimizer.format(scope.chance.choice((0.02, 0.05, 0.1)))
        + "parameters=layer.parameters())"
    )
    activation = scope.chance.choice(("F.relu({0} + 0.01371)", "paddle.tanh({0})", "{0}"))
    with scope.block(f"for {scope.fresh('step')} in range({repetitions_for(scope)}):"):
        scope.emit(f"output = {activation.format(f'layer({batch.name})')}")
        scope.emit(f"loss = F.mse_loss(output, {target.name})")
        scope.emit("loss.backward()")
        scope.emit("optimizer.step()")
        if scope.decide(0.8):
            scope.emit("optimizer.clear_grad()")
        scope.record("loss")
    scope.record("layer.weight")
    scope.record("layer.bias")
