"""The job: processes that work together, and how this one finds the others.

Whoever starts the processes says by environment variables which one this is: Paddle's names (`PADDLE_TRAINER_ID`,
`PADDLE_TRAINERS_NUM`, `PADDLE_MASTER` …), or those of Slurm and Open MPI, which JAX understands. The processes meet through
JAX's coordination service. That must happen before devices are looked for, because a device is numbered among those of all
processes. So `join` is called by `init_parallel_env`, and, in a process that the launcher has started itself, by whatever
looks for devices first. (Another process that inherits the variables, such as a tool that a trainer starts, stays alone.)
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, cast

from .errors import runtime_error, value_error
from .waiting import waiting

RANK, SIZE, MASTER, ENDPOINTS = "PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_MASTER", "PADDLE_TRAINER_ENDPOINTS"
LAUNCHER = "PROA_LAUNCHER"  # the process number of the launcher that has started this process itself
DEVICES = "FLAGS_selected_gpus"
DAY = 86_400


class State:
    """Of this process."""

    joined = False
    status = 0  # with which the process ends by itself, where that is a failure
    rank = 0
    size = 1


def rank() -> int:
    """The number of this process in the job."""
    return State.rank if State.joined else _number(RANK, 0)


def size() -> int:
    """How many processes the job has."""
    return State.size if State.joined else max(1, _number(SIZE, 1))


def is_joined() -> bool:
    """Whether this process has met the others of a job of several."""
    return State.joined


def _number(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.strip().isdigit():
        raise value_error("init_parallel_env", f"{name} must be a whole number", repr(text), "unset or correct it")
    return int(text)


def milliseconds_to_wait() -> int:
    """How long a collective may take: `PADDLE_PG_TIMEOUT`, or half an hour."""
    return _number("PADDLE_PG_TIMEOUT", 1_800_000)


def is_described() -> bool:
    """Whether the environment speaks of a job of several processes."""
    return _number(SIZE, 1) > 1 or _is_found_by_jax()


def _is_found_by_jax() -> bool:
    if os.environ.get(SIZE):
        return False
    return any(int(os.environ.get(name) or 1) > 1 for name in ("SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"))


def is_launched() -> bool:
    """Whether a launcher watches this very process."""
    return os.environ.get(LAUNCHER) == str(os.getppid())


def join_if_launched() -> None:
    """Joins in a process that the launcher has started; called by whoever looks for devices."""
    if not State.joined and is_launched() and _number(SIZE, 1) > 1:
        join()


def join() -> None:
    """Meets the other processes of the job; does nothing in a job of one, or the second time."""
    if State.joined or not is_described():
        return
    import jax

    if not jax.distributed.is_initialized():
        from jax._src import xla_bridge

        if xla_bridge.backends_are_initialized():
            raise runtime_error(
                "init_parallel_env", "devices were used before the processes have met, and can no longer be shared",
                fix="call paddle.distributed.init_parallel_env() at the start of the program, before the first use of an "
                "accelerator or of a compiled step, or start it with `python -m paddle.distributed.launch`",
            )  # fmt: skip
        _meet(jax)
    processes: Any = jax
    State.rank, State.size, State.joined = processes.process_index(), processes.process_count(), True
    _watch_for_failure()
    atexit.register(_stop_waiting)


def _meet(jax: Any) -> None:
    config = jax.config
    config.update("jax_cpu_collectives_implementation", "gloo")
    # A program that talks to other processes must not overtake another one: on a CPU they run where they are called.
    config.update("jax_cpu_enable_async_dispatch", False)
    # JAX would catch SIGTERM for itself, and the process would not end by it.
    config.update("jax_enable_preemption_service", False)
    options: dict[str, Any] = {
        "initialization_timeout": max(1, milliseconds_to_wait() // 1000),
        # Whoever is done waits for those who are not; a process that dies is noticed by its connections.
        "shutdown_timeout_seconds": DAY,
        "heartbeat_timeout_seconds": 100,
    }
    if not _is_found_by_jax():
        address = _address()
        options.update(coordinator_address=address, num_processes=size(), process_id=rank())
        options.update(cluster_detection_method="deactivate", local_device_ids=_own_devices())
    with waiting("waiting for the other processes of the job", "some seconds"):
        try:
            jax.distributed.initialize(**options)
        except RuntimeError as error:
            first_line = str(error).strip().splitlines()[0]
            raise runtime_error(
                "init_parallel_env", f"the {size()} processes of the job have not met: {first_line}",
                f"{RANK}: {rank()}, {MASTER}: {os.environ.get(MASTER)!r}",
                "see that all are started, with the same address and different numbers",
            ) from None  # fmt: skip


def _address() -> str:
    """Where process 0 waits for the others."""
    endpoints = os.environ.get(ENDPOINTS) or ""
    address = os.environ.get(MASTER) or endpoints.split(",")[0]
    if ":" not in address:
        raise value_error(
            "init_parallel_env", f"{SIZE} is {size()}, so processes must know where to meet",
            f"{MASTER}: {os.environ.get(MASTER)!r}, {ENDPOINTS}: {endpoints!r}",
            f"set {MASTER}=host:port to an address of process 0 with a free port, or use paddle.distributed.launch",
        )  # fmt: skip
    if not 0 <= rank() < size():
        raise value_error("init_parallel_env", f"{RANK} must be smaller than {SIZE}", f"{rank()} and {size()}")
    return address.removeprefix("tcp://").removeprefix("http://")


def _own_devices() -> list[int] | None:
    named = os.environ.get(DEVICES) or ""
    return [int(part) for part in named.split(",") if part.strip().isdigit()] or None


def client() -> Any:
    """The coordination service's client: a small store that all processes share."""
    from jax._src import distributed

    state: Any = distributed.global_state
    return state.client


def _watch_for_failure() -> None:
    """A process that fails leaves at once. JAX would let it wait for the others, who wait for it."""
    shown, leaving = sys.excepthook, sys.exit

    def show(kind: Any, error: BaseException, trace: Any) -> None:
        fail()
        shown(kind, error, trace)

    def leave(status: Any = None) -> None:
        if status not in (None, 0):
            fail(status if isinstance(status, int) else 1)
        leaving(status)

    sys.excepthook, sys.exit = show, cast(Any, leave)


def fail(status: int = 1) -> None:
    """Says that this process is about to end without its work done: it will not wait for the others."""
    State.status = status


def go_on() -> None:
    """Takes `fail` back: who exchanges anything with the others is not ending (a SystemExit may be caught)."""
    State.status = 0


def _stop_waiting() -> None:
    """Runs before JAX's own handler, which would wait for the others."""
    if State.status:
        from jax._src import api

        atexit.unregister(api.clean_up)


@atexit.register
def _leave() -> None:
    """Among the last handlers, as it is registered early: what JAX would wait for when it is destroyed is not destroyed."""
    if State.joined and State.status:
        if "logging" in sys.modules:
            sys.modules["logging"].shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(State.status)
