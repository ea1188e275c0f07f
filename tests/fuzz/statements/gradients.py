"""Statements of automatic differentiation: losses, backward, paddle.grad, hooks, no_grad."""

from __future__ import annotations

from ..model import Variable
from ..scope import Scope
from .table import write_some

FORWARD_AREAS = frozenset(
    {
        "elementwise", "reduction", "matmul", "softmax", "shape", "indexing", "join", "split",
        "where", "loss", "in-place", "sorting", "control flow", "random", "rebinding",
        "convolution", "comparison", "deletion",
    }
)  # fmt: skip
SMOOTH_AREAS = frozenset({"elementwise", "matmul"})


def leaves_of(scope: Scope) -> list[Variable]:
    """The leaves in reach, each by one of its names."""
    found = {variable.storage: variable for variable in scope.variables if variable.leaf and variable.differentiable}
    return list(found.values())


def computed(scope: Scope) -> list[Variable]:
    return [variable for variable in scope.variables if variable.differentiable and not variable.leaf]


def finish_graph(scope: Scope) -> None:
    """After backward: no computed variable is differentiated again, and nothing is needed."""
    scope.forget(computed(scope))
    for variable in scope.variables:
        variable.storage.saved = False


def write_loss(scope: Scope, targets: list[Variable], name: str) -> None:
    """Write a scalar loss of the targets, weighted so that it stays within the limits."""
    terms: list[str] = []
    for target in targets:
        target.storage.saved = True
        # A long sum may cancel to little and keep the noise of its terms: take means of those.
        reduction = "mean" if target.size > 4 or scope.decide(0.4) else "sum"
        squared = scope.decide(0.2)
        slope = 2 * target.magnitude if squared else 1.0
        count = target.size if reduction == "sum" else 1
        weight = min(
            round(scope.chance.uniform(0.3, 0.9), 2),
            4 / max(target.gain * slope, 1e-9),
            4 / max(target.noise * slope * count, 1e-9),
        )
        text = f"({target.name} * {target.name})" if squared else target.name
        cast = ".astype('float32')" if target.dtype == "float64" else ""
        terms.append(f"{text}.{reduction}(){cast} * {weight:.2g}")
    if any(target.dtype == "float64" for target in targets):
        scope.mixed_precision = True
    scope.emit(f"{name} = {' + '.join(terms)}")


def record_gradients(scope: Scope) -> None:
    for leaf in leaves_of(scope):
        scope.record(f"{leaf.name}.grad")


def watchable(scope: Scope, variable: Variable) -> bool:
    """Whether to look at the gradient of a variable that is not a leaf.

    In Paddle the gradient of a view may share memory with that of its base, which is added to later.
    """
    if not variable.view:
        return True
    if scope.decide(0.9):
        return False
    scope.known.add("gradient of a view")
    return True


def add_hooks(scope: Scope) -> list[str]:
    """Put a hook on a computed variable or a leaf; returns the names of removable handles."""
    handles: list[str] = []
    target = scope.pick(lambda variable: variable.differentiable and watchable(scope, variable))
    if target is None:
        return handles
    scope.feature("hook")
    if scope.decide(0.5):
        text = f"lambda gradient: gradient * {round(scope.chance.uniform(0.3, 0.9), 2)}"
    else:
        name = scope.fresh("hook")
        with scope.block(f"def {name}(gradient):"):
            scope.record(name, "gradient")
            if scope.decide(0.5):
                scope.emit("return gradient * 0.5")
        text = name
    handle = scope.fresh("handle")
    scope.emit(f"{handle} = {target.name}.register_hook({text})")
    return [handle]


def backward(scope: Scope, targets: list[Variable], in_loop: bool = False) -> None:
    """Differentiate a loss of the targets in one of the ways a user would."""
    leaves = leaves_of(scope)
    handles = add_hooks(scope) if scope.decide(0.25) else []
    retained = scope.chance.choice(targets) if scope.decide(0.15) else None
    if retained is not None and not watchable(scope, retained):
        retained = None
    if retained is not None:
        scope.feature("retain_grads")
        scope.emit(f"{retained.name}.retain_grads()")
    loss = scope.fresh("loss")
    write_loss(scope, targets, loss)
    way = scope.chance.choice(("backward",) * 5 + ("grad", "grad", "retain_graph", "given"))
    scope.feature("gradient")
    if way == "grad" and retained is None:
        scope.feature("paddle.grad")
        wanted = scope.chance.sample(leaves, scope.chance.randint(1, len(leaves)))
        names = [leaf.name for leaf in wanted]
        gradients = scope.fresh("gradients")
        scope.emit(f"{gradients} = paddle.grad([{loss}], [{', '.join(names)}], allow_unused=True)")
        for position, name in enumerate(names):
            scope.record(f"d{name}", f"{gradients}[{position}]")
    elif way == "retain_graph" and all(target.repeatable for target in targets):
        scope.feature("retain_graph")
        scope.emit(f"{loss}.backward(retain_graph=True)")
        scope.emit(f"{loss}.backward()")
    elif way == "given":
        scope.emit(f"{loss}.backward(paddle.full([], 0.5, dtype={loss}.dtype))")
    else:
        scope.emit(f"{loss}.backward()")
    scope.record(loss)
    if retained is not None:
        scope.record(f"{retained.name}.grad")
    for handle in handles:
        if in_loop or scope.decide(0.5):
            scope.emit(f"{handle}.remove()")
    finish_graph(scope)


def second_order(scope: Scope) -> bool:
    """A gradient that is part of the next loss, over a short chain of smooth operations."""
    leaves = leaves_of(scope)
    if not leaves:
        return False
    reach = list(scope.variables)
    leaf = scope.chance.choice(leaves)
    others = [one for one in reach if one.is_float and not one.differentiable]
    scope.variables = [leaf, *others[:2]]
    write_some(scope, scope.chance.randint(1, 3), SMOOTH_AREAS)
    targets = [variable for variable in computed(scope) if variable.smooth and variable.depth <= 3]
    scope.variables = reach + [one for one in scope.variables if one not in reach]
    if not targets:
        return False
    scope.feature("gradient", "second order")
    target = targets[-1]
    loss, gradient, penalty = scope.fresh("loss"), scope.fresh("slope"), scope.fresh("penalty")
    squared = f"({target.name} * {target.name})"
    scope.emit(f"{loss} = {squared}.sum() * 0.2")
    scope.emit(f"({gradient},) = paddle.grad([{loss}], [{leaf.name}], create_graph=True)")
    scope.record(gradient)
    if scope.decide(0.6):
        scope.emit(f"{penalty} = ({gradient} * {gradient}).sum() * 0.1 + {loss}")
        scope.emit(f"{penalty}.backward()")
    else:
        other = scope.fresh("curvature")
        scope.emit(f"({other},) = paddle.grad([{gradient}.sum() * 0.3], [{leaf.name}], allow_unused=True)")
        scope.record(other)
    finish_graph(scope)
    return True


def after_gradients(scope: Scope) -> None:
    """What users do with gradients: look at them, clear them, step by them, use them."""
    leaves = leaves_of(scope)
    leaf = scope.chance.choice(leaves)
    record_gradients(scope)
    if scope.decide(0.5):
        scope.feature("manual update")
        test = f"if {leaf.name}.grad is not None:"
        with scope.block(test), scope.block("with paddle.no_grad():"):
            scope.emit(f"{leaf.name}.subtract_({leaf.name}.grad * 0.02)")
            scope.emit(f"{leaf.name}.clip_(-1.60037, 1.60043)")
        leaf.storage.magnitude = max(leaf.storage.magnitude, 1.61)
        leaf.storage.noise = max(leaf.storage.noise, 3.0)
        # Steps along an ever growing gradient would amplify rounding noise.
        scope.emit(f"{leaf.name}.clear_grad()")
        scope.feature("clear_grad")
    elif scope.decide(0.5):
        scope.feature("clear_grad")
        cleared = leaves if scope.decide(0.5) else [leaf]
        for one in cleared:
            scope.emit(f"{one.name}.clear_grad()")


def without_gradients(scope: Scope) -> None:
    """A no_grad block; its results stay in reach."""
    scope.feature("no_grad")
    with scope.block("with paddle.no_grad():", keep=True), scope.without("recording_gradients"):
        write_some(scope, scope.chance.randint(1, 3), FORWARD_AREAS - {"rebinding", "deletion"})


def through_view(scope: Scope) -> bool:
    """In-place change of one of two differentiable aliases, then a gradient of the other.

    Paddle ignores the change when it differentiates; only the modes are compared with each other.
    """
    leaf = scope.pick(lambda one: one.leaf and one.differentiable and one.rank > 0 and one.dtype == "float32")
    if leaf is None:
        return False
    scope.feature("gradient", "gradient through view")
    scope.known.add("gradient of shared memory")
    whole, part, loss = scope.fresh("whole"), scope.fresh("part"), scope.fresh("loss")
    scope.emit(f"{whole} = {leaf.name} * 0.8")
    scope.emit(f"{part} = {whole}[0]")
    changed = scope.chance.choice((whole, part))
    scope.emit(f"{changed}.scale_(0.7)")
    scope.emit(f"{loss} = {whole}.sum() * 0.5 + {part}.sum() * 0.3")
    scope.emit(f"{loss}.backward()")
    scope.record(f"{leaf.name}.grad")
    finish_graph(scope)
    return True
