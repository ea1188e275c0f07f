"""The launcher: processes that are started, watched, ended and started again together."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from proa import distributed as dist
from proa.distributed.launching import options, rounds, variables, workers

from .killing import WORKER, run
from .support.processes import ROOT, environment

# Several processes on two cores, beside whatever else runs there.
pytestmark = pytest.mark.timeout(300)
# A script that needs nothing of the package, so that starting it costs nothing.
PLAIN = """
import os, pathlib, signal, sys, time
rank, restarts = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PROA_RESTARTS"])
folder = pathlib.Path(sys.argv[1])
(folder / f"pid.{restarts}.{rank}").write_text(str(os.getpid()))
print(f"process {rank} of {os.environ['PADDLE_TRAINERS_NUM']}, start {restarts}, {os.environ['PADDLE_MASTER']}", flush=True)
"""


def begin(folder: pathlib.Path, script: str, *given: str) -> subprocess.Popen[str]:
    file = folder / "script.py"
    file.write_text(PLAIN + script)
    command = [sys.executable, "-m", "proa.distributed.launch", *given, str(file), str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=folder
    )


def finish(job: subprocess.Popen[str], folder: pathlib.Path, limit: float = 60) -> tuple[str, str]:
    """What the launcher said; none of its processes may be left."""
    try:
        out, err = job.communicate(timeout=limit)
    finally:
        job.kill()
    end = time.monotonic() + 10
    while (left := [f for f in folder.glob("pid.*") if pathlib.Path(f"/proc/{f.read_text()}").exists()]) and (
        time.monotonic() < end
    ):
        time.sleep(0.05)
    assert not left, f"left behind: {left}"
    return out, err


def test_every_process_has_a_number_and_a_log(tmp_path: pathlib.Path) -> None:
    job = begin(tmp_path, "", "--nproc_per_node", "3", "--log_dir", str(tmp_path / "log"))
    out, err = finish(job, tmp_path)
    assert job.returncode == 0, err
    assert out.startswith("process 0 of 3, start 0, 127.0.0.1:")
    assert "process 1" not in out, "only the first process speaks on the terminal"
    for rank in range(3):
        assert (tmp_path / "log" / f"workerlog.{rank}").read_text().startswith(f"process {rank} of 3")


def test_a_failing_process_ends_the_job_and_is_shown(tmp_path: pathlib.Path) -> None:
    script = "if rank == 1: raise KeyError('the reason')\nelse: time.sleep(600)"
    job = begin(tmp_path, script, "--nproc_per_node", "2", "--max_restart", "1")
    out, err = finish(job, tmp_path)
    assert job.returncode == 1
    assert [line.split(", 127")[0] for line in out.splitlines()] == [
        "process 0 of 2, start 0",
        "process 0 of 2, start 1",
    ]
    assert err.index("launch: process 1 ended with status 1") < err.index("KeyError: 'the reason'")
    assert err.count("starting again (1 more times)") == 1


def test_fewer_processes_go_on_where_some_fail(tmp_path: pathlib.Path) -> None:
    script = "time.sleep(0.3)\nif rank == 2: os.kill(os.getpid(), 9)\ntime.sleep(0.5)"
    job = begin(tmp_path, script, "--nproc_per_node", "1:3", "--max_restart", "2")
    out, err = finish(job, tmp_path)
    assert job.returncode == 0, err
    assert "process 2 was killed by SIGKILL" in err
    assert [line.split(", 127")[0] for line in out.splitlines()] == [
        "process 0 of 3, start 0",
        "process 0 of 2, start 1",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_go_to_all_and_leave_time_to_save(tmp_path: pathlib.Path, number: int) -> None:
    script = """
def save(number, _):
    time.sleep(0.3)
    (folder / f"saved.{rank}").write_text(str(number))
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
signal.signal(signal.SIGINT, save)
(folder / f"ready.{rank}").write_text("")
time.sleep(600)
"""
    job = begin(tmp_path, script, "--nproc_per_node", "2")
    wait_for(tmp_path / "ready.0", tmp_path / "ready.1")
    job.send_signal(number)
    finish(job, tmp_path)
    assert job.returncode == 0
    assert [(tmp_path / f"saved.{rank}").read_text() for rank in range(2)] == [str(int(number))] * 2


def test_who_is_on_its_way_out_is_not_asked_again(tmp_path: pathlib.Path) -> None:
    # As in an interpreter that ends: its handlers are gone while it is not.
    script = """
import pathlib, signal, sys, time
def leave(number, _):
    signal.signal(number, signal.SIG_DFL)
    pathlib.Path("leaving").touch()
    time.sleep(0.5)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
pathlib.Path("ready").touch()
time.sleep(600)
"""
    group = workers.Workers(str(tmp_path / "logs"))
    try:
        worker = group.start(
            [sys.executable, "-c", f"import os; os.chdir({str(tmp_path)!r})\n{script}"], 0, 0, os.environ
        )
        wait_for(tmp_path / "ready")
        group.signal(signal.SIGTERM)
        wait_for(tmp_path / "leaving")
    finally:
        group.stop(30)
        group.close()
    assert worker.process.returncode == 0


def test_who_does_not_leave_is_killed(tmp_path: pathlib.Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n(folder / f'ready.{rank}').write_text('')\ntime.sleep(600)"
    job = begin(tmp_path, script, "--nproc_per_node", "2", "--stop_timeout", "0.5")
    wait_for(tmp_path / "ready.0", tmp_path / "ready.1")
    job.terminate()
    finish(job, tmp_path)
    assert job.returncode == 128 + signal.SIGTERM


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_processes_end_with_a_launcher_that_is_killed(tmp_path: pathlib.Path) -> None:
    job = begin(tmp_path, "time.sleep(600)", "--nproc_per_node", "2")
    wait_for(tmp_path / "pid.0.0", tmp_path / "pid.0.1")
    job.kill()
    finish(job, tmp_path)


def wait_for(*files: pathlib.Path) -> None:
    end = time.monotonic() + 60
    while not all(file.exists() for file in files):
        assert time.monotonic() < end, f"{files} did not come"
        time.sleep(0.02)


def test_training_goes_on_after_a_kill(tmp_path: pathlib.Path) -> None:
    calm, disturbed = tmp_path / "calm", tmp_path / "killed"
    calm.mkdir()
    disturbed.mkdir()
    expected, _ = run(calm, 150, "2", [], 120)
    loss, killed = run(disturbed, 150, "2", [(0.0, 1)], 120, saved=True)
    assert killed == 1
    assert loss == pytest.approx(expected, rel=1e-5)


def test_checkpoint_and_leave(tmp_path: pathlib.Path) -> None:
    command = [
        sys.executable,
        "-m",
        "proa.distributed.launch",
        "--nproc_per_node",
        "2",
        WORKER,
        str(tmp_path),
        "100000",
    ]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), cwd=ROOT
    )
    wait_for(tmp_path / "checkpoint.pd")
    job.terminate()
    out, _ = finish(job, tmp_path)
    assert job.returncode == 0, out
    assert "left at step" in out


def test_options_that_are_wrong_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PADDLE_NODE_RANK", "SLURM_NODEID"):
        monkeypatch.delenv(name, raising=False)
    for given, words in [
        (["--nnodes", "2", "a.py"], r"2 machines must know where to meet.*--master None, --rank None"),
        (["--nnodes", "0", "a.py"], "--nnodes must be a number of at least 1"),
        (["--nproc_per_node", "3:1", "a.py"], "MIN:MAX must rise"),
        (["--devices", "0,1", "--nproc_per_node", "3", "a.py"], "3 processes need as many devices"),
        (["--nnodes", "2", "--master", "a:1", "--rank", "2", "a.py"], "--rank must be one of 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            options.parse(given)
    for given in (["--servers", "a:1,a:1"], ["--trainers", "nowhere"], ["--server_num", "0"]):
        with pytest.raises(ValueError, match=given[0]):
            options.parse([*given, "a.py"])
    chosen = options.parse(["--gpus", "2,3", "--log_level", "INFO", "--backend", "gloo", "a.py", "--lr", "1"])
    assert (chosen.most, chosen.devices, chosen.command) == (2, ["2", "3"], ["a.py", "--lr", "1"])
    chosen = options.parse(["--nnodes", "2", "--master", "a:7", "--rank", "1", "--nproc_per_node", "4", "-m", "pkg"])
    found = variables.variables(chosen, rounds._start(chosen, 4, 1), 4, 2)
    assert [found[name] for name in ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_MASTER")] == [
        "6",
        "8",
        "a:8",
    ]
    assert chosen.command == ["-m", "pkg"]


def _work(folder: str, rank_that_fails: int) -> None:
    dist.init_parallel_env()
    gathered: list[Any] = []
    dist.all_gather_object(gathered, os.getpid())
    pathlib.Path(folder, f"pid.{dist.get_rank()}").write_text(str(os.getpid()))
    if dist.get_rank() == rank_that_fails:
        raise LookupError("in one of them")
    dist.barrier()


def test_spawn_starts_a_job(tmp_path: pathlib.Path) -> None:
    dist.spawn(_work, (str(tmp_path), -1), nprocs=2)
    assert len({file.read_text() for file in tmp_path.glob("pid.*")}) == 2
    with pytest.raises(RuntimeError, match=r"(?s)process 1 ended with exit status 1:.*LookupError: in one of them"):
        dist.spawn(_work, (str(tmp_path), 1), nprocs=2)
    assert not [file for file in tmp_path.glob("pid.*") if pathlib.Path(f"/proc/{file.read_text()}").exists()]


# Servers wait until the trainers have left a word, as tables do; all say what they are.
BESIDE_SERVERS = """
import os, pathlib, sys, time
folder, role = pathlib.Path(sys.argv[1]), os.environ["TRAINING_ROLE"]
number = os.environ.get("PADDLE_TRAINER_ID", os.environ["PADDLE_PORT"])
servers = os.environ["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")
again = (folder / f"pid.{role}.{number}").exists()
(folder / f"pid.{role}.{number}").write_text(str(os.getpid()))
(folder / f"role.{role}.{number}.{int(again)}").write_text(f"{len(servers)} {os.environ['PADDLE_TRAINERS_NUM']}")
if role == "PSERVER":
    assert f"{os.environ['POD_IP']}:{os.environ['PADDLE_PORT']}" in servers
    while len(list(folder.glob("left.*"))) < int(os.environ["PADDLE_TRAINERS_NUM"]):
        time.sleep(0.02)
    sys.exit(0)
if (folder / "fails").exists() and number == "1" and not again:
    print("no more", flush=True)
    sys.exit(3)
(folder / f"left.{number}").write_text("")
"""


def begin_with_servers(folder: pathlib.Path, *given: str) -> subprocess.Popen[str]:
    (folder / "roles.py").write_text(BESIDE_SERVERS)
    command = [sys.executable, "-m", "proa.distributed.launch", *given, str(folder / "roles.py"), str(folder)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=folder
    )


def test_servers_are_started_beside_trainers(tmp_path: pathlib.Path) -> None:
    logs = tmp_path / "log"
    job = begin_with_servers(tmp_path, "--server_num", "2", "--trainer_num", "3", "--log_dir", str(logs))
    _, err = finish(job, tmp_path)
    assert job.returncode == 0, err
    roles = sorted(path.name for path in tmp_path.glob("role.*"))
    assert sum("PSERVER" in name for name in roles) == 2
    assert [name for name in roles if "TRAINER" in name] == [f"role.TRAINER.{n}.0" for n in range(3)]
    assert {path.read_text() for path in tmp_path.glob("role.*")} == {"2 3"}
    assert sorted(path.name for path in logs.iterdir()) == [
        "serverlog.0", "serverlog.1", "workerlog.0", "workerlog.1", "workerlog.2",
    ]  # fmt: skip


def test_a_trainer_beside_servers_is_started_again_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "fails").touch()
    job = begin_with_servers(tmp_path, "--run_mode", "ps", "--trainer_num", "2", "--max_restart", "1")
    _, err = finish(job, tmp_path)
    assert job.returncode == 0, err
    assert "process 1 ended with status 3; the others go on" in err
    assert "no more" in err
    assert (tmp_path / "role.TRAINER.1.1").exists()
    assert not list(tmp_path.glob("role.PSERVER.*.1"))


def test_a_job_with_servers_fails_as_a_whole(tmp_path: pathlib.Path) -> None:
    (tmp_path / "fails").touch()
    job = begin_with_servers(tmp_path, "--server_num", "1", "--trainer_num", "2")
    _, err = finish(job, tmp_path)
    assert job.returncode == 3
    assert "the job is ended" in err


def test_each_machine_starts_its_own_addresses() -> None:
    from proa.distributed.launching import servers

    given = ["--servers", "a:1,b:1", "--trainers", "a:2,b:2,b:3", "--host", "b", "x.py"]
    roles = servers.roles_of(options.parse(given))
    assert [(role.is_server, role.number) for role in roles] == [(True, 1), (False, 1), (False, 2)]
    with pytest.raises(ValueError, match="none of the addresses"):
        servers.roles_of(options.parse([*given[:4], "--host", "c", "x.py"]))
