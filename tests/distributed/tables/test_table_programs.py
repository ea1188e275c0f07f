"""Static programs whose embeddings lie on table servers, beside the same training written in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import proa as paddle
from proa.distributed.fleet.server_mode import ServerMode
from proa.distributed.ps.client import LocalServer
from proa.distributed.ps.server import TableServer
from proa.distributed.ps.session import Session, current_session, set_session
from proa.static.nn.common import on_servers

WIDTH, FEATURES, BATCH, STEPS = 4, 40, 16, 12
RATE, TABLE_RATE, EPSILON = 0.1, 0.05, 1e-6


@pytest.fixture
def fleet() -> Iterator[ServerMode]:
    """A worker's fleet; its server is in the process, and joined by the test."""
    strategy = SimpleNamespace(a_sync=False, a_sync_configs={})
    paddle.enable_static()
    try:
        yield ServerMode(SimpleNamespace(), strategy)
    finally:
        paddle.disable_static()
        set_session(None)
        on_servers.clear()


def join() -> None:
    set_session(Session([LocalServer(TableServer()), LocalServer(TableServer())]))


def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(5)
    for step in range(STEPS):
        ids = random.integers(0, FEATURES, (BATCH + step % 3, 3)) * 10**12
        yield ids, ((ids // 10**12 % 2).sum(1, keepdims=True) >= 2).astype("float32")


def network(embed, **options) -> SimpleNamespace:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [None, 3], "int64")
        label = paddle.static.data("label", [None, 1], "float32")
        rows = embed(ids, [10**15, WIDTH], param_attr=paddle.ParamAttr(name="features"), **options)
        logit = paddle.static.nn.fc(rows.sum(1), 1, weight_attr=paddle.nn.initializer.Constant(0.5))
        loss = paddle.nn.functional.binary_cross_entropy_with_logits(logit, label)
    return SimpleNamespace(main=main, startup=startup, loss=loss, logit=logit)


def minimize(fleet: ServerMode, net: SimpleNamespace, optimizer) -> None:
    with paddle.static.program_guard(net.main, net.startup):
        fleet.distributed_optimizer(optimizer, None).minimize(net.loss)


def trained(net: SimpleNamespace) -> list[float]:
    executor = paddle.static.Executor()
    executor.run(net.startup)
    join()
    return [
        float(executor.run(net.main, feed={"ids": ids, "label": label}, fetch_list=[net.loss])[0])
        for ids, label in batches()
    ]


def reference(padding: int | None = None) -> list[float]:
    """The same in NumPy: Adagrad for rows, gradient descent for the layer; rows begin as the servers make them."""
    session = Session([LocalServer(TableServer()), LocalServer(TableServer())])
    session.create(current_session().configs["features"])
    table = session.communicator.pull("features", np.arange(FEATURES) * 10**12).astype(np.float64)
    if padding is not None:
        table[padding // 10**12] = 0
    squares = np.zeros_like(table)
    weight, bias = np.full((WIDTH, 1), 0.5), np.zeros(1)
    losses = []
    for ids, label in batches():
        numbers = ids // 10**12
        summed = table[numbers].sum(1)
        logit = summed @ weight + bias
        losses.append(float(np.mean(np.logaddexp(0, logit) - label * logit)))
        grad = (1 / (1 + np.exp(-logit)) - label) / len(label)
        rows = np.zeros_like(table)
        np.add.at(rows, numbers, (grad @ weight.T)[:, None, :].repeat(3, 1))
        if padding is not None:
            rows[padding // 10**12] = 0
        weight, bias = weight - RATE * summed.T @ grad, bias - RATE * grad.sum(0)
        squares += rows**2
        table = table - TABLE_RATE * rows / (np.sqrt(squares) + EPSILON)
    return losses


def test_a_program_trains_rows_and_parameters_on_the_servers(fleet) -> None:
    net = network(paddle.static.nn.sparse_embedding)
    minimize(fleet, net, paddle.optimizer.SGD(learning_rate=RATE))
    losses = trained(net)
    np.testing.assert_allclose(losses, reference(), rtol=1e-5)
    assert losses[-1] < losses[0]


def test_padding_is_zero_and_stays_so(fleet) -> None:
    padding = 7 * 10**12
    net = network(paddle.static.nn.sparse_embedding, padding_idx=padding)
    minimize(fleet, net, paddle.optimizer.SGD(learning_rate=RATE))
    np.testing.assert_allclose(trained(net), reference(padding), rtol=1e-5)


@pytest.mark.parametrize("option", ["is_sparse", "is_distributed"])
def test_embeddings_that_say_so_lie_on_the_servers(fleet, option) -> None:
    net = network(paddle.static.nn.embedding, **{option: True})
    minimize(fleet, net, paddle.optimizer.SGD(learning_rate=RATE))
    np.testing.assert_allclose(trained(net), reference(), rtol=1e-5)
    assert [parameter.shape for parameter in net.main.all_parameters()] == [[WIDTH, 1], [1]]


def test_features_may_be_computed_by_the_program(fleet) -> None:
    net = network(lambda ids, *args, **named: paddle.static.nn.sparse_embedding((ids + 5) - 5, *args, **named))
    minimize(fleet, net, paddle.optimizer.SGD(learning_rate=RATE))
    np.testing.assert_allclose(trained(net), reference(), rtol=1e-5)


def test_a_copy_for_tests_changes_nothing(fleet) -> None:
    net = network(paddle.static.nn.sparse_embedding)
    test = net.main.clone(for_test=True)
    minimize(fleet, net, paddle.optimizer.SGD(learning_rate=RATE))
    trained(net)
    ids, label = next(batches())
    feed = {"ids": np.where(ids == ids[0, 0], 999, ids), "label": label}  # 999 is unknown
    executor = paddle.static.Executor()
    first = executor.run(test, feed=feed, fetch_list=[net.logit])[0]
    np.testing.assert_array_equal(executor.run(test, feed=feed, fetch_list=[net.logit])[0], first)
    unknown = current_session().client.pull("features", np.array([999]), False)
    np.testing.assert_array_equal(unknown, np.zeros((1, WIDTH)))


def test_a_program_that_runs_before_the_worker_joined_is_told(fleet) -> None:
    net = network(paddle.static.nn.sparse_embedding)
    executor = paddle.static.Executor()
    executor.run(net.startup)
    ids, label = next(batches())
    with pytest.raises(RuntimeError, match=r"\(Executor.run\) .* call fleet.init_worker\(\) first"):
        executor.run(net.main, feed={"ids": ids, "label": label}, fetch_list=[net.loss])


def test_an_optimiser_that_the_servers_do_not_know_is_refused(fleet) -> None:
    net = network(paddle.static.nn.sparse_embedding)
    with pytest.raises(ValueError, match="the servers know SGD, Adagrad and Adam"):
        minimize(fleet, net, paddle.optimizer.RMSProp(learning_rate=RATE))


def test_a_feed_without_features_is_told(fleet) -> None:
    net = network(paddle.static.nn.sparse_embedding)
    join()
    with pytest.raises(ValueError, match=r"needs the input ids, which is not fed; received feed: \['label'\]"):
        paddle.static.Executor().run(net.main, feed={"label": np.zeros((1, 1), "float32")}, fetch_list=[net.loss])
