"""The CPU training benchmark: what is made of measured rounds, and that everything runs."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import cpu
from benchmarks.harness import cpu_report
from benchmarks.harness.processes import Contender
from benchmarks.harness.ratios import Bar, Series
from benchmarks.workloads import families

ROOT = pathlib.Path(__file__).parents[2]
BAR = Bar(1.1, ("torch", "paddle"), "≥ 1.1 × the fastest eager peer")


def series(name: str, *seconds: float, peak: int | None = None) -> Series:
    return Series(name, name, 2, seconds=list(seconds), peak_bytes=peak)


def test_an_opponent_is_compared_within_its_own_heat() -> None:
    # The machine was twice as slow in the second heat: 1.2 × torch and 1.5 × paddle all the same.
    pairs = [
        (series("proa", 1.0, 1.0, peak=110), series("torch", 1.2, 1.2, peak=100)),
        (series("proa", 2.0, 2.0, peak=110), series("paddle", 3.0, 3.0, peak=200)),
    ]
    verdict = cpu.judge_pairs(pairs, BAR)
    assert verdict["met"] is True
    assert verdict["by_minimum"] == pytest.approx(1.2)
    assert verdict["by_rounds"] == pytest.approx(1.2)
    assert verdict["memory"] == pytest.approx(1.1)


def test_a_bar_is_undecided_without_one_of_its_opponents() -> None:
    verdict = cpu.judge_pairs([(series("proa", 1.0), series("torch", 2.0))], BAR)
    assert verdict["met"] is None
    assert "paddle not measured" in verdict["why"]
    assert cpu.judge_pairs([], BAR)["met"] is None


def test_a_bar_that_only_the_best_round_reaches_is_not_met() -> None:
    pairs = [(series("proa", 1.0, 3.0, 3.0), series(name, 1.2, 1.2, 1.2)) for name in BAR.against]
    verdict = cpu.judge_pairs(pairs, BAR)
    assert verdict["met"] is False
    assert verdict["why"] == "by one measure only"


def test_heats_fit_into_memory_and_all_have_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(cpu.ROWS[0], gigabytes=4.0)
    subject, *peers = [Contender(name, "paddle", "proa", "python") for name in "abcdef"]
    monkeypatch.setattr(cpu, "free_gigabytes", lambda: 16.0)
    groups = [[c.name for c in heat] for heat in cpu.heats(row, subject, peers)]
    assert groups == [["a", "b", "c"], ["a", "d", "e"], ["a", "f"]]
    monkeypatch.setattr(cpu, "free_gigabytes", lambda: 0.5)
    assert [len(heat) for heat in cpu.heats(row, subject, peers)] == [2] * 5
    assert cpu.heats(row, subject, []) == [[subject]]


def test_rows_name_workloads_that_have_a_version_for_every_contender() -> None:
    for row in cpu.ROWS:
        versions = families(row.benchmark.workload)
        wanted = {"paddle" if FORM[0] == "proa" else FORM[0] for name in row.contenders for FORM in [cpu.FORMS[name]]}
        assert wanted <= set(versions), row.benchmark.name


def test_results_stay_until_they_are_measured_again(tmp_path: pathlib.Path) -> None:
    facts = {"processor": "p", "cores": 2, "date": "2026-01-01T00:00:00"}
    bar = {"text": "t", "speed": 1.0, "against": ["torch"], "met": True, "by_minimum": 1.3, "by_rounds": 1.2}

    def record(name: str, seconds: float) -> dict[str, object]:
        both = [series("proa", seconds, peak=2**30), series("torch", 1.3)]
        return {
            "benchmark": name, "title": name, "work": 1, "rounds": 1, "contenders": [one.as_json() for one in both],
            "ratios": [{"against": "torch", "by_minimum": 1.3, "by_rounds": 1.2}], "bar": bar, "value_differences": [],
        }  # fmt: skip

    cpu.save([record("encoder", 1.0), record("lstm", 1.0)], facts, tmp_path)
    cpu.save([record("lstm", 0.5)], facts, tmp_path)
    saved = json.loads((tmp_path / "cpu.json").read_text())["records"]
    assert [(r["benchmark"], r["contenders"][0]["min_seconds"]) for r in saved] == [("encoder", 1.0), ("lstm", 0.5)]
    text = (tmp_path / "cpu.md").read_text()
    assert "| lstm | proa | 500 | 500 |  |  | 1.00 | – |" in text
    assert "lstm: t: met, reached 1.30" in text
    assert (tmp_path / "cpu.png").stat().st_size > 1000
    assert "failed" in cpu_report.rows_of({**record("lstm", 1.0), "contenders": [replace(
        series("torch"), error="boom").as_json()]})[0]  # fmt: skip


@pytest.mark.slow
def test_a_tiny_model_runs(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "benchmarks.cpu", "--quick", "--only", "lstm", "--peers", "proa-static",
            "--results", str(tmp_path),
        ],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = json.loads((tmp_path / "cpu.json").read_text())["records"]
    assert [c["label"] for c in record["contenders"]] == ["proa", "proa-static"]
    assert record["value_differences"] == []
    assert record["contenders"][0]["peak_bytes"] > 2**26
