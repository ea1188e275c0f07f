"""The launcher's options: Paddle's names, and what they mean here."""

from __future__ import annotations

import argparse
import os
import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...core.errors import value_error

# Options of Paddle's launcher that say nothing here: they are taken, with their values.
_WITHOUT_MEANING = (
    "legacy", "log_level", "log_overwrite", "sort_ip", "enable_gpu_log", "auto_parallel_config", "auto_cluster_config",
    "auto_tuner_json", "elastic_level", "ips", "gloo_port", "with_gloo", "backend",
)  # fmt: skip
_SERVERS = {
    "servers": "addresses of all table servers, host:port,host:port; this machine starts those of its --host",
    "trainers": "addresses of all trainers beside servers, likewise",
    "server_num": "table servers on this machine (1)",
    "trainer_num": "trainers beside them (1)",
}


@dataclass
class Options:
    """What was asked for."""

    command: list[str]
    least: int = 1  # processes on this machine, in the last resort
    most: int = 1  # and at first
    nodes: int = 1
    node: int = 0
    master: str | None = None
    devices: list[str] = field(default_factory=list)
    log_dir: str | None = None
    max_restart: int | None = None
    stop_timeout: float = 30.0
    job_id: str = "default"
    host: str = "127.0.0.1"
    start_port: int = 6070
    has_servers: bool = False
    servers: list[str] = field(default_factory=list)
    trainers: list[str] = field(default_factory=list)
    server_num: int | None = None
    trainer_num: int | None = None
    least_nodes: int | None = None  # where machines may come and go; `nodes` is the most then
    elastic_timeout: float = 30.0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="launch", allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Starts the processes of a training job on this machine, watches them, and ends all if one fails.",
    )  # fmt: skip
    made.add_argument("--master", help="host:port where process 0 waits for the others (with several machines)")
    made.add_argument("--nnodes", default="1", help="how many machines take part; MIN:MAX: they may come and go")
    made.add_argument(
        "--elastic_timeout", type=float, default=30.0, help="with MIN:MAX, seconds to wait for more machines (30)"
    )
    made.add_argument("--rank", type=int, help="the number of this machine (default: PADDLE_NODE_RANK or SLURM_NODEID)")
    made.add_argument("--nproc_per_node", help="processes on this machine; MIN:MAX restarts with fewer, down to MIN")
    made.add_argument(
        "--devices", "--gpus", "--npus", "--xpus", help="devices by number, one process for each: 0,1,2,3"
    )
    made.add_argument(
        "--log_dir", help="folder for what each process says (workerlog.N); process 0 speaks here as well"
    )
    made.add_argument("--max_restart", "--max_restarts", type=int, help="how often a failed job is started again (0)")
    made.add_argument("--stop_timeout", type=float, default=30.0, help="seconds between SIGTERM and SIGKILL (30)")
    made.add_argument("--job_id", default="default", help="a name for the job")
    made.add_argument("--host", default="127.0.0.1", help="this machine's address")
    made.add_argument("--start_port", type=int, default=6070, help="first of the ports in PADDLE_TRAINER_ENDPOINTS")
    made.add_argument("--run_mode", default="collective", choices=("collective", "ps"), help="ps: with table servers")
    for name, text in _SERVERS.items():
        made.add_argument(f"--{name}", help=text)
    made.add_argument("-m", "--module", action="store_true", help="the script is the name of a module")
    for name in _WITHOUT_MEANING:
        made.add_argument(f"--{name}", help=argparse.SUPPRESS)
    made.add_argument("script", help="the program")
    made.add_argument("arguments", nargs=argparse.REMAINDER, help="handed to it")
    return made


def parse(given: Sequence[str]) -> Options:
    """The options of a command line; what is wrong or not there raises."""
    chosen = parser().parse_args(list(given))
    command = [*(["-m"] if chosen.module else []), chosen.script, *chosen.arguments]
    if chosen.run_mode == "ps" or any(getattr(chosen, name) for name in _SERVERS):
        return _with_servers(chosen, command)
    least_nodes, nodes = _range("nnodes", chosen.nnodes, 1)
    is_elastic = ":" in chosen.nnodes
    if is_elastic and chosen.master is None:
        raise value_error(
            "launch", "machines that come and go must know where to meet", f"--nnodes {chosen.nnodes} without --master",
            "give --master host:port, an address of the machine that stays, everywhere",
        )  # fmt: skip
    node = chosen.rank if chosen.rank is not None else _environment_number("PADDLE_NODE_RANK", "SLURM_NODEID")
    if nodes > 1 and not is_elastic and (chosen.master is None or node is None):
        raise value_error(
            "launch", f"{nodes} machines must know where to meet, and which one this is",
            f"--master {chosen.master}, --rank {node}",
            "give --master host:port of machine 0 everywhere, and --rank 0, 1 … on each",
        )  # fmt: skip
    if not is_elastic and not 0 <= (node or 0) < nodes:
        raise value_error("launch", f"--rank must be one of 0 to {nodes - 1}", f"--rank {node}")
    devices = [part.strip() for part in (chosen.devices or "").split(",") if part.strip()]
    least, most = _range("nproc_per_node", chosen.nproc_per_node, len(devices) or _count_devices())
    if devices and most > len(devices):
        raise value_error("launch", f"{most} processes need as many devices", f"--devices {chosen.devices}")
    return Options(
        command, least, most, nodes, node or 0, chosen.master, devices, chosen.log_dir, chosen.max_restart,
        chosen.stop_timeout, chosen.job_id, chosen.host, chosen.start_port,
        least_nodes=least_nodes if is_elastic else None, elastic_timeout=chosen.elastic_timeout,
    )  # fmt: skip


def _with_servers(chosen: argparse.Namespace, command: list[str]) -> Options:
    counts = [None if text is None else _number(name, text)
              for name, text in (("server_num", chosen.server_num), ("trainer_num", chosen.trainer_num))]  # fmt: skip
    return Options(
        command, log_dir=chosen.log_dir, max_restart=chosen.max_restart, stop_timeout=chosen.stop_timeout,
        job_id=chosen.job_id, host=chosen.host, has_servers=True, servers=_listed("servers", chosen.servers),
        trainers=_listed("trainers", chosen.trainers), server_num=counts[0], trainer_num=counts[1],
    )  # fmt: skip


def _listed(name: str, text: str | None) -> list[str]:
    found = [part.strip() for part in (text or "").split(",") if part.strip()]
    if any(not re.fullmatch(r"[^:\s]+:\d+", part) for part in found) or len(set(found)) != len(found):
        raise value_error("launch", f"--{name} must be different addresses host:port,host:port", f"--{name} {text}")
    return found


def _number(name: str, text: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", text):
        raise value_error("launch", f"--{name} must be a number of at least 1", f"--{name} {text}")
    return int(text)


def address(text: str) -> tuple[str, int]:
    """Host and port of `--master`."""
    host, _, port = text.removeprefix("http://").removeprefix("tcp://").rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise value_error("launch", "--master must be host:port", f"--master {text}")
    return host, int(port)


def _range(name: str, text: str | None, default: int) -> tuple[int, int]:
    if text is None:
        return default, default
    least, _, most = text.partition(":")
    first, last = _number(name, least), _number(name, most or least)
    if first > last:
        raise value_error("launch", f"--{name} MIN:MAX must rise", f"--{name} {text}")
    return first, last


def _environment_number(*names: str) -> int | None:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), None)


def _count_devices() -> int:
    """One process for each NVIDIA GPU that may be used; one where there is none."""
    if os.environ.get("JAX_PLATFORMS", "").startswith("cpu"):
        return 1
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return max(1, len([part for part in visible.split(",") if part.strip() not in ("", "-1")]))
    return max(1, len([path for path in pathlib.Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]))
