"""One process of a job whose processes call each other's functions."""

from __future__ import annotations

import os
import socket
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from typing import Any

import pytest

import proa as paddle

rpc = paddle.distributed.rpc


def add(a: Any, b: Any = 1) -> Any:
    return a + b


def process() -> int:
    return os.getpid()


def fail(text: str) -> None:
    raise LookupError(text)


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def nested(to: str) -> int:
    return rpc.rpc_sync(to, process)


def unpicklable() -> Any:
    return lambda: None


def main() -> None:
    own = int(os.environ["PADDLE_TRAINER_ID"])
    rpc.init_rpc(f"worker{own}")
    other = f"worker{1 - own}"
    assert [worker.rank for worker in rpc.get_all_worker_infos()] == [0, 1]
    assert rpc.get_current_worker_info() == rpc.get_worker_info(f"worker{own}")
    assert rpc.rpc_sync(other, add, (2,), {"b": 5}) == 7
    assert rpc.rpc_sync(other, add, (paddle.ones([2]), paddle.ones([2]))).numpy().tolist() == [2.0, 2.0]
    assert rpc.rpc_sync(other, process) != os.getpid() == rpc.rpc_sync(f"worker{own}", process)
    assert rpc.rpc_sync(other, nested, (f"worker{own}",)) == os.getpid()
    futures = [rpc.rpc_async(other, add, (number, number)) for number in range(40)]
    assert [future.wait() for future in futures] == [2 * number for number in range(40)]
    with pytest.raises(LookupError, match="far away") as raised:
        rpc.rpc_sync(other, fail, ("far away",))
    assert "in the process that was called" in "".join(raised.value.__notes__)
    with pytest.raises(Exception, match="pickle"):
        rpc.rpc_sync(other, unpicklable)
    with pytest.raises(TimeoutError, match=r"has not answered within 0\.2 s"):
        rpc.rpc_sync(other, sleep, (1.0,), timeout=0.2)
    assert rpc.rpc_sync(other, add, (1,)) == 2, "a late answer is not taken for another call's"
    with pytest.raises(ValueError, match="the processes are called worker0, worker1"):
        rpc.rpc_sync("nobody", add, (1,))
    with pytest.raises(RuntimeError, match="takes part already"):
        rpc.init_rpc("again")
    there = rpc.get_worker_info(other)
    with pytest.raises((AuthenticationError, EOFError, ConnectionError)):
        Client((there.ip, there.port), authkey=b"guessed").send((os._exit, (3,), {}))
    silent = socket.create_connection((there.ip, there.port), 5)
    with socket.create_connection((there.ip, there.port), 5) as stranger:
        stranger.sendall(b"\x80\x04cos\nsystem\n" * 10)
    assert rpc.rpc_sync(other, add, (1,)) == 2, "strangers are refused, and calls go on"
    silent.close()
    rpc.shutdown()
    with pytest.raises(RuntimeError, match="init_rpc"):
        rpc.rpc_sync(other, add, (1,))
    print("calls done")


if __name__ == "__main__":
    main()
