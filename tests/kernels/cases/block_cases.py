"""Random cases of products with weights in blocks, and of attention over pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from proa.ops.generation import pages
from proa.ops.quantised import blocks
from tests.kernels.cases import references as r
from tests.kernels.cases.light_cases import Case


def _cpu(primitive: Any) -> Any:
    return primitive.operation.kernels["cpu"]


def on_grids(x: np.ndarray, group: int) -> np.ndarray:
    """x [rows, inputs] rounded to int8 by groups, written down apart from the operation, in float64."""
    out = np.zeros(x.shape)
    for first in range(0, x.shape[1], group):
        part = x[:, first : first + group].astype(np.float32)
        for row, numbers in enumerate(part):
            reach = np.abs(numbers).max()
            if reach > 0:
                levels = np.rint((numbers * (np.float32(127) / reach)).astype(np.float32))
                out[row, first : first + group] = levels.astype(np.float64) * np.float64(reach / np.float32(127))
    return out


def weight_case(generator: np.random.Generator, outputs: int, groups: int, group: int, bits: int, half: bool,
                has_minima: bool) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """A packed weight, put together element by element; its numbers in float64 [outputs, inputs]; its zero point."""
    panels, zero = -(-outputs // 16), 0 if has_minima else int(generator.integers(0, 1 << bits))
    kind = np.dtype("<f2" if half else "<f4")
    numbers = generator.integers(0, 1 << bits, (panels * 16, groups, group)).astype(np.uint8)
    scales = (generator.random((panels * 16, groups)) + 0.1).astype(kind)
    minima = generator.normal(size=scales.shape).astype(kind) if has_minima else np.zeros_like(scales)
    made = []
    for panel in range(panels):
        own = slice(16 * panel, 16 * panel + 16)
        for g in range(groups):
            terms = numbers[own, g]
            if bits == 4:
                terms = terms[:, : group // 2] | (terms[:, group // 2 :] << 4)
            words = [terms[lane, 4 * word : 4 * word + 4].tobytes()
                     for word in range(terms.shape[1] // 4) for lane in range(16)]  # fmt: skip
            steps = scales[own, g].tobytes() + (minima[own, g].tobytes() if has_minima else b"")
            made.append(np.frombuffer(b"".join(words) + steps, np.uint8))
    wide = (numbers.astype(np.float64) - zero) * scales.astype(np.float64)[..., None] + minima[..., None]
    packed = np.stack(made).reshape(panels, groups, -1)
    return packed, wide.reshape(panels * 16, groups * group)[:outputs], zero


def product_case(generator: np.random.Generator) -> Case:
    """One row, a few and many; groups of several lengths, the last one not full; any number of outputs."""
    rows = int(generator.choice([1, 2, 3, 5, 12, 13, int(generator.integers(14, 60))]))
    bits, group = int(generator.choice([4, 8])), int(generator.choice([8, 16, 32, 32, 40]))
    half, has_minima = (bool(b) for b in generator.integers(0, 2, 2))
    groups, outputs = int(generator.integers(1, 9)), int(generator.integers(1, 70))
    inputs = groups * group - int(generator.choice([0, 0, generator.integers(0, group)]))
    packed, weight, zero = weight_case(generator, outputs, groups, group, bits, half, has_minima)
    x = r.draw(generator, rows, inputs)
    bias = r.draw(generator, outputs) if generator.random() < 0.5 else None
    attributes = (outputs, bits, zero, half, has_minima)

    def run(xp: Any, x: Any, packed: Any, bias: Any) -> Any:
        return (_cpu(blocks.block_product)(xp, x, packed, bias, *attributes),)

    rounded = on_grids(x, group)
    expected = rounded @ weight[:, :inputs].T + (0 if bias is None else bias)
    return [x, packed, bias], run, [expected]


_POOLS = ("float32", "float16", "int8")


def pages_case(generator: np.random.Generator) -> Case:
    """Sequences of any length in pages of any order; windows, caps, sinks; pools of floats, halves and bytes."""
    rows, length, kv_heads, groups = (int(generator.integers(1, n)) for n in (4, 9, 4, 4))
    size, value_size = (int(generator.choice([1, 8, 16, 17, 64])) for _ in range(2))
    page, width = int(generator.choice([1, 4, 16, 32])), int(generator.integers(1, 12))
    width += -(-length // page)
    dtype = str(generator.choice(_POOLS))
    num_pages = rows * width + 1
    shape = (num_pages, page, kv_heads)
    keys, values = (generator.normal(size=(*shape, n)) for n in (size, value_size))
    scales: list[Any] = [None, None]
    if dtype == "int8":
        keys, values = (np.clip(np.rint(pool * 40), -127, 127) for pool in (keys, values))
        scales = [(generator.random(shape) * 0.05).astype(np.float32) for _ in range(2)]
    keys, values = keys.astype(dtype), values.astype(dtype)
    tables = (generator.permutation(num_pages - 1) + 1)[: rows * width].reshape(rows, width).astype(np.int32)
    starts = generator.integers(0, width * page - length + 1, rows)
    positions = (starts[:, None] + np.arange(length)).astype(np.int32)
    query = r.draw(generator, rows, length, kv_heads * groups, size)
    sinks = r.draw(generator, kv_heads * groups) if generator.random() < 0.3 else None
    window = None if generator.random() < 0.5 else int(generator.integers(1, 40))
    cap = 0.0 if generator.random() < 0.5 else float(generator.uniform(1, 20))
    scale = float(size**-0.5)

    def run(xp: Any, query: Any, keys: Any, values: Any, tables: Any, positions: Any, *rest: Any) -> Any:
        written = _cpu(pages.write_pages)(xp, keys, keys[:1, :1], tables[:1, :1] * 0)
        operands = (query, written, values, tables, positions, *rest)
        return _cpu(pages.paged_attention)(xp, *operands, scale, window, cap), written

    expected = np.zeros((rows, length, kv_heads * groups, value_size))
    wide = [pool.astype(np.float64) if s is None else pool.astype(np.float64) * s[..., None]
            for pool, s in zip((keys, values), scales, strict=True)]  # fmt: skip
    for row in range(rows):
        k, v = (pool[tables[row]].reshape(width * page, kv_heads, -1) for pool in wide)
        for place, position in enumerate(positions[row]):
            first = 0 if window is None else max(0, position + 1 - window)
            for head in range(kv_heads * groups):
                own = head // groups
                scores = k[first : position + 1, own] @ query[row, place, head].astype(np.float64) * scale
                scores = cap * np.tanh(scores / cap) if cap else scores
                powers = np.exp(scores)
                total = powers.sum() + (0 if sinks is None else np.exp(np.float64(sinks[head])))
                expected[row, place, head] = powers @ v[first : position + 1, own] / total
    after = keys.astype(np.float64)
    return [query, keys, values, tables, positions, sinks, *scales], run, [expected, after]


CASES = {"weights in blocks": product_case, "pages": pages_case}
