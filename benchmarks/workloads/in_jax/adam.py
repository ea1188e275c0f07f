"""Adam (or AdamW) by hand in JAX, with Paddle's precision: moments and arithmetic always in float32."""

from __future__ import annotations

from typing import Any

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def adam_state(jax: Any, parameters: Any) -> dict[str, Any]:
    """Zero moments beside each parameter and a step counter."""
    jnp = jax.numpy

    def zeros() -> Any:
        return jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), parameters)

    return {"first": zeros(), "second": zeros(), "count": jnp.zeros((), jnp.int32)}


def adam_update(
    jax: Any, parameters: Any, gradients: Any, state: dict[str, Any], learning_rate: float, decay: float = 0.0
) -> tuple[Any, dict[str, Any]]:
    """New parameters and new state; to be called inside a jitted step that donates both."""
    jnp = jax.numpy
    count = state["count"] + 1
    steps = count.astype(jnp.float32)
    correction_1 = 1.0 - BETA_1**steps
    correction_2 = 1.0 - BETA_2**steps
    first = jax.tree.map(lambda m, g: BETA_1 * m + (1.0 - BETA_1) * g.astype(jnp.float32), state["first"], gradients)
    second = jax.tree.map(
        lambda v, g: BETA_2 * v + (1.0 - BETA_2) * jnp.square(g.astype(jnp.float32)),
        state["second"],
        gradients,
    )

    def moved(parameter: Any, m: Any, v: Any) -> Any:
        change = learning_rate * (m / correction_1) / (jnp.sqrt(v / correction_2) + EPSILON)
        kept = parameter.astype(jnp.float32) * (1.0 - learning_rate * decay)
        return (kept - change).astype(parameter.dtype)

    parameters = jax.tree.map(moved, parameters, first, second)
    return parameters, {"first": first, "second": second, "count": count}
