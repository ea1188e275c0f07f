"""Sparse tables and their servers, in this process: rows, rules, what is forgotten, what survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import proa as paddle
import proa.distributed as dist
from proa.distributed import fleet
from proa.distributed.fleet.server_mode import ServerMode
from proa.distributed.ps.client import Client, LocalServer, Unavailable
from proa.distributed.ps.communicator import Background, Geo
from proa.distributed.ps.config import TableConfig
from proa.distributed.ps.embedding import ServerOptimizer, SparseEmbedding
from proa.distributed.ps.index import Index
from proa.distributed.ps.log import Log
from proa.distributed.ps.server import TableServer
from proa.distributed.ps.session import Session, set_session
from proa.distributed.ps.table import SparseTable

needs_lmdb = pytest.mark.skipif(
    not __import__("importlib.util").util.find_spec("lmdb"), reason="rows on disk need lmdb (pip install proa[ps])"
)


@pytest.fixture(autouse=True)
def own_session():
    set_session(None)
    yield
    set_session(None)


def ones(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


def test_the_index_is_a_dictionary() -> None:
    random = np.random.default_rng(0)
    index, expected = Index(), {}
    for _ in range(30):
        drawn = random.integers(-(2**63), 2**63 - 1, 3000)
        ids = np.setdiff1d(np.concatenate([drawn, np.arange(-5, 5), drawn[:5]]), np.array(list(expected), np.int64))
        places = np.arange(len(expected), len(expected) + len(ids))
        index.insert(ids, places)
        expected.update(zip(ids.tolist(), places.tolist()))
    asked = np.concatenate([np.array(list(expected)), random.integers(-(2**63), 2**63 - 1, 5000)])
    assert index.find(asked).tolist() == [expected.get(key, -1) for key in asked.tolist()]
    assert len(index) == len(expected)
    ids, places = index.items()
    assert dict(zip(ids.tolist(), places.tolist())) == expected
    assert index.find(np.zeros(0, np.int64)).tolist() == []


@pytest.mark.parametrize("rule", ["sgd", "adagrad", "adam"])
def test_every_rule_is_that_of_the_optimiser_of_its_name(rule: str) -> None:
    """A row that is updated each time is a parameter of the public optimiser."""
    makers = {
        "sgd": lambda **more: paddle.optimizer.SGD(0.1, **more),
        "adagrad": lambda **more: paddle.optimizer.Adagrad(0.1, **more),
        "adam": lambda **more: paddle.optimizer.Adam(0.1, **more),
    }
    table = SparseTable(TableConfig("t", 4, rule, 0.1, initial_range=0.5))
    ids = np.array([-7, 3, 2**60])
    parameter = paddle.nn.Linear(1, 1).create_parameter([3, 4], dtype="float64")  # more digits than the table has
    parameter.set_value(table.pull(ids).astype("float64"))
    optimizer = makers[rule](parameters=[parameter])
    random = np.random.default_rng(1)
    for version in range(1, 6):
        grads = random.normal(size=(3, 4)).astype("float32")
        table.push(ids, grads, ones(3), version)
        (parameter * paddle.to_tensor(grads.astype("float64"))).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    np.testing.assert_allclose(table.pull(ids), parameter.numpy(), rtol=2e-6, atol=2e-7)


def test_new_rows_depend_on_seed_and_feature_alone() -> None:
    config = TableConfig("t", 3, initial_range=0.5, seed=4)
    first, second = SparseTable(config), SparseTable(config)
    ids = np.arange(1000, dtype=np.int64)
    second.pull(ids[::7])
    rows = first.pull(ids)
    assert (second.pull(ids) == rows).all()
    assert (SparseTable(TableConfig("t", 3, initial_range=0.5, seed=5)).pull(ids) != rows).mean() > 0.99
    assert -0.5 <= rows.min() < -0.49
    assert 0.49 < rows.max() <= 0.5
    assert abs(rows.mean()) < 0.02
    assert len(np.unique(rows)) > 2990


def test_features_take_part_when_their_entry_says_so() -> None:
    table = SparseTable(TableConfig("t", 2, "sgd", 1.0, initial_range=0.5, min_shows=3))
    ids = np.array([5])
    for version in (1, 2):
        table.push(ids, np.full((1, 2), 9.0, np.float32), ones(1), version)
        assert (table.pull(ids) == 0).all(), "it has not been seen often enough"
    table.push(ids, np.full((1, 2), 9.0, np.float32), ones(1), 3)
    assert (table.pull(ids) < -8).all(), "and now it counts, once"
    assert (table.pull(ids) > -10).all()
    ids = np.arange(10_000, dtype=np.int64)
    table = SparseTable(TableConfig("t", 1, initial_range=0.5, probability=0.2))
    assert 0.18 < (table.pull(ids) != 0).mean() < 0.22
    with pytest.raises(ValueError, match="count_filter must not be negative"):
        dist.CountFilterEntry(-1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        dist.ProbabilityEntry(1.5)
    assert dist.ShowClickEntry("show", "click")._to_attr() == "show_click_entry:show:click"


def test_what_is_asked_without_being_made_is_zero() -> None:
    table = SparseTable(TableConfig("t", 2, initial_range=0.5))
    assert (table.pull(np.array([1, 2]), create=False) == 0).all()
    assert len(table) == 0


def test_old_and_rare_features_are_forgotten() -> None:
    table = SparseTable(TableConfig("t", 1, "sgd", 1.0, max_age=2, keep_shows=0.5, show_decay=0.5, initial_range=0.0))
    table.push(np.array([1, 2, 3]), np.full((3, 1), -1, np.float32), np.array([1, 100, 1], np.float32), 1)
    assert table.shrink(1) == 0, "half a show is enough"
    table.push(np.array([3]), np.full((1, 1), -1, np.float32), ones(1), 2)
    assert table.shrink(2) == 1, "feature 1 is rare"
    assert table.pull(np.array([1, 2, 3]), create=False)[:, 0].tolist() == [0, 1, 2]
    assert table.shrink(3) == 2, "feature 2 is old, and 3 has faded"


def test_an_update_is_applied_once_however_often_it_is_sent() -> None:
    server = TableServer()
    server.create({"name": "t", "width": 1, "rule": "sgd", "rate": 1.0, "initial_range": 0.0})
    ids = np.array([4])
    for _ in range(3):
        assert server.update("push", "t", "worker", 1, ids, np.full((1, 1), -1, np.float32), ones(1)) == 1
    assert server.pull("t", ids).tolist() == [[1]]
    server.update("push", "t", "another", 1, ids, np.full((1, 1), -1, np.float32), ones(1))
    assert server.pull("t", ids).tolist() == [[2]]


def test_bad_questions_are_named() -> None:
    server = TableServer()
    server.create({"name": "t", "width": 2})
    with pytest.raises(ValueError, match=r"no table 'u'; received they have \['t'\]"):
        server.pull("u", np.array([1]))
    for ids in (np.array([2, 1]), np.array([1, 1]), np.array([1.0]), np.array([[1]])):
        with pytest.raises(ValueError, match="64-bit integers in increasing order"):
            server.pull("t", ids)
    with pytest.raises(ValueError, match=r"2 numbers for each feature; received \(1, 3\)"):
        server.update("push", "t", "s", 1, np.array([1]), np.zeros((1, 3), np.float32), ones(1))
    with pytest.raises(ValueError, match="exists and is another one"):
        server.create({"name": "t", "width": 3})
    with pytest.raises(ValueError, match=r"one of \['adagrad', 'adam', 'sgd'\]; received 'lion'"):
        SparseTable(TableConfig("t", 2, "lion"))
    with pytest.raises(ValueError, match="more features than memory_rows"):
        SparseTable(TableConfig("t", 1, memory_rows=5)).pull(np.arange(9))


def test_a_log_ends_where_it_was_cut(tmp_path) -> None:
    log = Log(str(tmp_path))
    log.open()
    for number in range(1, 6):
        log.append(number, bytes([number]) * 100)
    log.close()
    path = tmp_path / "log.00000000"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        records = list(Log(str(tmp_path)).replay())
        assert records == [(n, bytes([n]) * 100) for n in range(1, length // 120 + 1)]
        assert path.stat().st_size == 120 * len(records), "what was cut short is removed"
    path.write_bytes(whole[:130] + b"x" + whole[131:])
    assert len(list(Log(str(tmp_path)).replay())) == 1, "a damaged record is none"


# ---- servers with a folder -----------------------------------------------------------------------


def durable(folder, **settings) -> tuple[TableServer, Client]:
    server = TableServer(str(folder), segment_bytes=settings.pop("segment_bytes", 1 << 20))
    client = Client([LocalServer(server)])
    client.create(TableConfig("t", 4, "adam", 0.1, initial_range=0.5, **settings))
    return server, client


def random_updates(client: Client, reference: Client, random: np.random.Generator, count: int) -> None:
    for _ in range(count):
        ids = np.unique(random.integers(0, 3000, 400))
        grads = random.normal(size=(len(ids), 4)).astype("float32")
        for one in (client, reference):
            one.update("push", "t", ids, grads, ones(len(ids)))


@needs_lmdb
@pytest.mark.parametrize("memory_rows", [500, 10_000])
def test_a_server_that_starts_again_has_everything(tmp_path, memory_rows: int) -> None:
    """With a log that is brought to the store now and then, and with rows that do not fit into memory."""
    reference = Client([LocalServer(TableServer())])
    reference.create(TableConfig("t", 4, "adam", 0.1, initial_range=0.5))
    random = np.random.default_rng(0)
    everything = np.arange(3000, dtype=np.int64)
    for _ in range(4):
        server, client = durable(tmp_path, memory_rows=memory_rows, segment_bytes=40_000)
        random_updates(client, reference, random, 14)  # the last ones are in the log alone, or ahead of it in the store
        np.testing.assert_array_equal(client.pull("t", everything), reference.pull("t", everything))
        os.close(server._lock)  # the process is gone: nothing is closed, nothing written any more
        server._log.close()
        [store] = server._stores
        store.close()
    _, client = durable(tmp_path, memory_rows=memory_rows)
    np.testing.assert_array_equal(client.pull("t", everything), reference.pull("t", everything))
    ids, rows = client.everywhere("export", "t")[0]
    known, expected = reference.everywhere("export", "t")[0]
    order = np.argsort(known)
    known, expected = known[order], expected[order]
    np.testing.assert_array_equal(rows[np.argsort(ids)], expected[np.searchsorted(known, np.sort(ids))])


@needs_lmdb
def test_what_was_forgotten_does_not_come_back(tmp_path, monkeypatch) -> None:
    server, client = durable(tmp_path, max_age=0)
    ids = np.arange(10, dtype=np.int64)
    client.update("push", "t", ids, np.ones((10, 4), np.float32), ones(10))
    assert client.everywhere("shrink", "t", 1) == [0]
    client.update("push", "t", ids[:3], np.ones((3, 4), np.float32), ones(3))
    expected = client.pull("t", ids)
    monkeypatch.setattr(Log, "forget_old", lambda _: None)  # it ends before old segments are removed
    server.compact()
    monkeypatch.undo()
    os.close(server._lock)
    server._log.close()
    server._stores[0].close()
    again, client = durable(tmp_path, max_age=0)
    assert client.everywhere("num_features", "t") == [3]
    assert again.day("t") == 1
    np.testing.assert_array_equal(client.pull("t", ids), expected)


KILLED = """
import sys, numpy as np
from proa.distributed.ps.server import TableServer
server = TableServer(sys.argv[1], segment_bytes=60_000)
server.create({"name": "t", "width": 2, "rule": "sgd", "rate": 1.0, "initial_range": 0.0, "memory_rows": 300})
random = np.random.default_rng(int(sys.argv[2]))
for number in range(1, 100000):
    ids = np.unique(random.integers(0, 1000, 50))
    minus, shows = np.full((len(ids), 2), -1, np.float32), np.ones(len(ids), np.float32)
    server.update("push", "t", sys.argv[2], number, ids, minus, shows)
    print(number, flush=True)
"""


@needs_lmdb
def test_a_killed_server_has_lost_nothing_it_acknowledged(tmp_path) -> None:
    least, most = np.zeros(1000, int), np.zeros(1000, int)
    for turn in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), str(turn)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            assert process.stdout.readline(), process.stderr.read().decode()
            time.sleep(0.1 + 0.2 * turn)
            process.send_signal(signal.SIGKILL)
            acknowledged = 1 + process.stdout.read().count(b"\n")
        finally:
            process.kill()
            process.wait()
        random = np.random.default_rng(turn)
        for number in range(acknowledged + 1):  # one more may have been on its way
            ids = np.unique(random.integers(0, 1000, 50))
            most[ids] += 1
            least[ids] += number < acknowledged
    server = TableServer(str(tmp_path))
    counted = server.pull("t", np.arange(1000, dtype=np.int64))
    assert (counted[:, 0] == counted[:, 1]).all()
    assert (counted[:, 0] >= least).all()
    assert (counted[:, 0] <= most).all()
    assert least.sum() > 100
    server.close()


@needs_lmdb
def test_a_folder_has_one_server(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("proa.distributed.ps.server._LOCK_SECONDS", 0.2)
    first = TableServer(str(tmp_path))
    with pytest.raises(RuntimeError, match="another server uses the folder"):
        TableServer(str(tmp_path))
    first.close()
    TableServer(str(tmp_path)).close()


# ---- workers -------------------------------------------------------------------------------------


class Flaky:
    """A server whose answers get lost: before the work is done, or after it."""

    def __init__(self, server: TableServer) -> None:
        self._server, self._calls = server, 0

    def call(self, method, *arguments):
        self._calls += 1
        turn = self._calls % 3
        if turn == 1:
            raise Unavailable("not reached")
        result = getattr(self._server, method)(*arguments)

        def wait():
            if turn == 2:
                raise Unavailable("the answer was lost")
            return result

        return wait


def test_lost_answers_change_nothing(monkeypatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    client = Client([Flaky(TableServer()), LocalServer(TableServer()), Flaky(TableServer())])
    client.create(TableConfig("t", 1, "sgd", 1.0, initial_range=0.0))
    ids = np.arange(-50, 50, dtype=np.int64)
    for _ in range(5):
        client.update("push", "t", ids, np.full((100, 1), -1, np.float32), ones(100))
    assert (client.pull("t", ids) == 5).all()
    assert client.retries > 5
    impatient = Client([Flaky(TableServer())], patience=-1)
    with pytest.raises(RuntimeError, match="did not answer within -1 s; received: not reached"):
        impatient.everywhere("num_left")


def test_updates_in_the_background_arrive_in_order_and_failures_are_told() -> None:
    server = TableServer()
    client = Client([LocalServer(server)])
    client.create(TableConfig("t", 1, "sgd", 1.0, initial_range=0.0))
    sender = Background(client, Client([LocalServer(server)]))
    for _ in range(100):
        sender.push("t", np.array([1]), np.full((1, 1), -1, np.float32), ones(1), None)
    sender.flush()
    assert client.pull("t", np.array([1])).tolist() == [[100]]
    sender.push("nowhere", np.array([1]), np.zeros((1, 1), np.float32), ones(1), None)
    with pytest.raises(ValueError, match="no table 'nowhere'"):
        sender.flush()


def test_geo_sends_differences_divided_by_the_workers() -> None:
    server = TableServer()
    config = TableConfig("t", 1, "sgd", 1.0, initial_range=0.0)
    workers = [Geo(Client([LocalServer(server)]), 3, 2, {"t": config}.__getitem__) for _ in range(2)]
    reader = Client([LocalServer(server)])
    reader.create(config)
    ids = np.array([8, 9])
    for step in range(3):
        for worker, gradient in zip(workers, (-2, -4)):
            assert worker.pull("t", ids)[0, 0] == -gradient * step, "a worker sees its own updates at once"
            worker.push("t", ids, np.full((2, 1), gradient, np.float32), ones(2), None)
            if step < 2:
                worker.stepped()
    assert (reader.pull("t", ids) == 0).all()
    workers[0].stepped()
    assert (reader.pull("t", ids) == 3).all(), "three steps of 2, divided by two workers"
    workers[1].stepped()
    assert (reader.pull("t", ids) == 9).all()
    assert (workers[0].pull("t", ids) == 9).all(), "and then what all have learned"


# ---- the layer -----------------------------------------------------------------------------------


def test_an_embedding_on_servers_trains_as_one_in_memory() -> None:
    server_side = SparseEmbedding(4, "t", "sgd", 0.5, initial_range=0.3)
    ids = np.array([[3, 9, 3], [2**50, -4, 9]])
    known = np.unique(ids)
    ordinary = paddle.nn.Embedding(len(known), 4)
    ordinary.weight.set_value(server_side(known).numpy())
    set_session_lookups_aside()
    layers = [paddle.nn.Linear(4, 1) for _ in range(2)]
    layers[1].set_state_dict(layers[0].state_dict())
    optimizers = [
        ServerOptimizer(paddle.optimizer.SGD(0.5, parameters=layers[0].parameters())),
        paddle.optimizer.SGD(0.5, parameters=[*layers[1].parameters(), ordinary.weight]),
    ]
    for _ in range(5):
        losses = []
        for layer, optimizer, rows in zip(
            layers,
            optimizers,
            (
                lambda: server_side(paddle.to_tensor(ids)),
                lambda: ordinary(paddle.to_tensor(np.searchsorted(known, ids))),
            ),
        ):
            loss = (layer(rows()) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    np.testing.assert_allclose(server_side(known).numpy(), ordinary.weight.numpy(), rtol=1e-5, atol=1e-6)


def set_session_lookups_aside() -> None:
    from proa.distributed.ps.session import current_session

    current_session().lookups.clear()


def test_padding_is_zero_and_is_never_sent() -> None:
    layer = SparseEmbedding(2, "t", "sgd", 1.0, padding_idx=7, initial_range=0.5)
    ids = np.array([[7, 1], [5, 7]])
    out = layer(ids)
    assert (out.numpy()[ids == 7] == 0).all()
    assert (out.numpy()[ids != 7] != 0).all()
    optimizer = ServerOptimizer(paddle.optimizer.SGD(1.0, parameters=paddle.nn.Linear(1, 1).parameters()))
    before = out.numpy()
    out.sum().backward()
    optimizer.step()
    after = layer(ids).numpy()
    np.testing.assert_allclose(after[ids != 7], before[ids != 7] - 1, rtol=1e-6)
    assert (after[ids == 7] == 0).all()


def test_evaluation_makes_no_features() -> None:
    layer = SparseEmbedding(2, "t", initial_range=0.5)
    layer.eval()
    assert (layer(paddle.to_tensor([1, 2])).numpy() == 0).all()
    layer.train()
    assert (layer(paddle.to_tensor([1, 2])).numpy() != 0).any()
    with pytest.raises(TypeError, match="features must be integers; received float32"):
        layer(paddle.to_tensor([1.0]))


def test_optimisers_that_servers_do_not_know_are_refused() -> None:
    parameters = paddle.nn.Linear(2, 2).parameters()
    with pytest.raises(ValueError, match="servers know SGD, Adagrad and Adam; received Momentum"):
        ServerOptimizer(paddle.optimizer.Momentum(parameters=parameters))
    with pytest.raises(ValueError, match="neither clip gradients nor decay weights"):
        ServerOptimizer(paddle.optimizer.Adam(parameters=parameters, grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)))


def test_workers_share_the_dense_parameters() -> None:
    server = TableServer()
    models = [paddle.nn.Linear(300, 2) for _ in range(2)]
    sessions = [Session([LocalServer(server)], worker, 1) for worker in range(2)]
    optimizers = []
    for model, session in zip(models, sessions):
        set_session(session)
        optimizers.append(ServerOptimizer(paddle.optimizer.SGD(0.1, parameters=model.parameters())))
    np.testing.assert_array_equal(models[0].weight.numpy(), models[1].weight.numpy())
    for model, optimizer in zip(models, optimizers):
        model(paddle.ones([1, 300])).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    optimizers[0].pull()
    np.testing.assert_array_equal(models[0].weight.numpy(), models[1].weight.numpy())


def test_sparse_embedding_asks_the_servers(monkeypatch) -> None:
    from proa.distributed.ps.embedding import sparse_embedding
    from proa.static.nn import common

    monkeypatch.setattr(common, "on_servers", [sparse_embedding])
    attr = paddle.ParamAttr(name="SparseFeatFactors")
    ids = paddle.to_tensor([[1, 3], [2, 127]])
    with pytest.raises(RuntimeError, match=r"call fleet.init_worker\(\) first"):
        paddle.static.nn.sparse_embedding(ids, [128, 16], param_attr=attr)
    set_session(Session([LocalServer(TableServer())]))
    out = paddle.static.nn.sparse_embedding(ids, [128, 16], padding_idx=-1, param_attr=attr)
    assert list(out.shape) == [2, 2, 16]
    assert (out.numpy()[1, 1] == 0).all()
    assert (out.numpy()[0] != 0).all()
    later = paddle.static.nn.sparse_embedding(ids, [128, 16], is_test=True, param_attr=attr)
    assert (later.numpy()[0] == out.numpy()[0]).all()
    with pytest.raises(ValueError, match="a table needs a name"):
        paddle.static.nn.sparse_embedding(ids, [128, 16])
    with pytest.raises(TypeError, match="entry must be a CountFilterEntry"):
        paddle.static.nn.sparse_embedding(ids, [128, 16], entry="often", param_attr=paddle.ParamAttr(name="other"))


def test_tables_are_written_for_others(tmp_path) -> None:
    session = Session([LocalServer(TableServer()), LocalServer(TableServer())])
    set_session(session)
    session.create(TableConfig("t", 2, initial_range=0.5))
    ids = np.arange(-20, 20, dtype=np.int64)
    expected = session.client.pull("t", ids)
    ServerMode(None, None).save_tables(str(tmp_path / "out"))
    parts = [paddle.load(str(tmp_path / "out" / f"t.{number}.safetensors"), return_numpy=True) for number in range(2)]
    assert all(len(part["features"]) for part in parts), "both servers have some"
    features = np.concatenate([part["features"] for part in parts])
    weights = np.concatenate([part["weights"] for part in parts])
    np.testing.assert_array_equal(np.sort(features), ids)
    np.testing.assert_array_equal(weights[np.argsort(features)], expected)


# ---- roles ---------------------------------------------------------------------------------------


def test_roles_come_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1:6001,127.0.0.1:6002")
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "3")
    monkeypatch.setenv("TRAINING_ROLE", "PSERVER")
    monkeypatch.setenv("PADDLE_PORT", "6002")
    role = fleet.PaddleCloudRoleMaker()
    assert (role._is_server(), role._is_worker(), role._server_index(), role._server_num()) == (True, False, 1, 2)
    monkeypatch.setenv("PADDLE_PORT", "6009")
    with pytest.raises(ValueError, match=r"must be one of PADDLE_PSERVERS_IP_PORT_LIST; received 127.0.0.1:6009"):
        fleet.PaddleCloudRoleMaker()
    monkeypatch.setenv("TRAINING_ROLE", "TRAINER")
    monkeypatch.setenv("PADDLE_TRAINER_ID", "2")
    made = fleet.Fleet()
    made.init(fleet.PaddleCloudRoleMaker())
    assert (made.is_server(), made.is_worker(), made.worker_index(), made.worker_num()) == (False, True, 2, 3)
    assert not made.is_first_worker()
    assert made.server_endpoints(to_string=True) == "127.0.0.1:6001,127.0.0.1:6002"
    with pytest.raises(RuntimeError, match=r"call fleet.init_worker\(\) first"):
        made.distributed_optimizer(None)
    monkeypatch.setenv("TRAINING_ROLE", "BAKER")
    with pytest.raises(ValueError, match="must be PSERVER or TRAINER; received 'BAKER'"):
        fleet.PaddleCloudRoleMaker()
    given = fleet.UserDefinedRoleMaker(
        current_id=1, role=fleet.Role.SERVER, worker_num=2, server_endpoints=["a:1", "b:2"]
    )
    assert (given._is_server(), given._server_index(), given._worker_num()) == (True, 1, 2)


def test_a_job_without_servers_says_so() -> None:
    made = fleet.Fleet()
    made.init(is_collective=True)
    assert made.is_worker()
    assert made.server_num() == 0
    with pytest.raises(RuntimeError, match="this job has no table servers"):
        made.run_server()
