"""Weights in blocks stand for the numbers of the file, and for floats to within half a step."""

from __future__ import annotations

import gguf
import numpy as np
import pytest

from proa.llm.quantised import KEPT, packed, rounded_to
from tests.llm.files.samples import random_blocks


@pytest.mark.parametrize("kind", sorted(KEPT))
@pytest.mark.parametrize("rows", [1, 16, 37])
def test_blocks_stand_for_what_the_gguf_package_reads(kind: str, rows: int) -> None:
    blocks = random_blocks(kind, rows, 3, seed=rows)
    found = packed(blocks, kind)
    expected = gguf.dequantize(blocks, gguf.GGMLQuantizationType[kind])
    assert (found.outputs, found.inputs) == expected.shape
    np.testing.assert_allclose(found.dense(), expected, rtol=2e-7, atol=0)


def test_blocks_of_a_kind_with_half_steps_take_no_more_memory() -> None:
    blocks = random_blocks("Q4_1", 64, 18)
    assert packed(blocks, "Q4_1").blocks.nbytes == blocks.nbytes
    blocks = random_blocks("Q8_0", 64, 18)
    assert packed(blocks, "Q8_0").blocks.nbytes == blocks.nbytes


def test_memory_begins_where_xla_takes_it_as_it_is() -> None:
    for rows in (1, 5, 300):
        assert packed(random_blocks("Q4_0", rows, 1), "Q4_0").blocks.ctypes.data % 64 == 0


@pytest.mark.parametrize(
    ("kind", "shape", "told"),
    [("Q3_K", (4, 110), "Q4_0"), ("Q4_0", (4, 19), "18 times"), ("Q4_0", (0, 18), "18 times"), ("Q8_0", (34,), "34")],
)
def test_other_blocks_are_refused(kind: str, shape: tuple[int, ...], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        packed(np.zeros(shape, np.uint8), kind)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(("shape", "group"), [((16, 64), 32), ((5, 40), 32), ((33, 7), 8), ((2, 300), 128)])
def test_floats_are_rounded_to_the_nearest_step(bits: int, shape: tuple[int, int], group: int) -> None:
    weight = np.random.default_rng(bits).normal(size=shape).astype(np.float32)
    weight[0] = 0  # a group of nothing but zeros
    found = rounded_to(weight, bits, group).dense()
    assert found.shape == shape
    for first in range(0, shape[1], group):
        part, back = weight[:, first : first + group], found[:, first : first + group]
        low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
        step = np.abs(part).max(1) / 127 if bits == 8 else (high - low) / 15
        assert (np.abs(part - back) <= 0.5001 * step[:, None] + 1e-7).all()
    assert not found[0].any()


@pytest.mark.parametrize(
    ("weight", "arguments", "told"),
    [
        (np.ones((2, 8)), (3, 8), "8 or 4 bits"),
        (np.ones((2, 8)), (4, 12), "multiple of 8"),
        (np.ones(8), (8, 8), "outputs, inputs"),
        (np.array([[1.0, np.nan]]), (8, 8), "finite"),
        (np.ones((0, 8)), (8, 8), "outputs, inputs"),
    ],
)
def test_what_cannot_be_rounded_is_refused(weight: np.ndarray, arguments: tuple[int, int], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        rounded_to(weight, *arguments)
