"""Random cases of every native kernel on processors that are not here: `python -m tests.kernels.emulation.emulated neon`.

The libraries of a wheel are compiled, by a cross compiler where need be, and a small program (`calls.cpp`) that calls them
runs under qemu's user mode. Cases and references stay here, in NumPy at full speed: each call of a kernel travels to that
program and back (see `random_shapes.py` for the cases, `directly.py` for what is checked). Every kind has as many cases as
were asked for, and those of kinds with handlers that were called less often go on until those were, too.

    neon          arm64, on a Cortex-A53: the least that kernels are compiled for      (`make qemu`)
    avx2, sse2    x86_64, on a Haswell and on a processor that has nothing but SSE3
    avxvnni       x86_64, here, with the instructions that may be missing computed by the program (`vnni.h`)
    native        this machine's own, by the same way: says what the way costs, and whether it changes anything

qemu does not know AVX-512: that needs a machine which has it.
Under qemu 7.2 a few avx2 cases end in a fault at the page behind an array; the same libraries and cases pass on a real
processor (`PROA_NATIVE_VARIANT=avx2 python -m tests.kernels.emulation.emulated native`), which is what counts.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import json
import math
import pathlib
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from proa.kernels.cpu import compiled, direct, library
from tests.kernels.directly import LIMIT, Outcome, run_directly
from tests.kernels.random_shapes import KINDS
from tools import wheel

ROOT = pathlib.Path(__file__).parents[3]
_AT_ONCE = 50  # cases of a part, which is a process under qemu
_THREADS = (2, 1, 3, 5)  # of one part after the other: parts of work are rounded differently


@dataclass(frozen=True)
class Processor:
    """One that qemu can be."""

    emulator: str  # none where this machine does
    arguments: tuple[str, ...] = ()


_PROCESSORS = {
    "neon": Processor("qemu-aarch64", ("-cpu", "cortex-a53", "-L", "/usr/aarch64-linux-gnu")),
    "avx2": Processor("qemu-x86_64", ("-cpu", "Haswell-noTSX")),
    "sse2": Processor("qemu-x86_64", ("-cpu", "kvm64")),
    "avxvnni": Processor(""),
}


def command_for(target: str) -> list[str]:
    """Compiles what is missing; the command that answers calls."""
    where = f"tests.kernels.emulation.emulated {target}"
    before: list[str] = []
    if target == "native":
        kind = compiled.variant()
        if kind is None:
            raise SystemExit(f"({where}) there are no native kernels for {platform.machine()}.")
    else:
        kind = next(v for v in compiled.VARIANTS if v.name == target)
        before = _emulator(where, kind, _PROCESSORS[target])
    wanted = wheel.libraries_for([kind])
    folder = wheel.compile_libraries(where, kind.machine, wanted)
    names = {name: str(folder / place) for place, (name, _) in wanted.items() if name != compiled.MEMORY}
    program = ROOT / "build" / "emulated" / f"calls-{kind.machine}"
    build_program(wheel.compiler_for(where, kind.machine)[0], program)
    return [*before, *answering(program, names)]


def _emulator(where: str, kind: compiled.Variant, processor: Processor) -> list[str]:
    """What stands before a command that is to run on that processor."""
    if not processor.emulator:
        missing = kind.needs - set(compiled.processor().get("flags", "").split()) - {"avx_vnni"}
        if missing:
            raise SystemExit(f"({where}) this processor lacks {', '.join(sorted(missing))}.")
        return []
    emulator = shutil.which(processor.emulator)
    if emulator is None:
        raise SystemExit(f"({where}) {processor.emulator} is not here; on Debian and Ubuntu: apt install qemu-user.")
    return [emulator, *processor.arguments]


def build_program(compiler: str, program: pathlib.Path) -> None:
    """Compiles what answers calls."""
    program.parent.mkdir(parents=True, exist_ok=True)
    source = pathlib.Path(__file__).with_name("calls.cpp")
    subprocess.run([compiler, "-std=c++17", "-O2", str(source), "-o", str(program), "-ldl", "-pthread"], check=True)


def answering(program: pathlib.Path, libraries: dict[str, str]) -> list[str]:
    """The command that answers calls of these libraries, by name; `{threads}` stands for their number."""
    others = sorted(path for name, path in libraries.items() if name != compiled.DIRECT)
    return [str(program), "{threads}", libraries[compiled.DIRECT], *others]


class Answering:
    """A process that runs kernels, and the function that has it run one (in place of `direct._run`)."""

    def __init__(self, command: list[str], threads: int) -> None:
        words = [word.replace("{threads}", str(threads)) for word in command]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.calls = 0

    def run(self, symbol: str, description: direct.Description, arrays: list[Any]) -> bytes | None:
        """One call. Every second time arrays end where a page does that nobody may touch."""
        numbers, _, names = description
        self.calls += 1
        blocks = {id(array): array for array in arrays}  # an operand that is a result too is one block
        order = {array: place for place, array in enumerate(blocks)}
        places = [n for a in blocks.values() for n in (a.nbytes, -1 if self.calls % 2 else a.ctypes.data % 64)]
        owners = [order[id(array)] for array in arrays]
        head = np.array([len(symbol), len(names), numbers.size, len(arrays), len(blocks), *places, *owners], np.int64)
        stream: Any = self.process.stdin
        try:
            stream.write(head.tobytes() + symbol.encode() + names + numbers.tobytes())
            for array in blocks.values():
                stream.write(_memory_of(array))
            stream.flush()
            verdict = int.from_bytes(self._read(8), "little", signed=True)
            if verdict >= 0:
                return self._read(verdict)
            for array in arrays[int(numbers[0]) :]:
                _memory_of(array)[:] = self._read(array.nbytes)
        except (BrokenPipeError, EOFError):
            raise RuntimeError(f"{symbol} ended the process ({self.process.wait()})") from None
        return None

    def _read(self, size: int) -> bytes:
        stream: Any = self.process.stdout
        found = stream.read(size)
        if len(found) < size:
            raise EOFError
        return found

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.wait()


def _memory_of(array: Any) -> memoryview:
    """The bytes of an array whose axes lie in memory in any order, without gaps."""
    flat = array.transpose(np.argsort([-stride for stride in array.strides], kind="stable")).reshape(-1)
    whole = flat.flags.c_contiguous and (array.size == 0 or np.shares_memory(flat, array))
    assert whole, "an array with gaps cannot travel"
    return memoryview(flat.view(np.uint8))


def run_part(command: list[str], kind: str, first: int, count: int, threads: int) -> Outcome:
    """Some cases of a kind; whatever ends the emulated process is a problem."""
    sys.modules["jax"] = None  # type: ignore[assignment]
    seeds: list[int] = []
    answering = Answering(command, threads)
    direct._run, direct.handler = answering.run, lambda symbol: 1
    try:
        return run_directly(kind, range(first, first + count), seeds.append)
    except RuntimeError as error:
        return Outcome(kind, len(seeds), problems=[f"{kind}, seed {seeds[-1]}: {error}"])
    finally:
        answering.close()


def _line(name: str, cases: int, worst: float, rest: str) -> str:
    return f"{name:26}{cases:8}{worst:12.1e}{LIMIT:10.0e}{rest}"


class Run:
    """Cases of all kinds, in several processes."""

    def __init__(self, command: list[str], kinds: list[str], cases: int, processes: int) -> None:
        self.command, self.cases = command, cases
        self.outcomes = {kind: Outcome(kind) for kind in kinds}
        self.pool = concurrent.futures.ProcessPoolExecutor(processes, mp_context=get_context("spawn"))

    def more(self, wanted: dict[str, int]) -> None:
        """So many more cases of each kind."""
        parts: list[tuple[str, int, int, int]] = []
        for kind, count in wanted.items():
            start = self.outcomes[kind].cases
            for place, first in enumerate(range(start, start + count, _AT_ONCE)):
                parts.append((kind, first, min(_AT_ONCE, start + count - first), _THREADS[place % len(_THREADS)]))
        results = self.pool.map(functools.partial(run_part, self.command), *zip(*parts))
        for place, outcome in enumerate(results, 1):
            self.outcomes[outcome.kind].add(outcome)
            if place == len(parts) or parts[place][0] != outcome.kind:  # that was its last part
                self._tell(outcome.kind)

    def _tell(self, kind: str) -> None:
        outcome = self.outcomes[kind]
        verdict = f"{len(outcome.problems)} PROBLEMS" if outcome.problems else "passes"
        ran = outcome.cases - outcome.declined
        print(_line(kind, ran, outcome.worst, f"{outcome.seconds:9.0f} s  {verdict}"), flush=True)

    def missing(self) -> dict[str, int]:
        """How many more cases of each kind it takes until all cases and all calls are there."""
        found = {
            kind: self._share(self.cases - (one.cases - one.declined), one.cases - one.declined, one.cases)
            for kind, one in self.outcomes.items()
        }
        for symbol, (calls, _) in self.handlers().items():
            best = max(self.outcomes.values(), key=lambda one: one.calls.get(symbol, 0))
            more = self._share(self.cases - calls, best.calls.get(symbol, 0), best.cases)
            found[best.kind] = max(found[best.kind], more)
        return {kind: count for kind, count in found.items() if count > 0}

    @staticmethod
    def _share(lacking: int, had: int, cases: int) -> int:
        return math.ceil(1.1 * lacking * cases / had) if lacking > 0 and had else 0

    def handlers(self) -> dict[str, tuple[int, float]]:
        """Of each handler that was called, how often, and the worst error of a case that called it."""
        found: dict[str, tuple[int, float]] = {}
        for outcome in self.outcomes.values():
            for symbol, calls in outcome.calls.items():
                before, worst = found.get(symbol, (0, 0.0))
                found[symbol] = before + calls, max(worst, outcome.errors.get(symbol, 0.0))
        return dict(sorted(found.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=[*_PROCESSORS, "native"], help="see above")
    parser.add_argument(
        "--cases", type=int, default=1000, help="of every kind, calls of every handler (default: %(default)s)"
    )
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind of kernel")
    parser.add_argument("--processes", type=int, default=compiled.num_cores(), help="(default: one for each core)")
    parser.add_argument("--json", type=pathlib.Path, help="a file to keep the outcomes in")
    arguments = parser.parse_args()
    started, kinds = time.perf_counter(), [arguments.only] if arguments.only else list(KINDS)
    run = Run(command_for(arguments.target), kinds, arguments.cases, arguments.processes)
    print(f"{'kind':26}{'cases':>8}{'worst':>12}{'limit':>10}", flush=True)
    run.more(dict.fromkeys(kinds, arguments.cases))
    problems = [problem for outcome in run.outcomes.values() for problem in outcome.problems]
    while not problems and (more := run.missing()):
        run.more(more)
        problems = [problem for outcome in run.outcomes.values() for problem in outcome.problems]
    run.pool.shutdown()
    print(f"\n{'handler':26}{'calls':>8}{'worst':>12}{'limit':>10}")
    for symbol, (calls, worst) in run.handlers().items():
        print(_line(symbol, calls, worst, ""))
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    never = set() if arguments.only else library.handlers() - set(run.handlers())
    if never:
        print(f"These handlers were never called: {', '.join(sorted(never))}", file=sys.stderr)
    total = sum(outcome.cases - outcome.declined for outcome in run.outcomes.values())
    print(f"{arguments.target}: {total} cases in {time.perf_counter() - started:.0f} s, {len(problems)} problems")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in run.outcomes.values()], indent=1) + "\n")
    return 1 if problems or never else 0


if __name__ == "__main__":
    sys.exit(main())
