"""Kernels in Pallas, interpreted: against the operations' plain forms. On a GPU Triton compiles them (marker `gpu`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from proa.ir.xla import started_jax
from proa.kernels.gpu.blocks import Tiling, few_rows
from proa.kernels.gpu.pages import single_queries
from proa.llm.quantised import KEPT, Packed, packed, rounded_to
from proa.ops.generation.pages import paged_attention
from proa.ops.quantised import blocks as block_operations
from tests.llm.files.samples import random_blocks

RANDOM = np.random.default_rng(0)
ATTENTION = paged_attention.operation.kernel
PARTS = (block_operations._plain_product, block_operations.levels, block_operations.rows_of)


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
    [(40, 100, 4, 32, 3), (64, 256, 8, 128, 1), (32, 96, 4, 32, 12), (16, 37, 4, 8, 8)],
)
def test_few_rows_times_blocks(outputs: int, inputs: int, bits: int, group: int, rows: int) -> None:
    weight = RANDOM.normal(size=(outputs, inputs)).astype(np.float32)
    bias = RANDOM.normal(size=outputs).astype(np.float32)
    check_product(rounded_to(weight, bits, group), rows, bias)


@pytest.mark.parametrize("kind", sorted(KEPT))
def test_few_rows_times_the_blocks_of_files(kind: str) -> None:
    check_product(packed(random_blocks(kind, 24, 13), kind), 2, None, Tiling(2, 1, 4))


def check_product(weight: Packed, rows: int, bias: np.ndarray | None, tiling: Tiling | None = None) -> None:
    jnp = started_jax().numpy
    x = RANDOM.normal(size=(rows, weight.inputs)).astype(np.float32)
    kernel = few_rows(*PARTS, interpret=True, tiling=tiling)
    given = [None if a is None else jnp.asarray(a) for a in (x, weight.blocks, bias)]
    found = kernel(jnp, *given, *form_of(weight))
    groups, group = block_operations._measured(None, None, weight.blocks, *form_of(weight))
    wide = np.pad(x, ((0, 0), (0, groups * group - weight.inputs)))
    rounded, dense = block_operations.rounded(np, wide, groups)[:, : weight.inputs], weight.dense()
    wanted = rounded @ dense.T + (0 if bias is None else bias)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-6 * (np.abs(rounded) @ np.abs(dense.T)).max())


def form_of(weight: Packed) -> tuple[int, int, int, bool, bool]:
    return weight.outputs, weight.bits, weight.zero, weight.half, weight.has_minima


@pytest.mark.parametrize(("bits", "group", "rows"), [(4, 128, 1), (8, 32, 8)])
def test_triton_is_given_the_product(bits: int, group: int, rows: int) -> None:
    """What is interpreted takes tiles of any size, and multiplies in another way."""
    jax = started_jax()
    weight = rounded_to(RANDOM.normal(size=(48, 5 * group)), bits, group)
    kernel = few_rows(*PARTS)
    made = jax.jit(lambda x, blocks: kernel(jax.numpy, x, blocks, None, *form_of(weight)))
    traced = made.trace(jax.ShapeDtypeStruct((rows, weight.inputs), "bfloat16"), weight.blocks)
    assert "triton" in traced.lower(lowering_platforms=("cuda",)).as_text()
