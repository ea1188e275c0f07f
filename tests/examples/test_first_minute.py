"""The tool that measures what a newcomer waits for, on programs whose pauses are known."""

from __future__ import annotations

import pathlib
import sys

import pytest

from tools import first_minute

PROGRAM = """
import sys, time
print("proa is imported", flush=True)
for step in range(4):
    if step == 2:
        {pause}
    sys.stdout.write(f"\\r\\x1b[1mepoch 1 {{step}}/3 loss 0.5\\x1b[0m")  # 0/3 is no step
    sys.stdout.flush()
    time.sleep(0.05)
print()
"""
SLEEPS = "time.sleep(0.7)"
WORKS = "end = time.thread_time() + 0.7\n        while time.thread_time() < end: pass"


def seen_of(pause: str, tmp_path: pathlib.Path) -> first_minute.Watched:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(pause=pause))
    return first_minute.watch([sys.executable, str(program)], folder=tmp_path)


@pytest.mark.parametrize(("pause", "work"), [(SLEEPS, 0.0), (WORKS, 0.7)])
def test_a_pause_is_found_with_the_work_in_it(pause: str, work: float, tmp_path: pathlib.Path) -> None:
    seen = seen_of(pause, tmp_path)
    assert seen.code == 0
    assert [moment.step for moment in seen.steps] == [1, 2, 3]
    longest = max(seen.pauses, key=lambda moment: moment.wall)
    assert longest.step == 2
    assert longest.wall > 0.7
    assert longest.work == pytest.approx(work, abs=0.2)
    assert 0 < seen.first.wall < seen.steps[0].wall


@pytest.mark.parametrize(
    ("load", "wall", "work", "verdict"),
    [(0.0, 4.9, 0.0, 0), (0.0, 5.1, 0.0, 1), (99.0, 60.0, 4.9, 0), (99.0, 60.0, 5.1, 1)],
)
@pytest.mark.parametrize("at_the_beginning", [True, False])
def test_on_a_busy_machine_processor_time_decides(
    load: float, wall: float, work: float, verdict: int, at_the_beginning: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment, begun = first_minute.Moment, first_minute.Moment(1.0, 1.0)
    first = moment(1.0 + wall, 1.0 + work, 1) if at_the_beginning else moment(1.1, 1.1, 1)
    second = moment(first.wall + 0.1, first.work, 2) if at_the_beginning else moment(1.1 + wall, 1.1 + work, 2)
    seen = first_minute.Watched(0, "", begun, [first, second])
    monkeypatch.setattr(first_minute.os, "getloadavg", lambda: (load, load, load))
    assert first_minute.report(seen, limit=5.0) == verdict


def test_a_program_that_fails_or_shows_nothing_is_told(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = first_minute.watch([sys.executable, "-c", "print('1/2'); raise SystemExit(3)"], folder=tmp_path)
    assert first_minute.report(seen, 5.0) == 1
    assert "ended with 3, 1 steps" in capsys.readouterr().out
    assert first_minute.report(first_minute.watch([sys.executable, "-c", ""], folder=tmp_path), 5.0) == 1
    assert "ended with 0, 0 steps" in capsys.readouterr().out


def test_sizes_leave_out_what_installs_packages(tmp_path: pathlib.Path) -> None:
    packages = tmp_path / "lib" / "python3.12" / "site-packages"
    for name in ("proa", "pip", "setuptools-80.dist-info", "pipes_of_somebody"):
        (packages / name / "inside").mkdir(parents=True)
        (packages / name / "inside" / "file").write_bytes(bytes(1 << 20))
    assert first_minute.size_of(tmp_path) == {"proa": 1.0, "pipes_of_somebody": 1.0}


def test_a_file_that_is_not_there_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["first_minute", "wheel", "dist/nothing.whl"])
    with pytest.raises(SystemExit):
        first_minute.main()
    assert "takes the path of a wheel" in capsys.readouterr().err
