"""Statements that change a tensor in place, directly or through a view of it."""

from __future__ import annotations

from ..model import (
    APPROXIMATION,
    GAIN_LIMIT,
    MAGNITUDE_LIMIT,
    NOISE_LIMIT,
    ROUNDING,
    Variable,
    broadcasts_into,
)
from ..scope import Scope
from .indexing import basic_index, index_tensor
from .shaping import view_of
from .table import statement


def may_change(scope: Scope, variable: Variable) -> bool:
    """Whether Paddle defines what an in-place operation on this variable means.

    Gradients through an in-place operation on one of several aliases are not defined by Paddle;
    values that an unfinished gradient needs must not change; leaves change under no_grad alone.
    """
    if variable.storage.saved or variable.storage.frozen or not variable.is_float:
        return False
    aliases = [one for one in variable.storage.variables if one in scope.variables]
    if any(one.differentiable for one in aliases):
        if not scope.recording_gradients or variable.leaf or len(aliases) > 1:
            return False
        return not variable.storage.outer
    return True


def pick_target(scope: Scope, rank: int = 0) -> Variable | None:
    """Half the time one that shares its memory, so that the change shows up elsewhere."""
    shared = scope.pick(
        lambda variable: may_change(scope, variable) and len(variable.storage.variables) > 1 and variable.rank >= rank
    )
    if shared is not None and scope.decide(0.5):
        return shared
    return scope.pick(lambda variable: may_change(scope, variable) and variable.rank >= rank)


def pick_value(scope: Scope, target: Variable, shape: tuple[int, ...]) -> Variable | None:
    """A tensor that can be put into `target` without making more aliases differentiable."""
    lonely = (
        len(target.storage.variables) == 1
        and not target.storage.outer
        and scope.recording_gradients
        and target.differentiable
    )
    return scope.pick_float(
        lambda variable: (
            variable.storage is not target.storage
            and variable.dtype == target.dtype
            and broadcasts_into(variable.shape, shape)
            and (lonely or not variable.differentiable or not scope.recording_gradients)
        )
    )


def changed(scope: Scope, target: Variable, magnitude: float, noise: float, gain: float, kink: bool = False) -> None:
    """Take note of new bounds; where they are exceeded, shrink the tensor in place."""
    aliases = [one for one in target.storage.variables if one in scope.variables]
    if len(aliases) > 1:
        scope.feature("in-place on alias")
        if not target.whole:
            scope.feature("in-place on view")
    storage = target.storage
    factor = min(
        1.0, MAGNITUDE_LIMIT / max(magnitude, 1e-9), NOISE_LIMIT / max(noise, 1e-9),
        GAIN_LIMIT / max(gain, 1e-9),
    )  # fmt: skip
    if factor < 1.0:
        factor = float(f"{factor:.2g}")
        scope.emit(f"{target.name}.scale_({factor})")
        magnitude, gain = magnitude * factor, gain * factor
        noise = noise * factor + ROUNDING * magnitude
    if target.whole:
        storage.magnitude, storage.noise = magnitude, noise
    else:
        storage.magnitude = max(storage.magnitude, magnitude)
        storage.noise = max(storage.noise, noise)
    target.gain = gain
    target.smooth = target.smooth and not kink and not target.differentiable
    target.depth += 1


@statement("in-place", 4)
def arithmetic(scope: Scope) -> bool:
    target = pick_target(scope)
    if target is None:
        return False
    value = pick_value(scope, target, target.shape)
    if value is None:
        return False
    recorded = scope.recording_gradients and (target.differentiable or value.differentiable)
    operation = scope.chance.choice(("add_", "subtract_", "multiply_", "add_"))
    if recorded and value.differentiable:
        operation = "add_"  # the gradient of multiply_ would need the values it has overwritten
    scope.emit(f"{target.name}.{operation}({value.name})")
    repeat = max(1, target.size // max(1, value.size))
    if operation == "multiply_":
        magnitude = target.magnitude * value.magnitude
        noise = target.noise * value.magnitude + value.noise * target.magnitude
        gain = target.gain * value.magnitude + value.gain * repeat * target.magnitude
    else:
        magnitude = target.magnitude + value.magnitude
        noise = target.noise + value.noise
        gain = target.gain + value.gain * repeat
    if recorded:
        value.storage.saved = True
        target.repeatable = target.repeatable and value.repeatable
    scope.feature(operation)
    changed(scope, target, magnitude, noise + ROUNDING * magnitude, gain if recorded else 0.0)
    return True


@statement("in-place", 3)
def with_scalar(scope: Scope) -> bool:
    target = pick_target(scope)
    if target is None:
        return False
    scalar = scope.scalar(1.2)
    operation = scope.chance.choice(("scale_", "clip_", "zero_", "fill_", "tanh_"))
    magnitude, noise, gain = target.magnitude, target.noise, target.gain
    if operation == "scale_":
        scope.emit(f"{target.name}.scale_({scalar.text})")
        noise = noise * scalar.magnitude + magnitude * scalar.noise
        magnitude, gain = magnitude * scalar.magnitude, gain * scalar.magnitude
        noise += ROUNDING * magnitude
    elif operation == "clip_":
        scope.emit(f"{target.name}.clip_({-scope.odd(0.4, 1.5)}, {scope.odd(0.4, 1.5)})")
        magnitude = min(magnitude, 1.6)
    elif operation == "tanh_":
        if target.differentiable and (noise + APPROXIMATION > NOISE_LIMIT or gain > GAIN_LIMIT):
            return False  # shrinking the result in place would spoil what its gradient needs
        scope.emit(f"{target.name}.tanh_()")
        magnitude, noise = min(1.0, magnitude), noise + APPROXIMATION
        target.storage.saved = target.differentiable
    elif target.differentiable:
        return False  # the gradient of a constant is of little use here
    elif operation == "zero_":
        scope.emit(f"{target.name}.zero_()")
        magnitude, noise = 0.0, 0.0
    else:
        scope.emit(f"{target.name}.fill_({scalar.text})")
        magnitude, noise = scalar.magnitude, scalar.noise + ROUNDING
    scope.feature(operation)
    changed(scope, target, magnitude, noise, gain, kink=operation == "clip_")
    return True


@statement("in-place", 3)
def assigned_item(scope: Scope) -> bool:
    target = pick_target(scope, rank=1)
    if target is None:
        return False
    index = basic_index(scope, target, with_none=False)
    scope.feature("setitem")
    magnitude, noise, gain = target.magnitude, target.noise, target.gain
    value = pick_value(scope, target, index.shape)
    # Paddle fails at the gradient of some that broadcast, and takes no notice of no_grad.
    sound = value is None or (value.shape == index.shape and scope.recording_gradients)
    if value is not None and value.differentiable and not sound:
        value = None
    if value is not None and scope.decide(0.6):
        symbol = scope.chance.choice(("=", "=", "+=")) if not target.differentiable else "="
        scope.emit(f"{target.name}[{index.text}] {symbol} {value.name}")
        recorded = scope.recording_gradients and (target.differentiable or value.differentiable)
        if recorded:
            value.storage.saved = True
            target.repeatable = target.repeatable and value.repeatable
            gain += value.gain
        added = (magnitude, noise + ROUNDING * magnitude) if symbol == "+=" else (0.0, 0.0)
        magnitude = max(magnitude, value.magnitude + added[0])
        noise = max(noise, value.noise + added[1])
    else:
        scalar = scope.scalar()
        scope.emit(f"{target.name}[{index.text}] = {scalar.text}")
        magnitude = max(magnitude, scalar.magnitude)
        noise = max(noise, scalar.noise + ROUNDING)
    changed(scope, target, magnitude, noise, gain, kink=True)
    return True


@statement("in-place", 1)
def assigned_by_tensor(scope: Scope) -> bool:
    target = pick_target(scope, rank=1)
    if target is None or target.differentiable:
        return False
    if scope.decide(0.5):
        scope.feature("masked setitem")
        scalar = scope.scalar()
        scope.emit(f"{target.name}[{target.name} > {scope.odd(-0.6, 0.6)}] = {scalar.text}")
        magnitude, noise = scalar.magnitude, scalar.noise + ROUNDING
    else:
        if not target.contiguous:
            if scope.decide(0.7):
                return False
            scope.known.add("subscript by tensor of a view")
        index, length = index_tensor(scope, target.shape[0], unique=True)
        value = scope.literal((length, *target.shape[1:]), target.dtype)
        scope.emit(f"{target.name}[{index}] = {value.name}")
        magnitude, noise = value.magnitude, 0.0
    scope.feature("setitem")
    magnitude, noise = max(magnitude, target.magnitude), max(noise, target.noise)
    changed(scope, target, magnitude, noise, target.gain)
    return True


@statement("in-place", 4)
def through_alias(scope: Scope) -> bool:
    """A view, then a change of the view or of its base, then a value that both go into."""
    base = pick_target(scope, rank=1)
    if base is None or base.differentiable or not scope.may_view:
        return False
    if scope.decide(0.6):
        index = basic_index(scope, base)
        view = scope.alias(f"{base.name}[{index.text}]", base, index.shape,
                           contiguous=index.contiguous, whole=index.whole)  # fmt: skip
        scope.feature("view", "slice view")
    else:
        view = view_of(scope, base)
    if view is None or view.storage.frozen:
        return False
    target = scope.chance.choice((view, view, base))
    scope.feature("in-place on view" if target is view else "in-place on base of view")
    value = pick_value(scope, target, target.shape)
    scalar = scope.scalar(1.2)
    magnitude, noise = target.magnitude, target.noise
    if value is not None and scope.decide(0.5):
        operation = scope.chance.choice(("add_", "subtract_"))
        scope.emit(f"{target.name}.{operation}({value.name})")
        magnitude, noise = magnitude + value.magnitude, noise + value.noise
    elif scope.decide(0.5):
        scope.emit(f"{target.name}.scale_({scalar.text})")
        noise = noise * scalar.magnitude + magnitude * scalar.noise
        magnitude *= scalar.magnitude
    else:
        # Paddle's setitem takes no tensor without dimensions.
        form = "{0}[...] = {1}" if target.rank else "{0}.fill_({1})"
        scope.emit(form.format(target.name, scalar.text))
        magnitude, noise = scalar.magnitude, scalar.noise
    changed(scope, target, magnitude, noise + ROUNDING * magnitude, 0.0)
    return bool(
        scope.assign(
            f"{base.name}.sum() * 0.1 + {view.name}.mean()", (), [base], dtype=base.dtype,
            magnitude=base.magnitude * (1 + 0.1 * base.size),
            noise=(base.noise + ROUNDING * base.magnitude) * (1 + 0.1 * base.size), smooth=False,
        )
    )  # fmt: skip


@statement("rebinding", 1)
def augmented(scope: Scope) -> bool:
    """`x += y` binds the name anew in Paddle; aliases of the old tensor keep their values."""
    target = scope.pick_float(lambda variable: not variable.storage.outer and not variable.leaf)
    if target is None:
        return False
    scalar = scope.scalar()
    symbol = scope.chance.choice(("+", "*"))
    scope.emit(f"{target.name} {symbol}= {scalar.text}")
    last = scope.lines.pop()
    if symbol == "+":
        magnitude, noise = target.magnitude + scalar.magnitude, target.noise + scalar.noise
        gain = target.gain
    else:
        magnitude = target.magnitude * scalar.magnitude
        noise = target.noise * scalar.magnitude + scalar.noise * target.magnitude
        gain = target.gain * scalar.magnitude
    position = len(scope.lines)
    result = scope.assign(
        f"{target.name} {symbol} {scalar.text}", target.shape, [target], dtype=target.dtype,
        magnitude=magnitude, noise=noise + ROUNDING * magnitude, gain=gain, saves=False,
        rebind=target,
    )  # fmt: skip
    if result is None:
        return False
    if scope.lines[position].endswith(f"{symbol} {scalar.text}"):  # not shrunk: write it short
        scope.lines[position] = last
    return True
