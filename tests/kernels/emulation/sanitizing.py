"""Random cases of all native kernels in a build that watches memory, undefined behaviour or threads.

For `python -m tests.kernels.random_shapes --sanitize`: compiles all libraries with the sanitizer into a folder of their own,
runs the cases in several processes (with different numbers of threads), and prints a table with a line for each kind.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from proa.kernels.cpu import compiled, library
from tests.kernels.directly import Outcome

ROOT = pathlib.Path(__file__).parents[3]
FLAGS = {
    "none": "",
    "memory": "-O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined",
    "threads": "-O1 -g1 -fsanitize=thread",
}
# To be loaded before Python itself is.
_RUNTIMES = {"none": (), "memory": ("libasan.so", "libubsan.so", "libstdc++.so"), "threads": ("libtsan.so",)}
_AT_ONCE = 200  # cases of a process
_THREADS = (2, 1, 3, 5)  # of one process after the other: parts of work are rounded differently
_PATIENCE = 3600.0


def _flags(sanitizer: str) -> str:
    return f"{os.environ.get('PROA_NATIVE_FLAGS', '')} {FLAGS[sanitizer]}".strip()


def build(sanitizer: str) -> pathlib.Path:
    """The folder with libraries of all sources (they are compiled, not loaded: the runtime is not here)."""
    folder = compiled.folder() / f"sanitized-{sanitizer}" if sanitizer != "none" else compiled.folder()
    flags, before = _flags(sanitizer), {name: os.environ.get(name) for name in ("PROA_NATIVE_DIR", "PROA_NATIVE_FLAGS")}
    os.environ.update(PROA_NATIVE_DIR=str(folder), PROA_NATIVE_FLAGS=flags)
    try:
        with concurrent.futures.ThreadPoolExecutor(compiled.num_cores()) as pool:
            list(pool.map(compiled.make, compiled.names()))
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return folder


def _runtimes(sanitizer: str) -> str:
    found = []
    for name in _RUNTIMES[sanitizer]:
        asked = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        found.append(asked.stdout.strip())
    return " ".join(found)


def _environment(sanitizer: str, folder: pathlib.Path, threads: int) -> dict[str, str]:
    suppressions = folder / "suppressions"  # Python and NumPy were not compiled for it
    return {
        **os.environ,
        "PROA_NATIVE_DIR": str(folder), "PROA_NATIVE_FLAGS": _flags(sanitizer), "PROA_NUM_THREADS": str(threads),
        "LD_PRELOAD": _runtimes(sanitizer), "OPENBLAS_NUM_THREADS": "1",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"exitcode=66:ignore_noninstrumented_modules=1:suppressions={suppressions}",
    }  # fmt: skip


def _run_some(sanitizer: str, folder: pathlib.Path, kind: str, first: int, count: int, threads: int) -> Outcome:
    """The outcome of some cases in a process of their own; whatever kills it is a problem."""
    command = [sys.executable, "-m", "tests.kernels.directly", kind, str(first), str(count)]
    environment = _environment(sanitizer, folder, threads)
    with tempfile.TemporaryFile("w+") as errors:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT, env=environment, timeout=_PATIENCE
        )
        errors.seek(0)
        complaint = errors.read()
    lines = done.stdout.splitlines()
    if lines and lines[-1].startswith("{"):
        outcome = Outcome(**json.loads(lines[-1]))
    else:
        where = f"seed {lines[-1]}" if lines else "before the first case"
        outcome = Outcome(kind, len(lines), problems=[f"{kind}, {where}: the process ended ({done.returncode})"])
    if complaint.strip() and (done.returncode not in (0, 1) or not outcome.calls or "anitizer" in complaint):
        outcome.problems.append(complaint.strip()[:6000])
    return outcome


def _line(outcome: Outcome) -> str:
    verdict = f"{len(outcome.problems)} PROBLEMS" if outcome.problems else "passes"
    return (
        f"{outcome.kind:24}{outcome.cases:7}{sum(outcome.calls.values()):8}{outcome.declined:9}{outcome.worst:10.1e}"
        f"{outcome.seconds:9.0f}  {verdict}"
    )


def run(sanitizer: str, kinds: list[str], cases: int, first: int) -> int:
    """So many cases of all kinds together; 0 when everything is right and every handler was called."""
    started = time.perf_counter()
    folder = build(sanitizer)
    (folder / "suppressions").write_text("race:_multiarray_umath\nrace:libopenblas\n", encoding="utf-8")
    print(f"compiled in {time.perf_counter() - started:.0f} s", flush=True)
    each = -(-cases // len(kinds))
    parts = [
        (kind, start, min(_AT_ONCE, first + each - start), _THREADS[place % len(_THREADS)])
        for kind in kinds
        for place, start in enumerate(range(first, first + each, _AT_ONCE))
    ]
    outcomes = {kind: Outcome(kind) for kind in kinds}
    print(f"{'kind':24}{'cases':>7}{'calls':>8}{'declined':>9}{'worst':>10}{'seconds':>9}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(compiled.num_cores()) as pool:
        results = pool.map(lambda part: _run_some(sanitizer, folder, *part), parts)
        for place, outcome in enumerate(results):
            outcomes[outcome.kind].add(outcome)
            if place + 1 == len(parts) or parts[place + 1][0] != outcome.kind:  # that was its last part
                print(_line(outcomes[outcome.kind]), flush=True)
    problems = [problem for outcome in outcomes.values() for problem in outcome.problems]
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    called = {symbol for outcome in outcomes.values() for symbol in outcome.calls}
    missing = library.handlers() - called if len(kinds) > 1 else set()
    if missing:
        print(f"These handlers were never called: {', '.join(sorted(missing))}", file=sys.stderr)
    total = sum(outcome.cases for outcome in outcomes.values())
    print(f"{total} cases in {time.perf_counter() - started:.0f} s, {len(problems)} problems")
    return 1 if problems or missing else 0
