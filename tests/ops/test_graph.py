"""Graph functions beyond their samples: empty rows, ties, wrong input, randomness, both tiers."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle

geometric, incubate = paddle.geometric, paddle.incubate


def integers(*values: int, dtype: str = "int64"):
    return paddle.to_tensor(list(values), dtype=dtype)


X = np.array([[0, 2, 3], [1, 4, 5], [2, 6, 7]], np.float32)
SOURCE, TARGET = [0, 1, 2, 0], [1, 2, 1, 0]
# A graph by columns: the neighbours of node i are ROW[COLUMNS[i] : COLUMNS[i + 1]].
ROW = np.array([3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7])
COLUMNS = np.array([0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13])


def graph(dtype: str = "int64"):
    return paddle.to_tensor(ROW.astype(dtype)), paddle.to_tensor(COLUMNS.astype(dtype))


# ---- messages and segments -----------------------------------------------------------------------

# As Paddle 3.3.1 gives them.
RECEIVED = {
    "sum": [[0, 2, 3], [2, 8, 10], [1, 4, 5]],
    "mean": [[0, 2, 3], [1, 4, 5], [1, 4, 5]],
    "max": [[0, 2, 3], [2, 6, 7], [1, 4, 5]],
    "min": [[0, 2, 3], [0, 2, 3], [1, 4, 5]],
}


@pytest.mark.parametrize("mode", RECEIVED)
def test_send_u_recv_as_paddle_and_rows_nobody_reaches(mode):
    x, source, target = paddle.to_tensor(X), integers(*SOURCE), integers(*TARGET)
    np.testing.assert_array_equal(geometric.send_u_recv(x, source, target, mode).numpy(), RECEIVED[mode])
    longer = geometric.send_u_recv(x, source, target, mode, out_size=paddle.to_tensor(5)).numpy()
    np.testing.assert_array_equal(longer, [*RECEIVED[mode], [0, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("mode", RECEIVED)
def test_the_tiers_agree_with_and_without_gradient(mode):
    values = []
    for _ in range(5):  # compiled from the third time on
        x = paddle.to_tensor(X, stop_gradient=False)
        y = paddle.to_tensor(np.arange(4, dtype="float32")[:, None], stop_gradient=False)
        out = geometric.send_ue_recv(x, y, integers(*SOURCE), integers(*TARGET), "mul", mode)
        (out * out).sum().backward()
        values.append([out.numpy(), x.grad.numpy(), y.grad.numpy()])
    for each in values[1:]:
        for got, first in zip(each, values[0], strict=True):
            np.testing.assert_allclose(got, first, rtol=1e-6)


def test_rows_that_tie_for_the_largest_all_get_the_gradient():
    x = paddle.to_tensor([[5.0, 2], [3, 4], [5, 6]], stop_gradient=False)
    out = geometric.send_u_recv(x, integers(*SOURCE), integers(*TARGET), "max")
    np.testing.assert_array_equal(paddle.grad(out.sum(), x)[0].numpy(), [[2, 1], [1, 1], [1, 1]])
    data = paddle.to_tensor([[1.0, 2], [1, 3], [0, 2]], stop_gradient=False)
    pooled = geometric.segment_max(data, integers(0, 0, 1))
    np.testing.assert_array_equal(paddle.grad(pooled.sum(), data)[0].numpy(), [[1, 0], [1, 1], [1, 1]])


def test_third_order_gradients_of_a_message_passing_layer():
    x = paddle.to_tensor(X.astype("float64") / 7 + 0.1, stop_gradient=False)
    out = paddle.tanh(geometric.send_u_recv(x, integers(*SOURCE), integers(*TARGET), "mean")).sum()
    for _ in range(3):
        (slope,) = paddle.grad(out, x, create_graph=True)
        out = (slope * slope).sum()
    base, step = x.numpy(), 1e-5

    def second(values):
        at = paddle.to_tensor(values, stop_gradient=False)
        inner = paddle.tanh(geometric.send_u_recv(at, integers(*SOURCE), integers(*TARGET), "mean")).sum()
        for _ in range(2):
            (slope,) = paddle.grad(inner, at, create_graph=True)
            inner = (slope * slope).sum()
        return float(inner)

    direction = np.random.default_rng(3).standard_normal(base.shape)
    numeric = (second(base + step * direction) - second(base - step * direction)) / (2 * step)
    assert float((slope.numpy() * direction).sum()) == pytest.approx(numeric, rel=1e-5)


def test_nan_and_negative_numbers_in_a_largest():
    data = paddle.to_tensor([[-3.0, np.nan], [-1.0, 1.0], [-5.0, 2.0]])
    for _ in range(4):
        out = geometric.segment_max(data, integers(0, 0, 2)).numpy()
        np.testing.assert_array_equal(out, [[-1, np.nan], [0, 0], [-5, 2]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: geometric.send_u_recv(x, integers(0, 3), integers(0, 1)), IndexError, "0 to 2"),
        (lambda x: geometric.send_u_recv(x, integers(0, -1), integers(0, 1)), IndexError, "0 to 2"),
        (lambda x: geometric.send_u_recv(x, integers(0, 1), integers(0, 2), out_size=2), IndexError, "0 to 1"),
        (lambda x: geometric.send_u_recv(x, integers(0, 1), integers(0)), ValueError, "for each edge"),
        (lambda x: geometric.send_u_recv(x, integers(0), integers(0), "prod"), ValueError, "'prod'"),
        (lambda x: geometric.send_u_recv(x, x, integers(0)), ValueError, "integer"),
        (lambda x: geometric.send_u_recv([[1.0]], integers(0), integers(0)), TypeError, "Tensor"),
        (lambda x: geometric.send_ue_recv(x, x, integers(0), integers(0)), ValueError, "1 edges"),
        (lambda x: geometric.send_ue_recv(x, x[:, :2], *[integers(0, 1, 2)] * 2), ValueError, "broadcast"),
        (lambda x: geometric.send_ue_recv(x, x, *[integers(0, 1, 2)] * 2, "pow"), ValueError, "'pow'"),
        (lambda x: geometric.send_uv(x, x, integers(0), integers(0), "max"), ValueError, "'max'"),
        (lambda x: geometric.send_uv(x, x[:2], integers(0), integers(2)), IndexError, "0 to 1"),
        (lambda x: geometric.segment_sum(x, integers(2, 0, 0)), ValueError, "sorted"),
        (lambda x: geometric.segment_sum(x, integers(-1, 0, 0)), IndexError, "negative"),
        (lambda x: geometric.segment_sum(x, integers(0, 0)), ValueError, "each row"),
        (lambda x: geometric.segment_sum(x, integers(0, 0, 2**50)), (MemoryError, ValueError), "segment|pool_rows"),
        (lambda x: incubate.graph_send_recv(x, integers(0), integers(0), "bad"), ValueError, "pool_type"),
        (lambda x: incubate.softmax_mask_fuse(x, x), ValueError, "four dimensions"),
        (lambda x: incubate.softmax_mask_fuse_upper_triangle(x), ValueError, "batch, heads"),
        (lambda x: incubate.identity_loss(x, "x"), TypeError, "reduction"),
        (lambda x: incubate.identity_loss(x, 3), ValueError, "reduction"),
    ],
)
def test_wrong_input(call, error, text):
    with pytest.raises(error, match=text):
        call(paddle.to_tensor(X))


def test_a_computed_index_out_of_range_raises_when_the_value_is_read():
    x, zero = paddle.to_tensor(X), paddle.zeros([1], "int64")
    with pytest.raises(IndexError, match="row_numbers"):
        geometric.send_u_recv(x, zero + 9, zero).numpy()


# ---- renumbering ---------------------------------------------------------------------------------


def test_reindex_as_paddle():
    nodes, count = integers(0, 1, 2), integers(2, 3, 2, dtype="int32")
    neighbors = integers(8, 9, 0, 4, 7, 6, 7)
    got = [t.tolist() for t in geometric.reindex_graph(nodes, neighbors, count)]
    assert got == [[3, 4, 0, 5, 6, 7, 6], [0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 8, 9, 4, 7, 6]]
    other, other_count = integers(0, 2, 3, 5, 1), integers(1, 3, 1, dtype="int32")
    got = [t.tolist() for t in geometric.reindex_heter_graph(nodes, [neighbors, other], [count, other_count])]
    assert got == [
        [3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1], [0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2], [0, 1, 2, 8, 9, 4, 7, 6, 3, 5],
    ]  # fmt: skip
    twice = [t.tolist() for t in incubate.graph_reindex(integers(0, 1, 1), neighbors, count)]
    assert twice == [[3, 4, 0, 5, 6, 7, 6], [0, 0, 2, 2, 2, 2, 2], [0, 1, 1, 8, 9, 4, 7, 6]]


def test_reindex_keeps_the_type_and_refuses_wrong_counts():
    nodes = integers(0, 1, dtype="int32")
    got = geometric.reindex_graph(nodes, integers(5, dtype="int32"), integers(1, 0, dtype="int32"))
    assert [t.dtype for t in got] == [paddle.int32] * 3
    with pytest.raises(ValueError, match="count must say"):
        geometric.reindex_graph(nodes, integers(5), integers(1, 1))
    with pytest.raises(ValueError, match="as many counts"):
        geometric.reindex_heter_graph(nodes, [integers(5)], [])


# ---- sampling ------------------------------------------------------------------------------------


def test_sampled_neighbors_are_neighbors_and_none_twice():
    nodes = integers(0, 8, 1, 2, 7)
    found, counts, ids = geometric.sample_neighbors(
        *graph(), nodes, sample_size=1, eids=paddle.arange(13), return_eids=True
    )
    assert counts.dtype == paddle.int32
    assert counts.tolist() == [1, 1, 1, 1, 0]
    np.testing.assert_array_equal(ROW[ids.numpy()], found.numpy())
    for node, edge in zip([0, 8, 1, 2], ids.tolist(), strict=True):
        assert COLUMNS[node] <= edge < COLUMNS[node + 1]


def test_sampling_follows_the_seed_and_is_even():
    columns, row = integers(0, 10), paddle.arange(10)
    paddle.seed(7)
    first = [geometric.sample_neighbors(row, columns, integers(0), 3)[0].tolist() for _ in range(20)]
    paddle.seed(7)
    again = [geometric.sample_neighbors(row, columns, integers(0), 3)[0].tolist() for _ in range(20)]
    assert first == again
    assert len({tuple(each) for each in first}) > 10
    assert all(len(set(each)) == 3 for each in first)
    many = geometric.sample_neighbors(row, columns, paddle.zeros([4000], "int64"), 3)[0].numpy()
    np.testing.assert_allclose(np.bincount(many, minlength=10) / 4000, 0.3, atol=0.04)


def test_weights_decide_how_often_an_edge_is_taken():
    weights = paddle.to_tensor([1.0, 2.0, 0.0, 7.0])
    nodes = paddle.zeros([5000], "int64")
    found, _ = geometric.weighted_sample_neighbors(paddle.arange(4), integers(0, 4), weights, nodes, 1)
    np.testing.assert_allclose(np.bincount(found.numpy(), minlength=4) / 5000, [0.1, 0.2, 0, 0.7], atol=0.03)


def test_khop_sampler_gives_a_renumbered_graph():
    source, target, names, nodes, ids = incubate.graph_khop_sampler(
        *graph(), integers(0, 2, 6), [2, 1], paddle.arange(13), True
    )
    assert source.shape == target.shape == [len(ids), 1]
    assert nodes.tolist() == [0, 1, 2]
    assert names.tolist()[:3] == [0, 2, 6]
    assert len(set(names.tolist())) == len(names)
    np.testing.assert_array_equal(names.numpy()[source.numpy()[:, 0]], ROW[ids.numpy()])
    owners = np.searchsorted(COLUMNS, ids.numpy(), side="right") - 1
    np.testing.assert_array_equal(names.numpy()[target.numpy()[:, 0]], owners)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r, c: geometric.sample_neighbors(r, c, integers(10)), IndexError, "0 to 9"),
        (lambda r, c: geometric.sample_neighbors(r, c, integers(-1)), IndexError, "0 to 9"),
        (lambda r, c: geometric.sample_neighbors(r, c, integers(0), -2), ValueError, "sample_size"),
        (lambda r, c: geometric.sample_neighbors(r, c, integers(0), return_eids=True), ValueError, "eids"),
        (lambda r, c: geometric.sample_neighbors(r, c[::-1], integers(0)), ValueError, "colptr"),
        (lambda r, c: geometric.sample_neighbors(r[:3], c, integers(0)), ValueError, "colptr"),
        (lambda r, c: geometric.sample_neighbors(r, c, paddle.ones([1])), ValueError, "integer"),
        (lambda r, c: geometric.sample_neighbors(r, c, paddle.ones([2, 2], "int64")), ValueError, "one dimension"),
        (
            lambda r, c: geometric.weighted_sample_neighbors(r, c, paddle.ones([2]), integers(0), 1),
            ValueError, "edge_weight",
        ),
        (
            lambda r, c: geometric.weighted_sample_neighbors(r, c, -paddle.ones([13]), integers(0), 1),
            ValueError, "not negative",
        ),
        (lambda r, c: incubate.graph_khop_sampler(r, c, integers(1, 1), [1]), ValueError, "twice"),
        (lambda r, c: incubate.graph_khop_sampler(r, c, integers(1), [1], None, True), ValueError, "sorted_eids"),
    ],
)  # fmt: skip
def test_wrong_graphs(call, error, text):
    with pytest.raises(error, match=text):
        call(*graph())
