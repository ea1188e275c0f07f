"""Machines that come and go: launchers on one computer, each of which stands for a machine."""

from __future__ import annotations

import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from proa.distributed.launching import options
from tests.distributed.support.processes import environment

from .killing import WORKER, run

pytestmark = pytest.mark.timeout(300)

# Writes who it is, and ends when the file says so; SIGTERM is a wish to leave.
SCRIPT = """
import os, pathlib, signal, sys, time
folder = pathlib.Path(sys.argv[1])
rank, total, start = (os.environ[name] for name in ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PROA_RESTARTS"))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
nodes, node = os.environ["PADDLE_NNODES"], os.environ["PADDLE_NODE_RANK"]
(folder / f"start.{start}.{rank}").write_text(f"{total} {nodes} {node} {os.getpid()}")
while not (folder / "enough").exists():
    if (folder / f"fail.{start}.{rank}").exists():
        sys.exit("as it was told")
    time.sleep(0.02)
"""


class Machines:
    """Launchers of one job."""

    def __init__(self, folder: pathlib.Path, nodes: str) -> None:
        self.folder = folder
        (folder / "script.py").write_text(SCRIPT)
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.master = f"127.0.0.1:{probe.getsockname()[1]}"
        self.nodes, self.patience = nodes, "6"  # longer than a launcher takes to start on a busy computer
        self.command = [str(folder / "script.py"), str(folder)]
        self.launchers: list[subprocess.Popen[str]] = []

    def add(self, *given: str, key: str = "secret") -> subprocess.Popen[str]:
        command = [
            sys.executable, "-m", "proa.distributed.launch", "--nnodes", self.nodes, "--master", self.master,
            "--elastic_timeout", self.patience, *given, *self.command,
        ]  # fmt: skip
        self.launchers.append(
            subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**environment(), "PROA_JOB_KEY": key})
        )
        while len(self.launchers) == 1 and self.launchers[0].poll() is None and not _listens(self.master):
            time.sleep(0.02)  # the first one keeps the list
        return self.launchers[-1]

    def wait_for(self, *names: str) -> list[str]:
        """What the processes of a start wrote."""
        files = [self.folder / name for name in names]
        end = time.monotonic() + 60
        while not all(file.exists() and file.stat().st_size for file in files):
            assert time.monotonic() < end, (
                f"{names} did not come; there are {sorted(x.name for x in self.folder.iterdir())}"
            )
            time.sleep(0.02)
        return [file.read_text(errors="replace").rsplit(" ", 1)[0] for file in files]

    def finish(self, *launchers: subprocess.Popen[str]) -> list[tuple[int, str]]:
        (self.folder / "enough").touch()
        return [(launcher.wait(60), launcher.communicate()[1]) for launcher in launchers]


@pytest.fixture
def machines(tmp_path: pathlib.Path) -> Iterator[Machines]:
    made = Machines(tmp_path, "2:3")
    yield made
    for launcher in made.launchers:
        launcher.kill()
        launcher.wait()
        if launcher.stderr is not None:
            launcher.stderr.close()


def test_a_machine_is_lost_and_another_one_comes(machines: Machines) -> None:
    first, second, third = machines.add(), machines.add(), machines.add("--nproc_per_node", "2")
    names = sorted(machines.wait_for("start.0.0", "start.0.1", "start.0.2", "start.0.3"))
    assert [name.split()[:2] for name in names] == [["4", "3"]] * 4
    third.kill()  # its processes end with it
    assert sorted(machines.wait_for("start.1.0", "start.1.1")) == ["2 2 0", "2 2 1"]
    fourth = machines.add()
    assert sorted(machines.wait_for("start.2.0", "start.2.1", "start.2.2")) == ["3 3 0", "3 3 1", "3 3 2"]
    assert [status for status, _ in machines.finish(first, second, fourth)] == [0, 0, 0]
    assert not list(machines.folder.glob("start.3.*"))


def test_a_failing_process_begins_a_new_start_until_it_is_enough(machines: Machines) -> None:
    machines.nodes = "2:2"
    first, second = machines.add("--max_restart", "1"), machines.add("--max_restart", "1")
    machines.wait_for("start.0.0", "start.0.1")
    (machines.folder / "fail.0.1").touch()
    machines.wait_for("start.1.0", "start.1.1")
    (machines.folder / "fail.1.0").touch()
    ended = [(launcher.wait(60), launcher.communicate()[1]) for launcher in (first, second)]
    assert [status for status, _ in ended] == [1, 1]
    said = "".join(text for _, text in ended)
    assert "it was started often enough" in said
    assert "all are started again" in said


def test_a_machine_that_is_asked_to_leave_leaves_the_others_at_work(machines: Machines) -> None:
    machines.nodes = "1:2"
    first, second = machines.add(), machines.add()
    machines.wait_for("start.0.0", "start.0.1")
    second.send_signal(signal.SIGTERM)
    assert second.wait(60) == 0
    assert machines.wait_for("start.1.0") == ["1 1 0"]
    assert machines.finish(first)[0][0] == 0


def test_who_is_not_wanted_is_told_why(machines: Machines) -> None:
    first, second, third = machines.add(), machines.add(), machines.add()
    machines.wait_for("start.0.0", "start.0.1", "start.0.2")
    stranger, fourth = machines.add(key="another"), machines.add()
    assert stranger.wait(60) == 1
    assert "has another key" in stranger.communicate()[1]
    assert fourth.wait(60) == 1
    assert "has its 3 machines already" in fourth.communicate()[1]
    host, port = machines.master.split(":")
    with socket.create_connection((host, int(port))) as silent:  # one that says nothing, and one that says nonsense
        silent.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert [status for status, _ in machines.finish(first, second, third)] == [0, 0, 0]
    assert not list(machines.folder.glob("start.1.*"))


def test_the_job_ends_with_the_launcher_that_keeps_the_list(machines: Machines) -> None:
    machines.nodes = "2:2"
    first, second = machines.add(), machines.add()
    machines.wait_for("start.0.0", "start.0.1")
    first.kill()
    assert second.wait(60) == 1
    assert "keeps the list of machines is gone" in second.communicate()[1]


def test_nobody_keeps_the_list(machines: Machines) -> None:
    machines.patience = "1"
    machines.master = "192.0.2.1:9"  # an address that is nobody's
    alone = machines.add()
    assert alone.wait(120) == 1
    assert "nobody keeps the list of machines at 192.0.2.1:9" in alone.communicate()[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--nnodes", "3:2", "--master", "a:1"], "must rise"),
        (["--nnodes", "1:2"], "where to meet"),
        (["--nnodes", "x:2", "--master", "a:1"], "a number of at least 1"),
    ],
)
def test_wrong_options(given: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        options.parse([*given, "script.py"])


def _listens(master: str) -> bool:
    host, port = master.split(":")
    with closing(socket.socket()) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, int(port))) == 0


def test_training_goes_on_when_machines_change(machines: Machines, tmp_path: pathlib.Path) -> None:
    (tmp_path / "calm").mkdir()
    wanted, _ = run(tmp_path / "calm", 120, "1", [], 120)
    machines.command = [WORKER, str(tmp_path), "120"]
    first, second, third = machines.add(), machines.add(), machines.add()
    machines.wait_for("pid.0.0", "pid.0.1", "pid.0.2", "checkpoint.pd")
    third.kill()
    machines.wait_for("pid.1.0", "pid.1.1")
    ended = [(launcher.wait(120), launcher.communicate()[1]) for launcher in (first, second)]
    assert [status for status, _ in ended] == [0, 0], ended
    assert float((tmp_path / "final").read_text()) == pytest.approx(wanted, abs=1e-5)
