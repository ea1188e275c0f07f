"""Datasets of slots under `Executor.train_from_dataset`; numbers beside Paddle 3.3.1's, errors by file and line."""

from __future__ import annotations

import re
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import proa as paddle
from proa.distributed.ps.client import LocalServer
from proa.distributed.ps.server import TableServer
from proa.distributed.ps.session import Session
from proa.static.datasets import FetchHandler


@pytest.fixture(autouse=True)
def static_mode(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paddle.enable_static()
    yield
    paddle.disable_static()


def write(name: str, text: str) -> str:
    with open(name, "w") as file:
        file.write(text)
    return name


def regression() -> SimpleNamespace:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("d", [None, 1], "float32")
        label = paddle.static.data("l", [None, 1], "int64")
        half = paddle.nn.initializer.Constant(0.5)
        y = paddle.static.nn.fc(x, 1, weight_attr=paddle.ParamAttr(name="w_of_datasets", initializer=half))
        loss = ((y - label.astype("float32")) ** 2).mean()
        paddle.optimizer.SGD(0.01).minimize(loss)
    executor = paddle.static.Executor()
    executor.run(startup)
    return SimpleNamespace(main=main, slots=[x, label], loss=loss, label=label, executor=executor)


def dataset(net, files, kind=paddle.distributed.QueueDataset, **settings):
    made = kind()
    made.init(**{"batch_size": 2, "use_var": net.slots, **settings})
    made.set_filelist(files)
    return made


def printed(capsys) -> list[str]:
    return re.findall(r"batch: .*", capsys.readouterr().out)


def six() -> str:
    return write("c.txt", "".join(f"1 0.{n} 1 {n}\n" for n in range(6)))


def weight(net) -> float:
    return net.main.state_dict()["w_of_datasets"].numpy().item()


# What Paddle 3.3.1 printed for these files, this program and one thread.
PADDLE = [
    "batch: [1], loss[1]:[0.45125], l[2]:[0 1]",
    "batch: [2], loss[1]:[5.82005], l[2]:[2 3]",
    "batch: [3], loss[1]:[17.9679], l[2]:[4 5]",
]


@pytest.mark.parametrize("kind", [paddle.distributed.QueueDataset, paddle.distributed.InMemoryDataset])
def test_losses_and_weights_are_paddles(kind, capsys) -> None:
    net = regression()
    data = dataset(net, [six()], kind)
    if kind is paddle.distributed.InMemoryDataset:
        data.load_into_memory()
    net.executor.train_from_dataset(
        net.main, data, fetch_list=[net.loss, net.label], fetch_info=["loss", "l"], print_period=1
    )
    assert printed(capsys) == PADDLE
    assert weight(net) > 0.5


def test_a_last_batch_of_one_line_trains_as_in_paddle() -> None:
    net = regression()
    lines = "".join(f"1 0.{n} 1 {n}\n" for n in range(7))
    net.executor.train_from_dataset(net.main, dataset(net, [write("seven.txt", lines)]))
    np.testing.assert_allclose(weight(net), 0.6179713, rtol=1e-6)  # Paddle 3.3.1's


def test_inference_changes_nothing(capsys) -> None:
    net = regression()
    net.executor.infer_from_dataset(net.main, dataset(net, [six()]), fetch_list=[net.loss], print_period=3)
    assert weight(net) == 0.5
    assert printed(capsys)[0].endswith("[18.5012]")


def test_a_pipe_command_is_a_process(capsys) -> None:
    net = regression()
    data = dataset(net, [write("raw.txt", "3\n4\n")], pipe_command="""awk '{print "1", 0.5, "1", $1}' | cat""")
    net.executor.train_from_dataset(net.main, data, fetch_list=[net.label], fetch_info=["l"], print_period=1)
    assert printed(capsys) == ["batch: [1], l[2]:[3 4]"]


def test_a_failing_pipe_command_is_told_with_what_it_wrote() -> None:
    net = regression()
    data = dataset(net, [six()], pipe_command="echo no such table >&2; exit 3")
    with pytest.raises(RuntimeError, match=r"(?s)status 3 while it read c.txt.*no such table"):
        net.executor.train_from_dataset(net.main, data)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 0.1 1 2\n1 0.2\n", "bad.txt, line 2: the line ends before slot l"),
        ("1 0.1 1 2\n1 abc 1 5\n", "line 2: slot d holds numbers"),
        ("1 0.1 1 2.5\n", "line 1: slot l holds whole numbers, not '2.5'"),
        ("1 0.1 1 2\n\n1 0.1 1 2\n", "line 2: the line is empty"),
        ("1 0.1 0\n", "line 1: slot l says 0 values"),
        ("2 0.1 0.2 1 1\n", "line 1: slot d is .* takes 1 values, not 2"),
        ("1 0.1 1 3 4 5\n", "line 1: 2 words follow the last slot"),
        ("1 0.1 1 18446744073709551616\n", "line 1: slot l holds a number of more than 64 bits"),
    ],
)
@pytest.mark.parametrize("kind", [paddle.distributed.QueueDataset, paddle.distributed.InMemoryDataset])
def test_a_bad_line_is_named(kind, text, expected) -> None:
    net = regression()
    data = dataset(net, [write("bad.txt", text)], kind, thread_num=2)
    with pytest.raises(ValueError, match=expected):
        data.load_into_memory() if hasattr(data, "load_into_memory") else net.executor.train_from_dataset(
            net.main, data
        )


def test_a_missing_file_is_named() -> None:
    net = regression()
    with pytest.raises(FileNotFoundError, match=r"there is no file nothing\.txt"):
        net.executor.train_from_dataset(net.main, dataset(net, [six(), "nothing.txt"]))


def test_what_ends_early_ends_its_processes() -> None:
    net = regression()
    begin = time.monotonic()
    many = write("many.txt", "1 0.5 1 1\n" * 3000)
    batches = dataset(net, [many], pipe_command="cat; sleep 60")._batches()
    next(batches)
    batches.close()
    data = dataset(net, [write("x.txt", "1 a 1 1\n" * 3000)], pipe_command="cat; sleep 60")
    with pytest.raises(ValueError, match=r"line 1 of what the pipe command wrote"):
        net.executor.train_from_dataset(net.main, data)
    assert time.monotonic() - begin < 30


def test_ragged_slots_are_pooled_by_sequence(capsys) -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 1], "float32", lod_level=1)
        pooled = [paddle.static.nn.sequence_pool(x * 2, kind) for kind in ("sum", "average", "max", "first", "last")]
    data = dataset(SimpleNamespace(slots=[x]), [write("x.txt", "3 1 5 3\n1 4\n2 7 1\n")])
    paddle.static.Executor().train_from_dataset(
        main, data, fetch_list=pooled, fetch_info=["s", "a", "m", "f", "l"], print_period=1
    )
    assert printed(capsys) == [
        "batch: [1], s[2]:[18 8], a[2]:[6 8], m[2]:[10 8], f[2]:[2 8], l[2]:[6 8]",
        "batch: [2], s[1]:[16], a[1]:[8], m[1]:[14], f[1]:[14], l[1]:[2]",
    ]


def labels(net, data, capsys) -> list[int]:
    net.executor.infer_from_dataset(net.main, data, fetch_list=[net.label], fetch_info=["l"], print_period=1)
    return [int(word) for line in printed(capsys) for word in re.search(r"l\[\d\]:\[(.*)\]", line)[1].split()]


def test_shuffles_follow_the_seed(capsys) -> None:
    net = regression()
    data = dataset(net, [six()], paddle.distributed.InMemoryDataset)
    orders = []
    for seed in (1, 1, 2):
        data.preload_into_memory()
        data.wait_preload_done()
        assert (data.get_memory_data_size(), data.get_shuffle_data_size()) == (6, 0)
        paddle.seed(seed)
        data.local_shuffle()
        assert data.get_shuffle_data_size() == 6
        orders.append(labels(net, data, capsys))
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(6))
    data.release_memory()
    with pytest.raises(RuntimeError, match="call load_into_memory"):
        net.executor.train_from_dataset(net.main, data)


def test_a_global_shuffle_divides_the_records_of_all_workers(capsys) -> None:
    net = regression()
    server = LocalServer(TableServer())
    sets = [
        dataset(
            net,
            [write(f"{n}.txt", "".join(f"1 0 1 {10 * n + k}\n" for k in range(8)))],
            paddle.distributed.InMemoryDataset,
        )
        for n in range(2)
    ]

    def worker(number: int) -> None:
        session = Session([server], number, 2)
        util = SimpleNamespace(all_gather=session.gather)
        fleet = SimpleNamespace(worker_num=lambda: 2, worker_index=lambda: number, util=util)
        sets[number].load_into_memory()
        sets[number].global_shuffle(fleet)
        assert sets[number].get_memory_data_size(fleet) == 16

    threads = [threading.Thread(target=worker, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [labels(net, each, capsys) for each in sets]
    assert sorted(found[0] + found[1]) == [*range(8), *range(10, 18)]
    assert min(found[0]) < 10 <= max(found[0])


def test_a_handler_is_given_values() -> None:
    net, seen = regression(), []

    class Handler(FetchHandler):
        def handler(self, res_dict):
            seen.append(res_dict)

    data = dataset(net, [six()], pipe_command="cat; sleep 1")
    net.executor.train_from_dataset(net.main, data, fetch_handler=Handler({"loss": net.loss}, period_secs=0.1))
    assert seen
    assert "loss" in seen[0]
