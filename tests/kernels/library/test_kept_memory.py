"""Keeping memory in a process without XLA: a small library (`memory_client.cpp`) takes and frees in its place."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from proa.kernels.cpu import compiled, library

pytestmark = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
MIB = 1 << 20

# What every process begins with.
BEGIN = """
import ctypes, os, re, sys, time
keeper, client = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
keeper.proa_keep_memory.restype = ctypes.c_char_p
keeper.proa_kept_memory.restype = ctypes.c_int64
keeper.proa_keep_memory_for.argtypes = [ctypes.c_double]
client.take.restype, client.take.argtypes, client.drop.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
MIB = 1 << 20
def keep(): return keeper.proa_keep_memory(os.path.basename(sys.argv[2]).encode())
def kept(): return [keeper.proa_kept_memory(n) for n in range(3)]
def rights():
    return [line.split()[1] for line in open("/proc/self/maps") if sys.argv[2] in line]
def resident(): return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
def fill(place, size): ctypes.memset(place, 1, size); return place
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Bound when it is loaded, so that its linkage table is read-only."""
    made = tmp_path_factory.mktemp("client") / "libclient.so"
    source = pathlib.Path(__file__).with_name("memory_client.cpp")
    command = ["c++", "-shared", "-fPIC", "-O1", "-pthread", "-Wl,-z,relro,-z,now", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    return made


def run(client: pathlib.Path, code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code, compiled.find("memory"), str(client)],
        capture_output=True, text=True, timeout=100, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


def test_a_block_is_kept_used_again_and_counted(client: pathlib.Path) -> None:
    out = run(
        client,
        """
early = client.take(8 * MIB)
assert keep() is None
client.drop(early)                      # older than the keeper: not kept, not counted
assert kept() == [0, 0, 0], kept()
first = client.take(8 * MIB)
client.drop(first)
assert 8 * MIB <= kept()[0] < 9 * MIB and kept()[1] == 0
assert client.take(8 * MIB - 5000) == first
assert kept()[0] == 0 and kept()[1] >= 8 * MIB
assert client.take(1000) and client.take(8 * MIB) != first
print(keeper.proa_kept_memory(3), keeper.proa_kept_memory(4))
""",
    )
    assert out == "1 1"


def test_the_page_of_the_linkage_table_is_as_read_only_as_before(client: pathlib.Path) -> None:
    out = run(
        client,
        """
before = rights()
assert keep() is None and keeper.proa_kept_memory(4) == 1
assert rights() == before, (before, rights())
keeper.proa_release_memory(1)
assert rights() == before and keeper.proa_kept_memory(4) == 0
client.drop(client.take(8 * MIB))
assert kept() == [0, 0, 0]
assert keep() is None                    # and again
client.drop(client.take(8 * MIB))
print(before.count("r--p") > 1, kept()[0] >= 8 * MIB)
""",
    )
    assert out == "True True"


@pytest.mark.parametrize("name", ["libjemalloc.so.2", "libmimalloc.so.2"])
def test_another_allocator_is_left_alone_and_named(client: pathlib.Path, name: str) -> None:
    found = [pathlib.Path(folder) / name for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")]
    preload = next((str(path) for path in found if path.exists()), "")
    if not preload:
        pytest.skip(f"{name} is not installed (Debian: libjemalloc2, libmimalloc2.0)")
    out = run(
        client,
        """
print(keep().decode())
for _ in range(10):
    client.drop(fill(client.take(8 * MIB), 8 * MIB))
assert keeper.proa_kept_memory(4) == 0 and kept() == [0, 0, 0]
assert client.hammer(4, 50) == 0
""",
        LD_PRELOAD=preload,
    )
    assert out.startswith("memory is not the C library's here")
    assert "malloc.so" in out


def test_a_library_that_is_not_there_or_allocates_otherwise_is_named(client: pathlib.Path) -> None:
    code = 'print(keeper.proa_keep_memory(b"libnothing.so").decode()); print(keeper.proa_keep_memory(b"libm.so.6").decode())'
    expected = "is not loaded, or allocates in another way"
    assert run(client, code) == f"libnothing.so {expected}\nlibm.so.6 {expected}"


def test_sixteen_threads(client: pathlib.Path) -> None:
    out = run(
        client,
        """
assert keep() is None
assert client.hammer(16, 300) == 0
assert kept()[1] == 0, kept()            # nothing in use: every block was counted in and out
assert kept()[0] <= kept()[2] * 5 // 4
print(keeper.proa_kept_memory(3) > 100)
""",
    )
    assert out == "True"


def test_forked_processes_beside_working_threads(client: pathlib.Path) -> None:
    assert run(client, "assert keep() is None\nprint(client.fork_often(4, 60))") == "0"


def test_a_forked_process_holds_nothing(client: pathlib.Path) -> None:
    out = run(
        client,
        """
assert keep() is None
client.drop(fill(client.take(64 * MIB), 64 * MIB))
assert kept()[0] >= 64 * MIB
child = os.fork()
if child == 0:
    os._exit(0 if kept()[0] == 0 and keeper.proa_kept_memory(4) == 0 and client.hammer(2, 20) == 0 else 1)
print(os.waitpid(child, 0)[1], kept()[0] >= 64 * MIB)
""",
    )
    assert out == "0 True"


def test_idle_memory_goes_back_by_itself(client: pathlib.Path) -> None:
    out = run(
        client,
        """
keeper.proa_keep_memory_for(0.5)
assert keep() is None
before = resident()
client.drop(fill(client.take(200 * MIB), 200 * MIB))
assert resident() > before + 150
end = time.monotonic() + 20
while (kept()[0] or resident() >= before + 20) and time.monotonic() < end:
    time.sleep(0.1)
print(kept()[0], kept()[1], resident() < before + 20)
""",
    )
    assert out == "0 0 True"


def test_an_old_peak_is_forgotten(client: pathlib.Path) -> None:
    out = run(
        client,
        """
keeper.proa_keep_memory_for(0.5)
assert keep() is None
client.drop(client.take(200 * MIB))
end, most = time.monotonic() + 20, kept()[2]
while kept()[2] >= 200 * MIB and time.monotonic() < end:
    client.drop(client.take(4 * MIB))    # goes on working, with less
    time.sleep(0.02)
print(most >= 200 * MIB, kept()[2] < 20 * MIB, kept()[0] < 20 * MIB)
""",
    )
    assert out == "True True True"


def test_what_is_kept_and_used_exceeds_what_was_used_at_once_by_a_quarter_at_most(client: pathlib.Path) -> None:
    out = run(
        client,
        """
assert keep() is None
held, largest = [], 0
for number in range(400):
    size = (1 + number * 7 % 23) * MIB
    held.append(client.take(size))
    largest = max(largest, kept()[1])
    if len(held) > 3:
        client.drop(held.pop(number % 4))
    resting, used, most = kept()
    assert most == largest and resting + used <= most * 5 // 4, (resting, used, most, largest)
print("bounded")
""",
    )
    assert out == "bounded"


def test_small_blocks_between_two_runs_do_not_drive_out_the_large_one(client: pathlib.Path) -> None:
    """A step of data parallelism: a large program, then an exchange of gradients that wants less, again and again."""
    out = run(
        client,
        """
assert keep() is None
for _ in range(5):
    large = client.take(64 * MIB)
    client.drop(large)
    pieces = [client.take(5 * MIB), client.take(6 * MIB)]
    for piece in pieces:
        client.drop(piece)
print(keeper.proa_kept_memory(3))        # after the first round every block was there already
""",
    )
    assert out == "12"
