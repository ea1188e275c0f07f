"""Kernels in Pallas, interpreted: against the operations' plain forms. On a GPU Triton compiles them (marker `gpu`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.ir.xla import started_jax
from proa.kernels.gpu.blocks import few_rows
from proa.kernels.gpu.pages import single_queries
from proa.llm.quantised import rounded_to
from proa.ops.generation.pages import paged_attention
from proa.ops.quantised import blocks as block_operations

RANDOM = np.random.default_rng(0)
ATTENTION = paged_attention.operation.kernel


def attention_case(rows: int, heads: int, kv_heads: int, size: int, width: int, dtype: str = "float32") -> list[Any]:
    jnp = started_jax().numpy
    pages = rows * width + 1
    query = RANDOM.normal(size=(rows, 1, heads, size))
    pools = [RANDOM.normal(size=(pages, 16, kv_heads, size)) for _ in range(2)]
    tables = 1 + RANDOM.permutation(rows * width).reshape(rows, width)
    positions = RANDOM.integers(0, width * 16, (rows, 1))
    return [*(jnp.asarray(a, dtype) for a in (query, *pools)), *(jnp.asarray(a, np.int32) for a in (tables, positions))]


@pytest.mark.parametrize(
    ("heads", "kv_heads", "size", "width", "window", "cap", "has_sinks"),
    [
        (4, 4, 16, 20, None, 0.0, True),
        (6, 2, 32, 20, 100, 5.0, False),
    ],
)
def test_single_queries_attend_to_pages(
    heads: int, kv_heads: int, size: int, width: int, window: int | None, cap: float, has_sinks: bool
) -> None:
    jnp = started_jax().numpy
    given = attention_case(3, heads, kv_heads, size, width)
    sinks = jnp.asarray(RANDOM.normal(size=heads), np.float32) if has_sinks else None
    options = (sinks, None, None, 0.3, window, cap)
    found = single_queries(ATTENTION, interpret=True)(jnp, *given, *options)
    np.testing.assert_allclose(found, ATTENTION(jnp, *given, *options), rtol=1e-5, atol=2e-6)


def test_what_the_kernel_is_not_made_for_is_left_alone() -> None:
    jnp = started_jax().numpy
    given = attention_case(2, 4, 4, 24, 2)  # heads of 24 are no tile
    calls: list[int] = []

    def otherwise(*_arguments: Any) -> Any:
        calls.append(1)

    single_queries(otherwise, interpret=True)(jnp, *given)
    assert calls


@pytest.mark.parametrize(
    ("outputs", "inputs", "bits", "group", "rows"),
    [(40, 100, 4, 32, 3), (64, 256, 8, 128, 1), (32, 96, 4, 32, 12)],
)
def test_few_rows_times_blocks(outputs: int, inputs: int, bits: int, group: int, rows: int) -> None:
    jnp = started_jax().numpy
    weight = RANDOM.normal(size=(outputs, inputs)).astype(np.float32)
    packed = rounded_to(weight, bits, group)
    x = RANDOM.normal(size=(rows, inputs)).astype(np.float32)
    bias = RANDOM.normal(size=outputs).astype(np.float32)
    kernel = few_rows(
        block_operations._plain_product, block_operations.rounded, block_operations.rows_of, interpret=True
    )
    form = (packed.outputs, packed.bits, packed.zero, packed.half, packed.has_minima)
    found = kernel(jnp, jnp.asarray(x), jnp.asarray(packed.blocks), jnp.asarray(bias), *form)
    wide = np.pad(x, ((0, 0), (0, packed.blocks.shape[1] * group - inputs)))
    wanted = block_operations.rounded(np, wide, packed.blocks.shape[1])[:, :inputs] @ packed.dense().T + bias
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())
