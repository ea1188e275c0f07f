"""What a training is told: every key checked, every error naming it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from proa.llm.training.schedule import factor_at
from proa.llm.training.settings import Schedule, read_settings, settings_from

LEAST = {"model": "m", "output": "o", "data": {"train": "t.tokens"}}


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    wanted = {**LEAST, "optimizer": {"learning_rate": 3e-4}, "lora": {"rank": 4, "targets": ["q_proj"]}}
    (tmp_path / "a.json").write_text(json.dumps(wanted))
    (tmp_path / "a.yaml").write_text(
        "model: m\noutput: o\ndata: {train: t.tokens}\noptimizer:\n  learning_rate: 3e-4\n"
        "lora:\n  rank: 4\n  targets: [q_proj]\n"
    )
    (tmp_path / "a.toml").write_text(
        'model = "m"\noutput = "o"\n[data]\ntrain = "t.tokens"\n[optimizer]\nlearning_rate = 3e-4\n'
        '[lora]\nrank = 4\ntargets = ["q_proj"]\n'
    )
    found = [read_settings(tmp_path / f"a.{ending}") for ending in ("json", "yaml", "toml")]
    assert found[0] == found[1] == found[2]
    assert found[0].optimizer.learning_rate == 3e-4
    assert found[0].model == str(tmp_path / "m"), "paths are meant from the file's folder"
    assert found[0].data.train == (str(tmp_path / "t.tokens"),)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"modle": "x"}, r"no key modle; .*did you mean model\?"),
        ({"data": {"train": "t", "lenght": 5}}, r"no key data\.lenght; .*did you mean length\?"),
        ({"data": {"train": "t", "length": "long"}}, r"data\.length must be a whole number; received 'long'"),
        ({"data": {"train": "t", "length": 1}}, r"data\.length must be at least 2; received 1"),
        ({"data": {"train": "t", "length": True}}, r"data\.length must be a whole number; received True"),
        ({"data": {"train": [1]}}, r"data\.train must be a text or a list of texts"),
        ({"data": "t"}, r"data must be a section with keys"),
        ({"data": {}}, r"data\.train must be given"),
        ({"optimizer": {"beta1": 1.5}}, r"optimizer\.beta1 must be at most 1\.0"),
        ({"optimizer": {"learning_rate": math.nan}}, r"optimizer\.learning_rate must be a number"),
        ({"schedule": {"kind": "cosinus"}}, r"schedule\.kind must be one of constant, linear, cosine, stable"),
        ({"task": "sft"}, r"task must be one of pretrain, chat, preference"),
        ({"model": ""}, r"the key model must be given"),
        ({"quantised": "int4"}, r"quantised weights cannot be trained"),
        ({"scratch": True, "lora": {}}, r"an adapter on random weights"),
        ({"steps": 0, "epochs": 0}, r"steps or epochs must be positive"),
        ({"data": {"train": "t", "pack": "yes"}}, r"data\.pack must be true or false"),
    ],
)
def test_errors_name_the_key(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        settings_from({**LEAST, **change})


def test_files_that_are_no_settings_are_refused(tmp_path: Path) -> None:
    for name, text in (("a.json", "{"), ("a.toml", "model = "), ("a.yaml", "a: [1"), ("b.yaml", "- 1")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match="proa train"):
            read_settings(tmp_path / name)
    (tmp_path / "a.py").write_text("x = 1")
    with pytest.raises(ValueError, match=r"must be a \.yaml, \.toml or \.json file"):
        read_settings(tmp_path / "a.py")


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"model: !!python/object/apply:os.mkdir ['{tmp_path}/made']\n")
    with pytest.raises(ValueError, match="cannot be read"):
        read_settings(tmp_path / "a.yaml")
    assert not (tmp_path / "made").exists()


def test_schedules() -> None:
    cosine = [factor_at(Schedule("cosine", warmup=3, floor=0.1), 13, step) for step in range(14)]
    assert cosine[:3] == [0.25, 0.5, 0.75]
    assert cosine[3] == 1.0
    assert cosine[8] == pytest.approx(0.55)
    assert cosine[13] == pytest.approx(0.1)
    linear = [factor_at(Schedule("linear", floor=0.0), 4, step) for step in range(5)]
    assert linear == [1.0, 0.75, 0.5, 0.25, 0.0]
    stable = [factor_at(Schedule("stable", decay=2, floor=0.0), 6, step) for step in range(7)]
    assert stable == [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0]
    assert factor_at(Schedule("constant"), 5, 100) == 1.0
