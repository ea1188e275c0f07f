"""The peers' interpreters: given by the user, or made under `.bench-envs/` in the repository.

Each peer lives in an environment of its own, so that its libraries (and their thread pools) never
meet proa's. Installation goes through pip as it is configured on the machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.processes import ROOT, Contender

ENVIRONMENTS = ROOT / ".bench-envs"
# A peer of this name is proa itself as it was: `commit:1669df4`.
COMMIT = "commit:"


@dataclass(frozen=True)
class Peer:
    """A framework to compare with: what to install, and the variable that names an interpreter."""

    name: str
    requirements: tuple[str, ...]
    variable: str


PEERS = {
    "paddle": Peer(
        name="paddle",
        requirements=("paddlepaddle==3.3.1", "numpy", "pillow", "setuptools"),
        variable="PROA_BENCH_PADDLE_PYTHON",
    ),
    "torch": Peer(
        name="torch",
        requirements=("torch==2.13.0", "numpy", "pillow"),
        variable="PROA_BENCH_TORCH_PYTHON",
    ),
}


class EnvironmentMissing(RuntimeError):
    """A peer's environment could not be found or made; the message says what to do."""


def peer_python(peer: Peer) -> str:
    """The interpreter that holds the peer, made on the first call where the user names none."""
    given = os.environ.get(peer.variable)
    if given:
        if shutil.which(given) is None:
            raise EnvironmentMissing(
                f"{peer.variable} names {given}, which is no program; unset the variable, or let "
                f"it name a Python that has {peer.requirements[0]}"
            )
        return given
    folder = ENVIRONMENTS / peer.name
    stamp = folder / "installed.txt"
    python = folder / "bin" / "python"
    wanted = "\n".join(peer.requirements)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted and python.exists():
        return str(python)
    make_environment(folder, python, peer)
    # Written last: an environment without it was interrupted and is made anew.
    stamp.write_text(wanted, encoding="utf-8")
    return str(python)


def make_environment(folder: Path, python: Path, peer: Peer) -> None:
    """Create the environment from nothing and install the peer."""
    contents = ", ".join(peer.requirements)
    print(f"making {folder.relative_to(ROOT)} with {contents} …", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    make_environments_folder()
    steps = [
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *peer.requirements],
    ]
    for step in steps:
        answer = subprocess.run(step, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise EnvironmentMissing(
                f"{' '.join(step)} failed:\n{answer.stderr.strip()[-1500:]}\n"
                f"Install {peer.requirements[0]} somewhere yourself and let {peer.variable} name "
                "that Python."
            )


def make_environments_folder() -> None:
    ENVIRONMENTS.mkdir(exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n", encoding="utf-8")


def earlier_commit(name: str) -> Path:
    """A folder with the package as it was at a commit."""
    answer = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise EnvironmentMissing(f"{COMMIT}{name} names no commit of this repository; `git log` lists them")
    commit = answer.stdout.strip()
    folder = ENVIRONMENTS / "commits" / commit
    if not folder.exists():
        make_environments_folder()
        # Renamed when it is whole: a folder of this name was not interrupted.
        unfinished = folder.with_name(f"{commit}.{os.getpid()}")
        unfinished.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", commit, "proa"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x"], cwd=unfinished, input=archive.stdout, check=True)
        unfinished.rename(folder)
    return folder


def subject_contender() -> Contender:
    """proa in the running interpreter, unless the environment names another module or Python."""
    module = os.environ.get("PROA_BENCH_MODULE", "proa")
    python = os.environ.get("PROA_BENCH_PYTHON", sys.executable)
    return Contender("proa", "paddle", module, python)


def peer_contender(name: str, subject: Contender) -> Contender:
    """A peer by name. `jax` (hand-written JAX code) and earlier commits live in proa's own environment."""
    if name.startswith(COMMIT):
        folder = earlier_commit(name.removeprefix(COMMIT))
        return Contender(name, "paddle", subject.module, subject.python, folder=str(folder))
    if name == "jax":
        return Contender("jax", "jax", "jax", subject.python)
    if name not in PEERS:
        raise EnvironmentMissing(f"no peer named {name!r}; there are: {', '.join(PEERS)}, jax, {COMMIT}HASH")
    return Contender(name, name, name, peer_python(PEERS[name]))
