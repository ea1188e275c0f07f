"""Damages the model files of fixtures/ in many ways: reading one must give a ValueError, quickly, in little memory.

    python -m tests.formats.paddle.files.mutations --files 10000 [--seed 0] [--only SEED:NUMBER] [--json FILE]

Kinds of damage: flipped bits, truncation, inserted and repeated pieces, absurd sizes, values of the wrong kind, operands
from later operations and blocks within themselves (cycles), deep nesting, one file's pieces in another. Some damage is
harmless (a bit of a weight, of a name): then the file is read. Everything runs in a process of its own with limits on
memory and time, so that a crash is seen and counted.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import time
from typing import Any

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
SECONDS = 5
MEMORY = 1 << 30
_SHOWN_EVERY = 1000
_STRANGE: list[Any] = [
    -1, 0, 1, 2**31, 2**63, 10**30, -(2**62), 1.5, 1e308, True, None, "", "x" * 1000, [], {}, [[[]]], [0] * 1000,
    {"#": "0.t_vec", "D": []}, {"%": 7}, {"#": "p"}, "1.while", "0.split", "2.yield",
]  # fmt: skip


def programs() -> list[pathlib.Path]:
    return sorted([*FIXTURES.glob("*.json"), *FIXTURES.glob("*.pdmodel")])


# Damage to bytes


def _flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 5, 50])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _truncate(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def _insert(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.choice([1, 4, 100]))


def _repeat(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    piece = bytes(data[start : start + rng.choice([2, 20, 500])])
    at = rng.randrange(len(data))
    data[at:at] = piece * rng.choice([1, 3, 100])


def _remove(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 4, 50])]


def _absurd(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data))
    pieces = [
        b"\xff" * 4,
        b"\xff" * 9 + b"\x01",
        b"\xff\xff\xff\xff\x07",
        b"\x00" * 8,
        b"\xff" * 7 + b"\x7f",
        b"\x80" * 30,
    ]
    piece = rng.choice(pieces)
    data[at : at + len(piece)] = piece


_BYTES = [_flip, _truncate, _insert, _repeat, _remove, _absurd]


# Damage to meaning: the file stays JSON or protobuf


def _spots(node: Any, found: list[tuple[Any, Any]]) -> None:
    """Every place (container, key) of a tree."""
    stack = [node]
    while stack:
        current = stack.pop()
        keys = list(current) if isinstance(current, dict) else range(len(current)) if isinstance(current, list) else ()
        for key in keys:
            found.append((current, key))
            stack.append(current[key])


def _disturb(tree: Any, rng: random.Random) -> None:
    spots: list[tuple[Any, Any]] = []
    _spots(tree, spots)
    for _ in range(rng.choice([1, 1, 3])):
        container, key = rng.choice(spots)
        action = rng.randrange(4)
        other = rng.choice(spots)
        if isinstance(container, list) and not key < len(container):
            continue
        if action == 0 and isinstance(container, dict):
            container.pop(key, None)
        elif action == 1 and other[1] in (other[0] if isinstance(other[0], dict) else range(len(other[0]))):
            container[key] = json.loads(json.dumps(other[0][other[1]], default=repr))
        elif action == 2 and isinstance(container, list) and container:
            rng.shuffle(container)
        else:
            container[key] = rng.choice(_STRANGE)


def _json_meaning(content: bytes, rng: random.Random) -> bytes:
    tree = json.loads(content)
    if rng.random() < 0.1:
        spots: list[tuple[Any, Any]] = []
        _spots(tree, spots)
        container, key = rng.choice(spots)
        container[key] = "deep"
        depth = rng.choice([50, 400, 5000])
        deep = '{"#":"0.a_array","D":[' * depth + "]}" * depth
        return json.dumps(tree).replace('"deep"', deep).encode()
    elif rng.random() < 0.3:
        operands = [spot for spot in _all(tree) if isinstance(spot, dict) and set(spot) == {"%"}]
        for operand in rng.sample(operands, min(len(operands), rng.choice([1, 5]))):
            operand["%"] = rng.randrange(-3, 80)
    else:
        _disturb(tree, rng)
    return json.dumps(tree).encode()


def _all(node: Any) -> list[Any]:
    spots: list[tuple[Any, Any]] = []
    _spots(node, spots)
    return [container[key] for container, key in spots]


def _message_meaning(content: bytes, rng: random.Random) -> bytes:
    from proa.formats.paddle.files.legacy.schema import PROGRAM
    from proa.formats.paddle.files.wire import decode, encode

    tree = decode(content, PROGRAM)
    nodes = _all(tree)
    blocks = [node for node in nodes if isinstance(node, dict) and "block_idx" in node]
    names = [node for node in nodes if isinstance(node, dict) and "arguments" in node]
    kinds = [node for node in nodes if isinstance(node, dict) and "dims" in node]
    choice = rng.randrange(5)
    if choice == 0 and blocks:
        rng.choice(blocks)["block_idx"] = rng.choice([-1, 0, 1, 2, 3, 99, 2**40])
    elif choice == 1:
        node = rng.choice(names)
        node["arguments"] = rng.choice(names)["arguments"] * rng.choice([0, 1, 2])
    elif choice == 2:
        rng.choice(kinds)["dims"] = rng.choice([[2**62], [-7], [2**31] * 40, [], [1] * 5000])
    elif choice == 3:
        operations = rng.choice(tree["blocks"])["ops"]
        rng.shuffle(operations)
    else:
        attributes = [
            node for node in nodes if isinstance(node, dict) and set(node) >= {"name", "type"} and len(node) < 4
        ]
        node, other = rng.choice(attributes), rng.choice(attributes)
        if isinstance(node["type"], int) and isinstance(other["type"], int):
            name = node["name"]
            node.clear()
            node.update(other, name=name)
    return encode(tree, PROGRAM)


def damaged(rng: random.Random, folder: str) -> str:
    """Writes one damaged model and returns its program's path."""
    source = rng.choice(programs())
    content = source.read_bytes()
    params = source.with_suffix(".pdiparams")
    numbers = params.read_bytes() if params.exists() else b""
    choice = rng.random()
    if choice < 0.35:
        content = (_json_meaning if source.suffix == ".json" else _message_meaning)(content, rng)
    elif choice < 0.75 or not numbers:
        data = bytearray(content)
        rng.choice(_BYTES)(data, rng)
        content = bytes(data)
    elif choice < 0.8:
        other = rng.choice(programs()).read_bytes()
        content = content[: rng.randrange(len(content))] + other[rng.randrange(len(other)) :]
    else:
        data = bytearray(numbers)
        rng.choice(_BYTES)(data, rng)
        numbers = bytes(data)
    path = os.path.join(folder, "model" + source.suffix)
    with open(path, "wb") as file:
        file.write(content)
    with open(os.path.join(folder, "model.pdiparams"), "wb") as file:
        file.write(numbers)
    return path


def _most_memory() -> int:
    """The most memory that this process had, in bytes (getrusage would count what its parent had when it began)."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def _late(signum: int, frame: Any) -> None:
    raise TimeoutError


def read_damaged(seed: int, numbers: range, found: Any) -> None:
    """What a worker does: the files of these numbers, a line about each problem into the queue."""
    from proa.formats.paddle.files import read_model

    resource.setrlimit(resource.RLIMIT_DATA, (2 * MEMORY, 2 * MEMORY))
    signal.signal(signal.SIGALRM, _late)
    outcomes: collections.Counter[str] = collections.Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            name = f"{seed}:{number}"
            path = damaged(random.Random(name), folder)
            found.put(("start", name, ""))
            start = time.perf_counter()
            signal.alarm(SECONDS)
            try:
                read_model(path)
                outcomes["read"] += 1
            except ValueError as error:
                outcomes["ValueError"] += 1
                if error.__cause__ is not None:  # found out by accident, not by a check
                    found.put(("problem", name, f"{type(error.__cause__).__name__}: {error}"))
            except BaseException as error:
                found.put(("problem", name, f"{type(error).__name__}: {error}"))
                outcomes[type(error).__name__] += 1
            signal.alarm(0)
            slowest = max(slowest, time.perf_counter() - start)
            used = _most_memory()
            if used > MEMORY:
                found.put(("problem", name, f"{used >> 20} MB"))
                break
    found.put(("done", dict(outcomes), (slowest, _most_memory() >> 20)))


def run(numbers: range, seed: int, progress: bool = False) -> tuple[dict[str, int], list[str], float, int]:
    """Outcomes, problems, the slowest read in seconds, the most memory in MB."""
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    worker = context.Process(target=read_damaged, args=(seed, numbers, queue))
    worker.start()
    problems: list[str] = []
    last, outcomes, slowest, memory = "", {}, 0.0, 0
    while True:
        while not queue.empty():
            kind, first, second = queue.get()
            if kind == "start":
                last = first
                number = int(first.partition(":")[2])
                if progress and number and number % _SHOWN_EVERY == 0:
                    print(f"{number} of {len(numbers)}, {len(problems)} problems", file=sys.stderr, flush=True)
            elif kind == "problem":
                problems.append(f"{first}: {second}")
            else:
                outcomes, (slowest, memory) = first, second
        if not worker.is_alive() and queue.empty():
            break
        worker.join(0.05)
    if worker.exitcode != 0:
        problems.append(f"{last}: the process ended with {worker.exitcode}")
    return outcomes, problems, slowest, memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="SEED:NUMBER", help="one file, as a problem names it")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the totals there")
    arguments = parser.parse_args()
    numbers, seed = range(arguments.files), arguments.seed
    if arguments.only:
        seed, number = (int(part) for part in arguments.only.split(":"))
        numbers = range(number, number + 1)
    outcomes, problems, slowest, memory = run(numbers, seed, progress=True)
    for problem in problems[:50]:
        print(problem)
    print(f"{outcomes}; {len(problems)} problems; slowest {slowest:.2f} s; at most {memory} MB")
    if arguments.json:
        totals = {
            "files": len(numbers),
            "outcomes": outcomes,
            "problems": problems,
            "slowest": slowest,
            "memory": memory,
        }
        arguments.json.write_text(json.dumps(totals, indent=1), encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
