"""Lines about what takes long: on terminals, once, from the one who knows best."""

from __future__ import annotations

import io
import os
import pathlib
import pty
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

import proa as paddle
from proa.core import waiting as module
from proa.core.waiting import waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream))  # pytest exchanges that of `sys` itself
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    return stream


def until(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_what_takes_long_says_what_it_is_while_it_lasts(terminal):
    with waiting("counting sheep", "1 to 2 s"):
        assert until(lambda: terminal.getvalue())
        assert terminal.getvalue() == "proa: counting sheep (usually 1 to 2 s; docs/everyday.md#waiting) ...\n"
        time.sleep(0.1)
    assert terminal.getvalue().count("\n") == 1


def test_what_is_quick_says_nothing(terminal, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 30.0)
    before = threading.active_count()
    with waiting("nothing", "no time"):
        pass
    assert until(lambda: threading.active_count() <= before)  # the timer is gone, too
    assert terminal.getvalue() == ""


def test_the_inner_one_speaks_for_both(terminal):
    with waiting("outer", "long"):
        with waiting("inner", "longer"):
            assert until(lambda: terminal.getvalue())
            time.sleep(0.1)
        time.sleep(0.1)
    assert "inner" in terminal.getvalue()
    assert "outer" not in terminal.getvalue()


def test_the_outer_one_speaks_when_the_inner_one_was_quick(terminal):
    with waiting("outer", "long"):
        with waiting("inner", "longer"):
            pass
        assert until(lambda: terminal.getvalue())
    assert "outer" in terminal.getvalue()


def test_threads_wait_for_themselves(terminal):
    def wait(number):
        with waiting(f"thread {number}", "long"):
            until(lambda: f"thread {number} " in terminal.getvalue())

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line[6:14] for line in terminal.getvalue().splitlines()) == [f"thread {n}" for n in range(4)]


def test_errors_pass_and_leave_no_timer(terminal):
    with pytest.raises(KeyError), waiting("failing", "long"):
        raise KeyError
    time.sleep(0.1)
    assert terminal.getvalue() == ""
    assert module._LOCAL.innermost is None


@pytest.mark.parametrize("stream", [io.StringIO(), None, "closed"])
def test_where_there_is_no_terminal_no_timer_is_set(monkeypatch, stream):
    if stream == "closed":
        stream = Terminal()
        stream.isatty = lambda: (_ for _ in ()).throw(ValueError("closed"))
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream))
    before = threading.active_count()
    with waiting("anything", "long") as begun:
        assert threading.active_count() == before
        assert begun._timer is None


def test_it_can_be_switched_off(terminal):
    paddle.set_flags({"FLAGS_explain_waiting": False})
    try:
        with waiting("anything", "long"):
            time.sleep(0.15)
    finally:
        paddle.set_flags({"FLAGS_explain_waiting": True})
    assert terminal.getvalue() == ""


PROGRAM = """
import proa.core.waiting as module
module.PATIENCE = 0.0
import proa as paddle
for _ in range(4):
    x = paddle.ones([4, 4])
    (x @ x + 1).numpy()
"""


def test_compiling_tells_on_a_real_terminal():
    master, slave = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(paddle.__file__).parents[1]), "PROA_NATIVE": "0"}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=slave, env=environment)
    os.close(slave)
    text = b""
    try:
        while chunk := os.read(master, 4096):
            text += chunk
    except OSError:  # the other side has closed it
        pass
    assert process.wait(100) == 0
    os.close(master)
    assert b"proa: importing JAX" in text
    assert b"proa: starting XLA" in text
    assert b"proa: XLA compiles a program of" in text
    quiet = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=100, check=True
    )
    assert quiet.stderr == ""
