"""Starting the processes of a job: `spawn` from a program, `launch` from a command line. So far one process."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import value_error


class SpawnContext:
    """The processes that `spawn` started."""

    def __init__(self, processes: list[Any]) -> None:
        self.processes = processes

    def join(self, timeout: float | None = None) -> bool:
        """Waits for them; True when all are done. A process that failed raises here."""
        for process in self.processes:
            process.join(timeout)
            if process.exitcode:
                raise RuntimeError(
                    f"(spawn) process {process.pid} ended with exit status {process.exitcode}; its own message is above."
                )
        return all(process.exitcode is not None for process in self.processes)


def spawn(
    func: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = -1, join: bool = True, daemon: bool = False,
    **options: Any,
) -> SpawnContext:  # fmt: skip
    """Runs `func(*args)` in a new process, and waits for it unless `join` is False."""
    if nprocs not in (-1, 1):
        raise NotImplementedError(
            f"(spawn) work of several processes is not exchanged yet; received nprocs: {nprocs}. Use nprocs=1."
        )
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(func, args), daemon=daemon)
    process.start()
    context = SpawnContext([process])
    if join:
        context.join()
    return context


def _run(func: Callable[..., Any], args: tuple[Any, ...]) -> None:
    os.environ.update(PADDLE_TRAINER_ID="0", PADDLE_TRAINERS_NUM="1")
    func(*args)


# Options of the launcher that say how many processes there are.
_COUNTS = ("nproc_per_node", "nnodes", "devices", "gpus", "xpus", "trainer_num", "server_num")


def launch(arguments: Sequence[str] | None = None) -> None:
    """`python -m paddle.distributed.launch [options] script.py …`: this process becomes the script."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = [sys.executable, *subprocess._args_from_interpreter_flags(), *_script(given)]  # type: ignore[attr-defined]
    os.environ.update(PADDLE_TRAINER_ID="0", PADDLE_TRAINERS_NUM="1", PADDLE_RANK_IN_NODE="0")
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(sys.executable, command)


def _script(given: list[str]) -> list[str]:
    """The script and what belongs to it. Options of the launcher come before it."""
    import argparse  # which `import proa` has no need of

    parser = argparse.ArgumentParser(prog="launch", add_help=False, allow_abbrev=False)
    for name in _COUNTS:
        parser.add_argument(f"--{name}")
    position = 0
    while position < len(given) and given[position].startswith("-"):
        equals = "=" in given[position]
        takes_value = not equals and position + 1 < len(given) and not given[position + 1].startswith("-")
        position += 2 if takes_value and not given[position + 1].endswith(".py") else 1
    known, _ = parser.parse_known_args(given[:position])
    for name, value in vars(known).items():
        if value is not None and _count(name, value) > 1:
            raise NotImplementedError(
                f"(launch) work of several processes is not exchanged yet; received --{name} {value}. Use one process: a "
                "batch sharded over its devices is summed."
            )
    if position >= len(given):
        raise value_error("launch", "a script is wanted behind the options", " ".join(given) or "nothing")
    return given[position:]


def _count(name: str, value: str) -> int:
    if name in ("devices", "gpus", "xpus"):
        return len([part for part in value.split(",") if part.strip()])
    return int(value.split(":")[0] or 1)
