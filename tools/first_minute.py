"""What a newcomer waits for, measured: `python -m tools.first_minute wheel dist/proa-….whl`.

    wheel PATH     installs a wheel (or a source distribution) into an empty environment and runs examples/digits.py there,
                   with no program on the PATH but the environment's own, so that nothing can be compiled
    demo           clones this repository and runs `make demo` in the clone
    run COMMAND    runs a command that shows its steps as `3/264`, with the native kernels that are there

The cache folder is empty at the beginning and thrown away at the end. The steps that a program shows are read from a
terminal of its own, with the time of each; a pause is the time between two of them. It fails when the first step comes
later than 5 seconds after the import of proa (after the start, where a program does not tell), or a pause is longer than
that (`--limit`).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proa.kernels.cpu import compiled

ROOT = pathlib.Path(__file__).parents[1]
_STEP = re.compile(r"\b(\d+)/(\d+)\b")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LONGEST_LINE = 4096
_LAST_LINES = 16  # of a program's output that are shown
_IMPORTED = "proa is imported"
# Runs a program, then says which native libraries it has loaded and what was compiled.
_DIGITS = """
import runpy, sys
import proa
print("proa is imported")
runpy.run_path(sys.argv[1], run_name="__main__")
from proa.kernels.cpu import compiled, direct, library
used = {*library._libraries().targets, *direct._FOUND} - {""}  # by compiled programs, and by operations run one by one
print("native kernels in use:", ", ".join(sorted(used)) or "none")
print("compiled here:", len(list(compiled.folder().glob("*.so"))) if compiled.folder().exists() else 0)
"""


@dataclass(frozen=True)
class Moment:
    """When a larger number of steps was seen."""

    wall: float = 0.0  # seconds since the start
    work: float = 0.0  # seconds of processor time that the program had had until then
    step: int = 0

    def since(self, before: Moment) -> Moment:
        return Moment(self.wall - before.wall, self.work - before.work, self.step)

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.work:.1f} s of processor time)"


@dataclass
class Watched:
    """What a command showed, and when."""

    code: int = 0
    text: str = ""
    imported: Moment = Moment()  # when the program said so
    steps: list[Moment] = field(default_factory=list)

    @property
    def first(self) -> Moment:
        """How long after the import the first step was done."""
        return self.steps[0].since(self.imported)

    @property
    def pauses(self) -> list[Moment]:
        """The times between steps, each with the step behind it."""
        return [after.since(before) for before, after in zip(self.steps, self.steps[1:])]


def _processor_seconds(process: int) -> float:
    """What a process and those that it started have used, all threads together."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended, or this is no Linux
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # its own and that of children that have ended
    return own + sum(_processor_seconds(int(child)) for child in children)


def _output_of(process: subprocess.Popen[bytes], terminal: int) -> Iterator[str]:
    while True:
        try:
            found = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            return
        if not found:
            return
        yield found.decode(errors="replace")


def watch(command: Sequence[str], environment: Mapping[str, str] | None = None, folder: pathlib.Path = ROOT) -> Watched:
    """Runs a command in a terminal; the steps it shows are counted from the moment it starts."""
    ours, its = pty.openpty()
    try:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment, cwd=folder)
        os.close(its)
        seen, rest, latest = Watched(), "", 0
        for part in _output_of(process, ours):
            now = Moment(time.perf_counter() - started, _processor_seconds(process.pid))
            seen.text += part
            rest = (rest + _CONTROL.sub("", part))[-_LONGEST_LINE:]
            if seen.imported == Moment() and _IMPORTED in rest:
                seen.imported = now
            done = [int(step) for step, total in _STEP.findall(rest) if int(step) <= int(total)]
            if done and done[-1] > latest:
                latest = done[-1]
                seen.steps.append(Moment(now.wall, now.work, latest))
        seen.code = process.wait()
        return seen
    finally:
        os.close(ours)


def report(seen: Watched, limit: float) -> int:
    """Prints what was seen; 0 when the program ended well and nobody had to wait for longer than the limit."""
    lines = [line.rpartition("\r")[2] for line in _CONTROL.sub("", seen.text).replace("\r\n", "\n").splitlines()]
    print("\n".join(lines[-_LAST_LINES:]))
    if seen.code or not seen.steps:
        print(f"The program ended with {seen.code}, {len(seen.steps)} steps were seen.")
        return 1
    busy = os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)

    def seconds(moment: Moment) -> float:
        return moment.work if busy else moment.wall

    longest = max(seen.pauses, key=seconds, default=Moment())
    if seen.imported != Moment():
        print(f"imported after {seen.imported}")
    print(
        f"first step after {seen.first}, longest pause {longest} before step {longest.step}; the limit is {limit:.0f} s"
    )
    if busy:
        print(
            f"This machine is busy (load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores): processor time decides."
        )
    return 0 if max(seconds(seen.first), seconds(longest)) <= limit else 1


def size_of(environment: pathlib.Path) -> dict[str, float]:
    """MiB of each package in an environment, without what installs packages."""
    sizes: dict[str, float] = {}
    for folder in environment.glob("lib/python3*/site-packages"):
        for entry in folder.iterdir():
            if not re.match(r"(pip|setuptools|_distutils_hack|pkg_resources)\b", entry.name):
                files = [entry] if entry.is_file() else [path for path in entry.rglob("*") if path.is_file()]
                sizes[entry.name] = sum(path.lstat().st_size for path in files) / 2**20
    return sizes


def _environment(home: pathlib.Path, path: str) -> dict[str, str]:
    """Nothing of the caller's but what a process needs."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("LANG", "LC_", "PIP_"))}
    return {
        **kept,
        "HOME": str(home),
        "PATH": path,
        "PROA_CACHE_DIR": str(home / "cache"),
        "TERM": "xterm",
        "COLUMNS": "200",
    }


def try_wheel(wheel: pathlib.Path, limit: float, beside: list[pathlib.Path], home: pathlib.Path) -> int:
    """Installs it where nothing is, without a compiler, and trains."""
    place = home / "environment"
    venv.create(place, with_pip=True)
    python, environment = str(place / "bin" / "python"), _environment(home, str(place / "bin"))
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, str(wheel)], check=True, env=environment, cwd=home)
    sizes = size_of(place)
    print(f"installed: {sum(sizes.values()):.0f} MiB, proa itself {sizes['proa']:.0f} MiB")
    for other in beside:
        print(f"beside it: {sum(size_of(other).values()):.0f} MiB in {other}")
    subprocess.run([*install, f"proa[demo] @ {wheel.as_uri()}"], check=True, env=environment, cwd=home)
    (home / "examples").mkdir()
    program = str(shutil.copy(ROOT / "examples" / "digits.py", home / "examples"))  # away from the sources
    return report(watch([python, "-c", _DIGITS, program], environment, home), limit)


def try_demo(limit: float, home: pathlib.Path) -> int:
    """`make demo` in a clone, with everything that it installs and compiles; the time begins with the program."""
    clone = home / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    environment = _environment(home, os.environ["PATH"])
    started = time.perf_counter()
    subprocess.run(["make", "-s", "env"], check=True, env=environment, cwd=clone)
    print(f"make env took {time.perf_counter() - started:.0f} s")
    return report(watch(["make", "demo"], environment, clone), limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["wheel", "demo", "run"])
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="the file to install, the command to run")
    parser.add_argument(
        "--limit", type=float, default=5.0, help="seconds that nobody shall wait longer than (%(default)s)"
    )
    parser.add_argument(
        "--beside", type=pathlib.Path, action="append", default=[], help="an environment to compare sizes with"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proa-first-minute-") as folder:
        home = pathlib.Path(folder)
        if arguments.what == "run":
            kernels = os.environ.get("PROA_NATIVE_DIR") or str(compiled.folder())  # those that `make env` compiled
            environment = {**os.environ, "PROA_CACHE_DIR": folder, "PROA_NATIVE_DIR": kernels}
            return report(watch(arguments.rest, environment), arguments.limit)
        if arguments.what == "demo":
            return try_demo(arguments.limit, home)
        if len(arguments.rest) != 1 or not pathlib.Path(arguments.rest[0]).is_file():
            parser.error(f"wheel takes the path of a wheel or a source distribution; received {arguments.rest}")
        return try_wheel(pathlib.Path(arguments.rest[0]).resolve(), arguments.limit, arguments.beside, home)


if __name__ == "__main__":
    sys.exit(main())
