"""`incubate.autotune.set_config`: what it takes, and what it says of the rest."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import proa as paddle
from proa.incubate import autotune


def test_only_the_setting_is_public() -> None:
    assert autotune.__all__ == ["set_config"]


def test_a_file_is_read(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotune, "_settings", dict(autotune._settings))
    file = tmp_path / "tuning.json"
    file.write_text(json.dumps({"kernel": {"enable": True, "tuning_range": [1, 5]}}))
    paddle.incubate.autotune.set_config(str(file))
    assert autotune._settings["kernel"] == {"enable": True, "tuning_range": [1, 5]}


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"\(autotune.set_config\) .*'missing.json', which is not there"):
        autotune.set_config("missing.json")


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [("[1,", ValueError, "path of a JSON file"), ("[1]", TypeError, "object of settings; received list"),
     ('{"kernel": 3}', TypeError, "'kernel' must be a dictionary"), ('{"other": {}}', ValueError, "there is no 'other'")],
)  # fmt: skip
def test_what_a_file_must_hold(tmp_path: pathlib.Path, text: str, kind: type[Exception], words: str) -> None:
    file = tmp_path / "tuning.json"
    file.write_text(text)
    with pytest.raises(kind, match=words):
        autotune.set_config(file)


def test_nothing_is_set_where_a_part_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotune, "_settings", dict(autotune._settings))
    before = dict(autotune._settings)
    wrong: Any = {"kernel": {"enable": not before["kernel"]["enable"]}, "layout": {"enable": 1}}
    with pytest.raises(TypeError, match="'layout' must be a dictionary whose 'enable' is True or False"):
        autotune.set_config(wrong)
    assert autotune._settings == before
