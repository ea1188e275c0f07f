"""Damaged artifacts: every one must give a Python exception (or be read), soon and with little memory.

    python -m tests.formats.proa.mutations --files 10000

Files are damaged in three ways: bytes (bits flipped, cut off, zeroed, repeated), contents (numbers, names and operands
in the documents changed, with checksums made right again, so that the readers themselves are met), and the zip around them
(compressed bombs, absurd sizes, entries twice or outside). A file that is read all the same is harmless damage: an
unused line number, say.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import struct
import sys
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from proa.formats.proa import load_artifact
from proa.formats.proa.tests import replay

from .examples import EXAMPLES, save_example

_LONGEST = 5.0
_MOST_MEMORY = 1 << 30
_ABSURD: tuple[Any, ...] = (
    -1, 0, 1, 2**31, -(2**31), 2**40, 2**62, 2**63, 10**30, 1.5, 1e308, None, True, "x", "../../x", [], {}, [[[]]],
    {"block": {}}, {"dtype": "float32"}, {"float": "nan"}, "float32[99999999999]", "float32[-1]", "object[2]",
    "float32[1,1,1,1,1,1,1,1,1,1,1,1]", "unbind", "full", "while_loop", "cond",
)  # fmt: skip


def damaged_bytes(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    way = dice.randrange(6)
    if way == 0:
        for _ in range(dice.choice((1, 1, 2, 8, 64))):
            changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    elif way == 1:
        del changed[dice.randrange(len(changed)) :]
    elif way == 2:
        start = dice.randrange(len(changed))
        changed[start : start + dice.randrange(1, 200)] = bytes(dice.randrange(1, 200))
    elif way == 3:
        start, end = sorted((dice.randrange(len(changed)), dice.randrange(len(changed))))
        changed[start:start] = changed[start:end]
    elif way == 4:
        at = dice.randrange(max(1, len(changed) - 8))
        changed[at : at + 8] = struct.pack("<Q", dice.choice((2**63, 2**32 - 1, 2**40, 2**64 - 1)))
    else:
        changed[dice.randrange(len(changed)) :] = bytes(dice.randrange(256) for _ in range(dice.randrange(400)))
    return bytes(changed)


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(entries: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", kind) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return target.getvalue()


def _places(document: Any, found: list[tuple[Any, Any]]) -> None:
    items = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, value in items:
        found.append((document, key))
        _places(value, found)


def damaged_contents(data: bytes, dice: random.Random) -> bytes:
    entries = _entries(data)
    name = dice.choice(
        ("program.json", "program.json", "program.json", "signature.json", "meta.json", "weights.safetensors")
    )
    if name.endswith(".json"):
        document = json.loads(entries[name])
        for _ in range(dice.choice((1, 1, 1, 2, 5))):
            found: list[tuple[Any, Any]] = []
            _places(document, found)
            if not found:
                break
            holder, key = dice.choice(found)
            way = dice.randrange(4)
            if way == 0:
                holder[key] = dice.choice(_ABSURD)
            elif way == 1 and isinstance(holder[key], int):
                holder[key] = holder[key] + dice.choice((-1, 1, 7, 10**6, 10**12))
            elif way == 2:
                other, other_key = dice.choice(found)
                holder[key] = json.loads(json.dumps(other[other_key]))
            else:
                holder.pop(key)
        entries[name] = json.dumps(document).encode()
    else:
        entries[name] = damaged_bytes(entries[name], dice)
    return _packed(entries)


def damaged_zip(data: bytes, dice: random.Random) -> bytes:
    entries = _entries(data)
    way = dice.randrange(5)
    if way == 0:
        entries[dice.choice(list(entries))] = b" " * (1 << 24)
        return _packed(entries, zipfile.ZIP_DEFLATED)
    if way == 1:
        return _packed(entries | {dice.choice(("../evil", "/etc/x", "extra.py", "program.json/..", "a" * 70)): b"1"})
    if way == 2:
        entries.pop(dice.choice(list(entries)))
        return _packed(entries)
    if way == 3:
        name = dice.choice(("program.json", "signature.json", "meta.json"))
        entries[name] = b"[" * 200_000 if dice.random() < 0.5 else b'{"version": ' + b"9" * 10_000 + b"}"
        return _packed(entries)
    target = io.BytesIO(data)
    with zipfile.ZipFile(target, "a") as archive:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            archive.writestr("meta.json", b"{}")
    return target.getvalue()


def mutated(data: bytes, dice: random.Random) -> bytes:
    way = dice.choices((damaged_bytes, damaged_contents, damaged_zip), (45, 45, 10))[0]
    return way(data, dice)


def originals() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name in EXAMPLES:
            path = Path(folder) / f"{name}.proa"
            save_example(name, str(path))
            found.append(path.read_bytes())
    return found


def check(count: int, seed: int = 0, run: bool = False) -> tuple[Counter[str], float, int]:
    """How the files ended, the longest time for one, and by how much memory grew."""
    sources = originals()
    dice = random.Random(seed)
    ends: Counter[str] = Counter()
    longest = 0.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.proa"
        for number in range(count):
            data = mutated(dice.choice(sources), dice)
            path.write_bytes(data)
            started = time.perf_counter()
            try:
                artifact = load_artifact(path)
                ends["read"] += 1
                if run:
                    for title, method in artifact.methods.items():
                        good = all(verdict.good for verdict in replay(method.graph, title, method.tests))
                        ends["ran, good" if good else "ran, seen to differ"] += 1
            except ValueError:
                ends["ValueError"] += 1
            except Exception as error:
                ends[type(error).__name__] += 1
                print(f"file {number}: {type(error).__name__}: {str(error)[:200]}")
            longest = max(longest, time.perf_counter() - started)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return ends, longest, grown


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", action="store_true", help="also replay the test vectors of files that are read")
    chosen = parser.parse_args(arguments)
    started = time.perf_counter()
    ends, longest, grown = check(chosen.files, chosen.seed, chosen.run)
    print(f"{chosen.files} files in {time.perf_counter() - started:.0f} s: {dict(ends)}")
    print(f"longest {longest:.3f} s, memory grew by {grown / 2**20:.0f} MiB")
    good = (
        set(ends) <= {"read", "ValueError", "ran, good", "ran, seen to differ"}
        and longest < _LONGEST
        and grown < _MOST_MEMORY
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
