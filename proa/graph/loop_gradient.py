"""A loop that runs until its test fails, with a gradient: XLA's own has none, since nobody knows how long it runs.

Forwards the rounds are counted. Backwards the loop runs once more and keeps its state at no more than `_CHECKPOINTS`
rounds; then, from the last round to the first, the state before a round is computed from the nearest one kept. Up to
that many rounds nothing is computed twice more; memory never depends on the number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_CHECKPOINTS = 64

State = tuple[Any, ...]


def differentiable_loop(
    test: Callable[[State, State], Any], body: Callable[[State, State], State],
    state: Sequence[Any], constants: Sequence[Any],
) -> State:  # fmt: skip
    """`while test(state, constants): state = body(state, constants)`, traced by JAX."""
    import jax

    @jax.custom_vjp
    def loop(state: State, constants: State) -> State:
        return jax.lax.while_loop(lambda s: test(s, constants), lambda s: body(s, constants), state)

    def forwards(state: State, constants: State) -> tuple[State, Any]:
        rounds, final = jax.lax.while_loop(
            lambda carry: test(carry[1], constants),
            lambda carry: (carry[0] + 1, body(carry[1], constants)),
            (np.int32(0), state),
        )
        return final, (rounds, state, constants)

    def backwards(kept: Any, grads: State) -> tuple[State, State]:
        rounds, state, constants = kept
        return _backwards(body, rounds, state, constants, grads)

    loop.defvjp(forwards, backwards)
    return loop(tuple(state), tuple(constants))


def _backwards(
    body: Callable[[State, State], State], rounds: Any, state: State, constants: State, grads: State
) -> tuple[State, State]:
    import jax
    import jax.numpy as jnp

    moving = [i for i, s in enumerate(state) if _carries_gradient(s)]
    fixed = [i for i, c in enumerate(constants) if _carries_gradient(c)]
    stride = jnp.maximum(1, -(-rounds // _CHECKPOINTS))

    def keep(number: Any, carry: Any) -> Any:
        current, buffers = carry
        slot = number // stride
        buffers = jax.lax.cond(
            number % stride == 0,
            lambda: tuple(b.at[slot].set(s) for b, s in zip(buffers, current, strict=True)),
            lambda: buffers,
        )
        return body(current, constants), buffers

    empty = tuple(jnp.zeros((_CHECKPOINTS, *jnp.shape(s)), jnp.result_type(s)) for s in state)
    _, buffers = jax.lax.fori_loop(0, rounds, keep, (state, empty))

    def step(done: Any, carry: Any) -> Any:
        grad_state, grad_constants = carry
        number = rounds - 1 - done
        slot = number // stride
        before = jax.lax.fori_loop(
            slot * stride, number, lambda _, s: body(s, constants), tuple(b[slot] for b in buffers)
        )

        def differentiable(variables: Sequence[Any], others: Sequence[Any]) -> Any:
            after = body(_replaced(before, moving, variables), _replaced(constants, fixed, others))
            return [after[i] for i in moving]

        _, pull = jax.vjp(differentiable, [before[i] for i in moving], [constants[i] for i in fixed])
        to_state, to_constants = pull(grad_state)
        return to_state, [a + b for a, b in zip(grad_constants, to_constants, strict=True)]

    first = ([grads[i] for i in moving], [jnp.zeros_like(constants[i]) for i in fixed])
    grad_state, grad_constants = jax.lax.fori_loop(0, rounds, step, first)
    return (
        _replaced([_no_gradient(s) for s in state], moving, grad_state),
        _replaced([_no_gradient(c) for c in constants], fixed, grad_constants),
    )


def _carries_gradient(array: Any) -> bool:
    import jax.numpy as jnp

    return bool(jnp.issubdtype(jnp.result_type(array), jnp.inexact))


def _no_gradient(array: Any) -> Any:
    """What JAX takes for the gradient of integers."""
    import jax

    return np.zeros(np.shape(array), jax.dtypes.float0)


def _replaced(values: Sequence[Any], positions: Sequence[int], news: Sequence[Any]) -> State:
    result = list(values)
    for position, new in zip(positions, news, strict=True):
        result[position] = new
    return tuple(result)
