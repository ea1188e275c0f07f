"""Files kept between runs: damage, full disks, limits; and XLA's programs in real processes."""

from __future__ import annotations

import errno
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

from proa.ir.tiers import cache

ROOT = pathlib.Path(__file__).parents[2]
DAMAGES = {
    "cut short": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-1],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "zeros behind": lambda data: data + bytes(64),
    "garbage": lambda data: b"\x7fELF garbage" * 100,
}


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 999])
def test_what_is_sealed_is_given_back(content: bytes) -> None:
    assert cache.unsealed(cache.sealed(content)) == content


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_program_is_removed_and_never_given(
    damage: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = cache.Programs(tmp_path, 1 << 20)
    programs.put("key", b"executable" * 100)
    (path,) = tmp_path.iterdir()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert programs.get("key") is None
    assert capsys.readouterr().err.count("\n") == 1
    assert not path.exists()
    programs.put("key", b"executable" * 100)
    assert programs.get("key") == b"executable" * 100
    assert capsys.readouterr().err == ""


def test_the_limit_holds_and_what_was_used_last_stays(tmp_path: pathlib.Path) -> None:
    programs = cache.Programs(tmp_path, 3500)
    for number, key in enumerate("abc"):
        programs.put(key, bytes(1000))
        os.utime(tmp_path / f"{key}.program", (number, number))
    assert programs.get("a") is not None
    programs.put("d", bytes(1000))
    assert programs.get("b") is None
    assert all(programs.get(key) is not None for key in "acd")
    programs.put("large", bytes(4000))
    assert programs.get("large") is None
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3500


def test_without_a_limit_everything_stays_and_with_none_nothing(tmp_path: pathlib.Path) -> None:
    unlimited, nothing = cache.Programs(tmp_path / "one", -1), cache.Programs(tmp_path / "two", 0)
    for programs in (unlimited, nothing):
        programs.put("key", bytes(5000))
    assert unlimited.get("key") == bytes(5000)
    assert nothing.get("key") is None


def test_an_entry_that_is_put_again_is_replaced(tmp_path: pathlib.Path) -> None:
    """XLA may refuse an intact one; what was compiled in its place must be there at the next start."""
    programs = cache.Programs(tmp_path, 1 << 20)
    programs.put("key", b"refused")
    programs.put("key", b"new")
    assert programs.get("key") == b"new"


def test_what_a_killed_process_was_writing_is_removed(tmp_path: pathlib.Path) -> None:
    old, young = tmp_path / "a.1.1.partial", tmp_path / "b.2.2.partial"
    old.write_bytes(b"half")
    young.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    cache.Programs(tmp_path, 1 << 20).put("key", b"value")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.2.2.partial", "key.program"]


def test_threads_that_write_the_same_entry(tmp_path: pathlib.Path) -> None:
    programs, values, wrong = cache.Programs(tmp_path, 1 << 20), [bytes([i]) * 5000 for i in range(4)], []

    def work(value: bytes) -> None:
        for _ in range(50):
            programs.put("key", value)
            if programs.get("key") not in values:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    assert [path.name for path in tmp_path.iterdir()] == ["key.program"]


def test_a_store_of_jax_in_the_same_folder_is_not_disturbed(tmp_path: pathlib.Path) -> None:
    """Another version of proa, or of JAX, may keep programs in JAX's way, with a file of times beside each."""
    stores = pytest.importorskip("jax._src.lru_cache", reason="this JAX has its store elsewhere")
    ours, theirs = cache.Programs(tmp_path, 3000), stores.LRUCache(str(tmp_path), max_size=1000)
    ours.put("a", b"ours")
    theirs.put("a", bytes(600))
    theirs.put("b", bytes(600))  # for which the first one goes
    assert (theirs.get("a"), theirs.get("b")) == (None, bytes(600))
    assert ours.get("a") == b"ours"
    ours.put("b", bytes(2940))  # for which ours goes, and nothing of theirs
    assert (ours.get("a"), ours.get("b")) == (None, bytes(2940))
    assert theirs.get("b") == bytes(600)


def test_a_folder_is_named_once(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(cache, "_TOLD", set())
    for number in (errno.ENOSPC, errno.ENOSPC, errno.EACCES):
        cache.tell_unusable(tmp_path, OSError(number, os.strerror(number)), "nothing is kept")
    lines = capsys.readouterr().err.splitlines()
    assert [("is full" in line, "is not writable" in line) for line in lines] == [(True, False), (False, True)]
    assert all(str(tmp_path) in line and "PROA_CACHE_DIR" in line for line in lines)


# ---- real processes ------------------------------------------------------------------------------

# Compiling this takes longer than 0.2 s, so that it is kept.
SCRIPT = """
import numpy as np, proa
proa.set_flags({"FLAGS_hot_threshold": 1})
x = proa.to_tensor(np.linspace(-1, 1, 512, dtype="float32").reshape(16, 32))
for i in range(60):
    x = proa.tanh(proa.matmul(proa.matmul(x, x.T) * 0.01, x)) + proa.cumsum(x, 1).sort(axis=0) * 0.1
print("sum:", float(x.sum()))
"""


def run(folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=ROOT, timeout=110,
        env={**os.environ, "PROA_CACHE_DIR": str(folder), "PROA_NATIVE": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, str]:
    folder = tmp_path_factory.mktemp("programs")
    first = run(folder)
    assert first.stderr == ""
    assert list(folder.glob("*.program"))
    return folder, first.stdout


@pytest.mark.parametrize("damage", ["cut short", "one bit", "garbage"])
def test_a_damaged_program_is_compiled_anew_and_the_next_run_is_quiet(
    damage: str, filled: tuple[pathlib.Path, str]
) -> None:
    folder, expected = filled
    whole = {path: path.read_bytes() for path in folder.glob("*.program")}
    for path, data in whole.items():
        path.write_bytes(DAMAGES[damage](data))
    second, third = run(folder), run(folder)
    assert (second.stdout, third.stdout) == (expected, expected)
    assert second.stderr.count("\n") == 1
    assert "compiled anew" in second.stderr
    assert third.stderr == ""
    assert set(folder.glob("*.program")) == set(whole)
    assert all(cache.is_intact(path) for path in whole)


def test_two_processes_fill_an_empty_folder(tmp_path: pathlib.Path, filled: tuple[pathlib.Path, str]) -> None:
    command = [sys.executable, "-c", SCRIPT]
    environment = {**os.environ, "PROA_CACHE_DIR": str(tmp_path), "PROA_NATIVE": "0"}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=110) for process in running] == [(filled[1], "")] * 2
    assert all(cache.is_intact(path) for path in tmp_path.glob("*.program"))
    assert not list(tmp_path.glob("*.partial"))


def test_a_full_disk_is_named_in_one_line(small_disk: pathlib.Path, filled: tuple[pathlib.Path, str]) -> None:
    disk = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(disk.f_bavail * disk.f_frsize))
    done = run(small_disk / "programs")
    assert done.stdout == filled[1]
    assert done.stderr.count("\n") == 1
    assert f"{small_disk}/programs is full" in done.stderr
    assert [path.name for path in small_disk.rglob("*") if path.is_file()] == ["filler"]


def test_a_read_only_folder_is_read_and_named_in_one_line(
    read_only: pathlib.Path, filled: tuple[pathlib.Path, str]
) -> None:
    done = run(read_only / "programs")
    assert done.stdout == filled[1]
    assert done.stderr.count("\n") == 1
    assert f"{read_only}/programs is read-only" in done.stderr


def test_a_file_in_the_place_of_the_folder(tmp_path: pathlib.Path, filled: tuple[pathlib.Path, str]) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run(tmp_path / "file")
    assert done.stdout == filled[1]
    assert done.stderr.count("\n") == 1
    assert f"{tmp_path}/file cannot be used" in done.stderr
