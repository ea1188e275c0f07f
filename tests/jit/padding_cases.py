"""Functions for `test_padding.py`: name -> what it computes and its inputs (see `padding_harness.Padded`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.ops.neural.recurrent import run_recurrence

F = nn.functional
Case = tuple[Callable[..., Any], tuple[tuple[str, Any], ...]]
ROWS = (("bt6", "f"),)
PAIR = (("bt6", "f"), ("bt6", "f"))
TWO_LENGTHS = (("bt6", "f"), ("bs6", "f"))
LABELLED = (("bt6", "f"), ("bt", 6))
MASKED = (("bt6", "f"), ("bt", 9))
IMAGES = (("b2hw", "f"),)


def parameter(*shape: int) -> Any:
    data = np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")
    return paddle.to_tensor(data * 0.3, stop_gradient=False)


def heads(x: Any) -> Any:
    return x.reshape([x.shape[0], x.shape[1], 2, 3])


def attend(x: Any, y: Any = None, **options: Any) -> Any:
    y = x if y is None else y
    return F.scaled_dot_product_attention(heads(x), heads(y), heads(y), **options)


def time_last(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(x.transpose([0, 2, 1]))


def numbered(x: Any) -> Any:
    return paddle.arange(x.shape[1]).unsqueeze([0, 2]).astype("float32")


def assigned(x: Any, index: Any, value: Any) -> Any:
    y = x * 1
    y[index] = value
    return y


WEIGHT, SHIFT, TABLE = parameter(6), parameter(6), parameter(9, 6)
FILTERS, SPREAD, SQUARE = parameter(4, 6, 3), parameter(6, 4, 3), parameter(4, 2, 3, 3)
GATES = parameter(8, 2)
PARAMETERS = (WEIGHT, SHIFT, TABLE, FILTERS, SPREAD, SQUARE, GATES)
LSTM, BOTH_WAYS = nn.LSTM(6, 5), nn.LSTM(6, 5, direction="bidirect")
GRU, RNN = nn.GRU(6, 5, num_layers=2), nn.SimpleRNN(6, 5)
SEVERAL_HEADS = nn.MultiHeadAttention(6, 2)


def normed_over_batch(x: Any) -> Any:
    return F.batch_norm(x.transpose([0, 2, 1]), paddle.zeros([6]), paddle.ones([6]), WEIGHT, SHIFT, training=True)


def recurrent(net: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        sequence, last = net(x)
        return [sequence, *(last if isinstance(last, (tuple, list)) else [last])]

    return run


def of_some_lengths(reverse: bool) -> Callable[[Any, Any], Any]:
    def run(projected: Any, lengths: Any) -> Any:
        states = [paddle.zeros([projected.shape[1], 2])] * 2
        return list(run_recurrence(projected, states, GATES, None, lengths + 1, "LSTM", reverse))

    return run


def by_rows(table: dict[str, Callable[..., Any]], inputs: tuple[tuple[str, Any], ...]) -> dict[str, Case]:
    return {name: (function, inputs) for name, function in table.items()}


CASES: dict[str, Case] = {
    **by_rows(
        {
            # elementwise
            "pointwise": lambda x: F.gelu(x * 2 + 1) - x.exp() / 3,
            "activations": lambda x: F.silu(x) + F.leaky_relu(x) + F.elu(x) + F.hardswish(x) + F.softplus(x),
            "gated": lambda x: F.glu(x, axis=-1) + x.clip(-0.5, 0.5)[..., :3],
            "size as a number": lambda x: x * x.shape[1],
            # reductions
            "mean": lambda x: x.mean(axis=1, keepdim=True),
            "mean of two axes": lambda x: x.mean(axis=[0, 1]),
            "mean of all": lambda x: x.mean(),
            "extremes": lambda x: x.max(axis=1) + x.min(axis=1),
            "extreme of all": lambda x: x.max(),
            "logsumexp": lambda x: x.logsumexp(axis=1),
            "product": lambda x: x.prod(axis=1),
            "variance": lambda x: x.var(axis=1) + x.std(),
            "norms": lambda x: x.norm(axis=1) + x.norm(p=1, axis=1) + x.norm(p=3, axis=1),
            "tests": lambda x: (x > 1.5).any(axis=1).astype("float32") + (x > -2.5).all(axis=1).astype("float32"),
            "positions of extremes": lambda x: x.argmax(axis=1) - x.argmin(axis=1),
            "counts": lambda x: paddle.count_nonzero(x, axis=1),
            "softmax along": lambda x: F.softmax(x, axis=1),
            "log softmax along": lambda x: F.log_softmax(x, axis=1),
            # several axes in one
            "flattened mean": lambda x: x.reshape([-1, 6]).mean(axis=0),
            "flattened to one": lambda x: x.reshape([-1]).mean(),
            "flattened softmax": lambda x: F.softmax(x.reshape([-1, 6]), axis=0),
            "flattened": lambda x: [x.reshape([-1, 6]), x.reshape([-1]), x.transpose([1, 2, 0]).reshape([-1])],
            "flattened and back": lambda x: F.relu(x.reshape([-1, 6]) * 2).reshape([x.shape[0], x.shape[1], 6]),
            "swapped and flattened": lambda x: x.transpose([1, 0, 2]).reshape([-1, 6]).mean(axis=0),
            "flattened beside zeros": lambda x: paddle.maximum(x.flatten(), paddle.zeros_like(x.flatten())).mean(),
            "tiled": lambda x: x.tile([1, 2, 1]).mean(axis=1),
            "expanded": lambda x: (x.unsqueeze(2).expand([-1, -1, 4, -1]) * x.unsqueeze(2)).sum(axis=[1, 2]),
            # products
            "gram": lambda x: x.transpose([0, 2, 1]) @ x,
            "scores": lambda x: F.softmax(x @ x.transpose([0, 2, 1]) / 2, axis=-1) @ x,
            "sum of outer products": lambda x: paddle.einsum("btd,bte->de", x, x),
            "triangle": lambda x: paddle.tril(x @ x.transpose([0, 2, 1])).sum(axis=1),
            "diagonal": lambda x: paddle.diagonal(x @ x.transpose([0, 2, 1]), axis1=1, axis2=2).mean(axis=1),
            "distances": lambda x: paddle.cdist(x, x + 1),
            # slices
            "first and last": lambda x: x[:, -1] + x[:, 0],
            "differences": lambda x: (x[:, 1:] - x[:, :-1]).square().mean(),
            "every other": lambda x: x[:, 1::2].mean(axis=1),
            "in reverse": lambda x: x[:, ::-1] * x,
            "last half": lambda x: x[:, x.shape[1] // 2 :].mean(axis=1),
            "last two": lambda x: x[:, -2:].mean(axis=1),
            "inner": lambda x: x[:, 1:-1].sum(axis=1),
            "rows of a table": lambda x: x + TABLE.tile([3, 1])[: x.shape[1]],
            "one set": lambda x: assigned(x, (slice(None), 0), 0.5),
            "rest set": lambda x: assigned(x, (slice(None), slice(1, None)), 0.5),
            "last two set": lambda x: assigned(x, (slice(None), slice(-2, None)), x[:, :2] * 2),
            "all but the last set": lambda x: assigned(x, (slice(None), slice(None, -1)), x[:, 1:]),
            "inner set": lambda x: assigned(x, (slice(None), slice(1, -1)), 0.5),
            "every other set": lambda x: assigned(x, (slice(None), slice(1, None, 2)), x[:, 1::2] * 3),
            "every other set from the end": lambda x: assigned(x, (slice(None), slice(None, None, -2)), x[:, ::-2] * 3),
            "ends of two axes set": lambda x: assigned(x, (slice(-1, None), slice(-2, None), 3), 0.5),
            "last set, with a new axis": lambda x: assigned(x, (slice(None), None, slice(-2, None)), x[:, None, :2]),
            "rows of a fixed table set": lambda x: x + assigned(TABLE.tile([3, 1]), slice(None, x.shape[1]), 0.5).sum(),
            # moved
            "joined": lambda x: paddle.concat([x, x * 2], axis=1).cumsum(axis=1),
            "joined with a front": lambda x: paddle.concat([paddle.zeros([x.shape[0], 2, 6]), x], axis=1).mean(axis=1),
            "joined with an end": lambda x: paddle.concat([x, paddle.ones([x.shape[0], 2, 6])], axis=1).mean(axis=1),
            "split": lambda x: [part.mean(axis=1) for part in paddle.split(x, [x.shape[1] - 1, 1], axis=1)],
            "flipped": lambda x: x.flip([0, 1]) * x,
            "rolled": lambda x: x.roll([-3, 1], [1, 2]) * x,
            "bordered": time_last(lambda x: F.pad(x, [1, 2], value=0.5, data_format="NCL").mean(axis=2)),
            # running
            "running sum": lambda x: x.cumsum(axis=1),
            "running sum from the end": lambda x: x.flip([1]).cumsum(axis=1),
            "running product": lambda x: (x * 0.3 + 1).cumprod(dim=1),
            "running logsumexp": lambda x: x.logcumsumexp(axis=1),
            "running maximum": lambda x: x.cummax(axis=1)[0],
            "sorted": lambda x: x.sort(axis=1) * numbered(x),
            "sorted downwards": lambda x: x.sort(axis=1, descending=True) * numbered(x),
            "order": lambda x: x.argsort(axis=1),
            "largest two": lambda x: x.topk(2, axis=1)[0],
            "smallest two": lambda x: x.topk(2, axis=1, largest=False)[0],
            # norms
            "layer norm": lambda x: F.layer_norm(x, 6, WEIGHT, SHIFT),
            "batch norm": normed_over_batch,
            "instance norm": time_last(F.instance_norm),
            "group norm": time_last(lambda x: F.group_norm(x, 2)),
            "unit length": lambda x: F.normalize(x, axis=1),
            # attention and recurrence
            "attention": attend,
            "causal attention": lambda x: attend(x, is_causal=True),
            "several heads": lambda x: SEVERAL_HEADS(x, x, x),
            "mask by hand": lambda x: (
                F.softmax(
                    x @ x.transpose([0, 2, 1]) + paddle.triu(paddle.full([x.shape[1], x.shape[1]], -1e9), 1), axis=-1
                )
                @ x
            ),
            "lstm": recurrent(LSTM),
            "lstm both ways": recurrent(BOTH_WAYS),
            "gru": recurrent(GRU),
            "rnn": recurrent(RNN),
            # random numbers
            "dropout": lambda x: F.dropout(x, 0.4),
            "noise": lambda x: x * paddle.randn(x.shape) + paddle.uniform(x.shape),
            # windows
            "conv": time_last(lambda x: F.conv1d(x, FILTERS, padding=1)),
            "strided conv": time_last(lambda x: F.conv1d(x, FILTERS, padding=1, stride=2)),
            "dilated conv": time_last(lambda x: F.conv1d(x, FILTERS, padding=2, dilation=2)),
            "transposed conv": time_last(lambda x: F.conv1d_transpose(x, SPREAD, stride=2, padding=1)),
            "max pool": time_last(lambda x: F.max_pool1d(x, 3, 2, 1)),
            "max pool, not full": time_last(lambda x: F.max_pool1d(x, 2, 2, 0, ceil_mode=True)),
            "mean pool": time_last(lambda x: F.avg_pool1d(x, 3, 2, 1)),
            "mean pool with border": time_last(lambda x: F.avg_pool1d(x, 3, 2, 1, exclusive=False)),
            "mean pool, not full": time_last(lambda x: F.avg_pool1d(x, 2, 2, 0, ceil_mode=True)),
            "one mean": time_last(lambda x: F.adaptive_avg_pool1d(x, 1)),
        },
        ROWS,
    ),
    **by_rows(
        {
            "cross entropy": lambda x, y: F.cross_entropy(x, y),
            "cross entropy of rows": lambda x, y: F.cross_entropy(x.reshape([-1, 6]), y.reshape([-1])),
            "next word": lambda x, y: F.cross_entropy(x[:, :-1].reshape([-1, 6]), y[:, 1:].reshape([-1])),
            "without class 0": lambda x, y: F.cross_entropy(x, y, ignore_index=0),
            "without some": lambda x, y: F.cross_entropy(x, paddle.where(y > 3, paddle.full_like(y, -100), y)),
            "sum": lambda x, y: F.cross_entropy(x, y, reduction="sum"),
            "each": lambda x, y: F.cross_entropy(x, y, reduction="none").sum(axis=1),
            "smoothed": lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
            "weighted": lambda x, y: F.cross_entropy(x, y, weight=WEIGHT.detach().abs()),
            "likelihood": lambda x, y: F.nll_loss(F.log_softmax(x, axis=-1).reshape([-1, 6]), y.reshape([-1])),
        },
        LABELLED,
    ),
    **by_rows(
        {
            "regression": lambda x, y: F.mse_loss(x, y) + F.l1_loss(x, y) + F.smooth_l1_loss(x, y),
            "divergence": lambda x, y: F.kl_div(F.log_softmax(x, axis=-1), F.softmax(y, axis=-1)),
            "binary": lambda x, y: F.binary_cross_entropy_with_logits(x, F.sigmoid(y)),
            "soft labels": lambda x, y: F.cross_entropy(x, F.softmax(y, axis=-1), soft_label=True),
            "similarity": lambda x, y: F.cosine_similarity(x, y, axis=-1),
        },
        PAIR,
    ),
    "sequences of some lengths": (of_some_lengths(False), (("tb8", "f"), ("b", 4))),
    "sequences of some lengths, backwards": (of_some_lengths(True), (("tb8", "f"), ("b", 4))),
    "looked up": (
        lambda x: [paddle.searchsorted(TABLE.detach()[:, 0].sort(), x), paddle.isin(x.round(), TABLE.detach().round())],
        ROWS,
    ),
    "two lengths joined": (lambda x, y: paddle.concat([x, y], axis=1).cumsum(axis=1), TWO_LENGTHS),
    "attention to others": (attend, TWO_LENGTHS),
    "boolean mask": (lambda x, m: attend(x, attn_mask=(m > 2).unsqueeze([1, 2])), MASKED),
    "mask of numbers": (lambda x, m: attend(x, attn_mask=((m > 2).astype("float32") * -1e9).unsqueeze([1, 2])), MASKED),
    "mask for each query": (lambda x, m: attend(x, attn_mask=m.unsqueeze(1)), (("bt6", "f"), ("btt", "p"))),
    "integers divided": (lambda i, j: (i * 5) // (j + 1) + i % (j + 1), (("bt", 9), ("bt", 9))),
    "embedding": (lambda i: F.embedding(i, TABLE), (("bt", 9),)),
    "embedding with padding": (lambda i: F.embedding(i, TABLE, padding_idx=2), (("bt", 9),)),
    "one hot": (lambda i: F.one_hot(i, 9).sum(axis=1), (("bt", 9),)),
    "rows by number": (lambda x, i: x[i].mean(axis=0), (("66", "f"), ("t", 6))),
    "negative numbers": (lambda x, i: x[i - 2], (("t6", "f"), ("4", 2))),
    "one of each": (lambda x, i: x[paddle.arange(x.shape[0]), i], (("bt6", "f"), ("b", 2))),
    "taken along": (lambda x, i: paddle.take_along_axis(x, i - 1, axis=1), (("bt", "f"), ("b4", 2))),
    "added along": (
        lambda x, i: paddle.put_along_axis(paddle.zeros([x.shape[0], 6]), i, x, axis=1, reduce="add"),
        (("bt", "f"), ("bt", 6)),
    ),
    "gathered": (lambda x, i: paddle.gather_nd(x, i), (("66", "f"), ("t2", 6))),
    "scattered": (
        lambda x, i: paddle.scatter_nd_add(paddle.zeros([6, 6]), i.unsqueeze(-1), x),
        (("t6", "f"), ("t", 6)),
    ),
    "added rows": (lambda x, i: paddle.index_add(paddle.zeros([6, 6]), i, 0, x), (("t6", "f"), ("t", 6))),
    "conv of images": (lambda x: F.conv2d(x, SQUARE, padding=1, stride=2), IMAGES),
    "windows put back": (
        lambda x: F.fold(F.unfold(x, 3, paddings=1), [x.shape[2], x.shape[3]], 3, paddings=1),
        IMAGES,
    ),
    "pools of images": (lambda x: F.max_pool2d(x, 3, 2, 1) + F.avg_pool2d(x, 3, 2, 1), IMAGES),
    "means of images": (lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1), IMAGES),
    "windows of images": (lambda x: F.unfold(x.detach(), 3).sum(axis=1), IMAGES),
}
