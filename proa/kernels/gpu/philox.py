"""The rounds of Philox4x32-10 as one kernel of CuPy's (see `random_bits.py`), instead of a hundred small ones."""

from __future__ import annotations

import functools
from typing import Any

_ROUNDS = """
unsigned int c0 = (unsigned int) i, c1 = (unsigned int) ((unsigned long long) i >> 32);
unsigned int c2 = (unsigned int) offset, c3 = (unsigned int) (offset >> 32);
unsigned int k0 = (unsigned int) seed, k1 = (unsigned int) (seed >> 32);
for (int round = 0; round < 10; ++round) {
    unsigned long long first = (unsigned long long) c0 * 0xD2511F53u;
    unsigned long long second = (unsigned long long) c2 * 0xCD9E8D57u;
    c0 = (unsigned int) (second >> 32) ^ c1 ^ k0;
    c1 = (unsigned int) second;
    c2 = (unsigned int) (first >> 32) ^ c3 ^ k1;
    c3 = (unsigned int) first;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
}
w0 = c0; w1 = c1; w2 = c2; w3 = c3;
"""


@functools.cache
def _kernel() -> Any:
    import cupy  # type: ignore[import-not-found]

    words = "uint64 w0, uint64 w1, uint64 w2, uint64 w3"
    return cupy.ElementwiseKernel("uint64 seed, uint64 offset", words, _ROUNDS, "philox4x32_10")


def words_of_blocks(count: int, seed: Any, offset: Any) -> tuple[Any, Any, Any, Any]:
    """The four words of the first `count` blocks, as uint64 arrays of CuPy's."""
    return _kernel()(seed, offset, size=count)
