"""Products of one array with several weights become one: on a GPU by itself, here by the function that does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph.passes import registry
from proa.graph.passes.draft import Draft
from proa.graph.passes.side_by_side import join_products
from tests.graph.passes.support import assert_unchanged, changed_by, graph_of, random

F = paddle.nn.functional
PLENTY = 1 << 30


class Block(paddle.nn.Layer):
    """Three products of one array, of which two have biases, and two of another."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = paddle.nn.Linear(16, 24), paddle.nn.Linear(16, 8)
        self.value = paddle.nn.Linear(16, 8, bias_attr=False)
        self.gate, self.inner = (paddle.nn.Linear(16, 40, bias_attr=False) for _ in range(2))

    def forward(self, x: Any) -> Any:
        later = F.relu(x)
        return self.query(x), self.key(x) * 2, self.value(x), F.silu(self.gate(later)) * self.inner(later)


def joined(graph: Any, room: float = PLENTY) -> tuple[int, int]:
    """How many groups were joined, and how many products there are then."""
    draft = Draft.of(graph)
    found = join_products(draft, room)
    draft.verify()
    return found, sum(node.name == "linear" for node in draft.nodes)


@pytest.fixture
def everywhere() -> Iterator[None]:
    """The pass on this place as well, before those that pack weights for it."""
    registry.register_pass(lambda draft: join_products(draft, PLENTY), name="joined", order=23)
    yield
    registry.unregister_pass("joined")


def test_products_of_one_array_are_joined_with_their_biases(everywhere: None) -> None:
    paddle.seed(1)
    block = Block()
    block.eval()
    graph = graph_of(block, [3, 16])
    assert joined(graph) == (2, 3)  # query and key, gate and inner; the value alone has no bias
    assert changed_by(graph)["joined"] == 2
    assert_unchanged(graph, random(3, 16))


def test_new_weights_are_joined_anew(everywhere: None) -> None:
    block = Block()
    block.eval()
    graph = graph_of(block, [3, 16])
    assert_unchanged(graph, random(3, 16))
    block.gate.weight.set_value(np.ones([16, 40], "float32"))
    assert_unchanged(graph, random(3, 16))


def test_copies_that_do_not_fit_are_not_made() -> None:
    graph = graph_of(Block(), [3, 16])
    num_bytes = 4 * 16 * (24 + 8 + 40 + 40)
    assert joined(graph, num_bytes - 1) == (0, 5)
    assert joined(graph, num_bytes) == (2, 3)


def test_many_rows_and_unknown_rows_stay_apart() -> None:
    assert joined(graph_of(Block(), [65, 16])) == (0, 5)
    assert joined(graph_of(Block(), [5, 13, 16])) == (0, 5)
    assert joined(graph_of(Block(), [None, 16])) == (0, 5)
    assert joined(graph_of(Block(), [4, 16, 16])) == (2, 3)


def test_weights_that_are_computed_from_inputs_stay_apart() -> None:
    def both(x: Any, weight: Any) -> Any:
        return F.linear(x, weight), F.linear(x, weight * 2)

    assert joined(graph_of(both, [2, 8], [8, 8])) == (0, 2)


def test_a_weight_used_twice_and_a_result_that_leaves(everywhere: None) -> None:
    weight = random(8, 6, seed=3)
    graph = graph_of(lambda x: (F.linear(x, weight), F.linear(x, weight) + 1, F.linear(x, weight * 3)), [2, 8])
    assert joined(graph)[0] == 1
    assert_unchanged(graph, random(2, 8))


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_in_blocks_are_joined_by_panels(bits: int, everywhere: None) -> None:
    from proa.llm.quantised import BlockStorage, rounded_to

    draw = np.random.default_rng(bits)
    first, second, odd = (
        BlockStorage(rounded_to(draw.normal(size=(outputs, 64)).astype("float32"), bits, 32))
        for outputs in (48, 16, 24)
    )
    graph = graph_of(lambda x: (first(x), second(x) * 2, odd(x)), [3, 64])
    draft = Draft.of(graph)
    assert join_products(draft, PLENTY) == 1
    draft.verify()
    assert sum(node.name == "block_product" for node in draft.nodes) == 2  # 24 outputs end in the middle of a panel
    assert changed_by(graph)["joined"] == 1
    assert_unchanged(graph, random(3, 64))
