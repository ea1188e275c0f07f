"""The table that says, by measurement, whether a call runs natively or on XLA."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from proa.core import flags
from proa.ir.tiers import cache
from proa.kernels.cpu import choice, library, rows
from tests.kernels.cases import references as r

ROOT = pathlib.Path(__file__).parents[3]
SLOW = {"native": 2e-3, "xla": 1e-3, "rule": "native"}

needs_native = pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")


@pytest.fixture
def table(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> choice.Table:
    """An empty table in place of this machine's."""
    empty = choice.Table(tmp_path / "choices.json")
    monkeypatch.setattr(choice, "table", lambda: empty)
    return empty


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(flags._FLAGS, "FLAGS_native_measure", flags._Flag(True, bool, ""))
    monkeypatch.setattr(choice, "_UNMEASURED", set())


def plain_softmax(xp: Any, x: Any, axis: int) -> Any:
    shifted = xp.exp(x - x.max(axis, keepdims=True))
    return shifted / shifted.sum(axis, keepdims=True)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (SLOW, "xla"),
        ({**SLOW, "rule": "xla"}, "xla"),
        ({"native": 1e-3, "xla": 2e-3, "rule": "xla"}, "native"),
        ({"native": 1e-3, "xla": 0.95e-3, "rule": "native"}, "native"),  # not quicker by enough
        ({"native": 20e-6, "xla": 2e-6, "rule": "native"}, "native"),  # too short to tell
    ],
)
def test_the_rule_stands_unless_the_other_is_clearly_quicker(row: choice.Row, expected: str) -> None:
    assert choice.winner(row) == expected


@needs_native
def test_the_table_decides_and_what_is_not_in_it_follows_the_threshold(table: choice.Table) -> None:
    kernel = rows.native_softmax(plain_softmax)
    large, small = np.ones((64, 128), np.float32), np.ones((4, 8), np.float32)
    assert r.calls_native(kernel, [large], (-1,))
    assert not r.calls_native(kernel, [small], (-1,))
    table.add("rows.softmax(float32[64,128], -1)", SLOW)
    table.add("rows.softmax(float32[4,8], -1)", {"native": 1e-3, "xla": 2e-3, "rule": "xla"})
    assert not r.calls_native(kernel, [large], (-1,))
    assert r.calls_native(kernel, [small], (-1,))
    assert r.calls_native(kernel, [np.ones((65, 128), np.float32)], (-1,))
    np.testing.assert_allclose(r.jitted(kernel, [small], (-1,))[0], np.full((4, 8), 1 / 8), rtol=1e-6)


@needs_native
def test_a_new_shape_is_measured_in_the_middle_of_tracing(table: choice.Table, measuring: None) -> None:
    kernel = rows.native_softmax(plain_softmax)
    x = np.random.default_rng(0).standard_normal((32, 300)).astype(np.float32)
    found = r.jitted(kernel, [x], (-1,))[0]
    np.testing.assert_allclose(found, plain_softmax(np, x.astype(np.float64), -1), rtol=1e-5)
    assert list(table.rows) == ["rows.softmax(float32[32,300], -1)"]
    assert table.rows == json.loads(table.path.read_text())
    assert choice._is_row(table.rows["rows.softmax(float32[32,300], -1)"])


@needs_native
def test_what_cannot_be_native_or_is_empty_is_not_measured(table: choice.Table, measuring: None) -> None:
    kernel = rows.native_softmax(plain_softmax)
    for x in (np.ones((64, 128), np.float64), np.ones((0, 128), np.float32)):
        r.calls_native(kernel, [x], (-1,))
    assert not table.rows


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"a": {"native": -1, "xla": 1, "rule": "xla"}}', '{"a": 3}', "\0"])
def test_a_broken_table_is_removed_with_one_line(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    path = tmp_path / "choices.json"
    path.write_text(content)
    broken = choice.Table(path)
    assert not broken.rows
    assert capsys.readouterr().err.count("\n") == 1
    assert not choice.Table(path).rows
    assert capsys.readouterr().err == ""  # the next process has nothing to say
    broken.add("key", SLOW)
    assert choice.Table(path).rows == {"key": SLOW}


def test_processes_add_to_one_table(tmp_path: pathlib.Path) -> None:
    script = (
        "import pathlib, sys\n"
        "from proa.kernels.cpu import choice\n"
        "table = choice.Table(pathlib.Path(sys.argv[1]))\n"
        "for i in range(40):\n"
        "    table.add(f'{sys.argv[2]} {i}', {'native': 1.0, 'xla': 2.0, 'rule': 'xla'})\n"
    )
    path = tmp_path / "choices.json"
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(path), name], cwd=ROOT, env=dict(os.environ))
        for name in ("one", "two", "three")
    ]
    assert [process.wait(300) for process in running] == [0, 0, 0]
    assert len(choice.Table(path).rows) == 120
    assert sorted(p.name for p in tmp_path.iterdir()) == ["choices.json", "choices.lock"]


def test_processes_of_one_machine_use_one_table() -> None:
    script = "from proa.kernels.cpu import choice; print(choice.table().path)"
    paths = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(paths) == 1


def test_a_full_disk_is_named_and_the_rows_hold_for_this_process(
    small_disk: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_TOLD", set())
    disk = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(bytes(disk.f_bavail * disk.f_frsize))
    full = choice.Table(small_disk / "choices.json")
    full.add("one", SLOW)
    full.add("two", SLOW)
    assert full.rows == {"one": SLOW, "two": SLOW}
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert f"{small_disk} is full" in message
    assert {path.name for path in small_disk.iterdir()} <= {"filler", "choices.lock"}


EXCEPTIONS = {
    # Only together are these one computation: measured one by one they would seem three times as slow.
    "attention.native_grad_query", "attention.native_grad_key", "attention.native_grad_value",
    # Their weights were packed for native code when the model was prepared.
    "fused.native_fused_conv", "fused.native_squeeze_excite", "fused.native_fused_linear", "quantised.native_quantised_conv",
    "quantised.native_quantised_linear",
}  # fmt: skip


def test_every_factory_asks_the_table() -> None:
    """A factory that is not marked with `@chosen` would be decided by belief for ever."""
    folder = pathlib.Path(choice.__file__).parent
    missing = []
    for path in sorted(folder.glob("*.py")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if line.startswith("def native_") and "(fallback" in line and not lines[number - 1].startswith("@chosen"):
                missing.append(f"{path.stem}.{line[4:].partition('(')[0]}")
    assert set(missing) <= EXCEPTIONS
