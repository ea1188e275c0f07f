"""What `proa export web` writes and refuses. Whether pages work is tested in tests/web."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

import proa as paddle
from proa import nn
from proa.export.web import runtime as runtime_module
from proa.export.web.runtime import FILES, copy_runtime
from proa.export.web.site import export_site
from proa_command import main


@pytest.fixture
def runtime(tmp_path: Path) -> str:
    folder = tmp_path / "package" / "dist"
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text("// a stand-in")
    return str(folder.parent)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("model") / "m.proa")
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, 1, 8, 8], "float32", "ink")])
    return path


def packed(path: Path, members: dict[str, bytes | None]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"package/dist/{name}")
            if content is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, FILES[0]  # a link has no size to be judged by
            else:
                entry.size = len(content)
            archive.addfile(entry, None if content is None else io.BytesIO(content))
    return str(path)


def test_the_folder_is_whole_and_replaced_when_made_again(model: str, runtime: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for _ in range(2):
        files = {str(file.relative_to(site)) for file in export_site(model, site, "draw", runtime=runtime)}
        wanted = {"index.html", "page.js", "page.css", "ink.js", "proa.js", "model.onnx", "settings.json"}
        assert files >= wanted | {f"runtime/{name}" for name in FILES}
        (site / "left.txt").write_text("from before")
    settings = json.loads((site / "settings.json").read_text())
    assert (settings["input"], settings["shape"], settings["labels"]) == ("ink", [1, 1, 8, 8], ["0", "1", "2"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["package", "site"]


def test_what_others_made_is_not_replaced_and_failures_leave_nothing(model: str, runtime: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("important")
    with pytest.raises(ValueError, match="exists already"):
        export_site(model, mine, runtime=runtime)
    with pytest.raises(ValueError, match="exists already"):
        export_site(model, mine / "thesis.tex", runtime=runtime)
    site = tmp_path / "site"
    export_site(model, site, runtime=runtime)
    before = {file: file.read_bytes() for file in site.rglob("*") if file.is_file()}
    with pytest.raises(FileNotFoundError, match=r"ort\.wasm\.min\.mjs.* is not there"):
        export_site(model, site, runtime=str(mine))
    assert {file: file.read_bytes() for file in site.rglob("*") if file.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "package", "site"]


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08\x07"])
def test_what_is_no_onnx_model_is_refused(content: bytes, runtime: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.onnx"
    wrong.write_bytes(content)
    with pytest.raises(ValueError, match="no valid ONNX model"):
        export_site(str(wrong), tmp_path / "site", runtime=runtime)
    assert not (tmp_path / "site").exists()


def test_models_that_do_not_fit_a_page_are_refused(model: str, runtime: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="3 classes apart; received 2 labels"):
        export_site(model, tmp_path / "site", "draw", ["a", "b"], runtime)
    flat = str(tmp_path / "flat.proa")
    paddle.jit.save(nn.Linear(3, 2), flat, input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    with pytest.raises(ValueError, match=r"a drawing is one input.*received x: float32\[None, 3\]"):
        export_site(flat, tmp_path / "site", "draw", runtime=runtime)
    with pytest.raises(ValueError, match="the pages are"):
        export_site(flat, tmp_path / "site", "dance", runtime=runtime)
    with pytest.raises(ValueError, match="a model is needed"):
        export_site(None, tmp_path / "site", runtime=runtime)
    assert not (tmp_path / "site").exists()


def test_a_packed_runtime_is_read_and_a_wrong_one_refused(tmp_path: Path) -> None:
    good = packed(tmp_path / "good.tgz", {name: name.encode() for name in FILES})
    copy_runtime(tmp_path / "out", good)
    assert {name: (tmp_path / "out" / name).read_text() for name in FILES} == {name: name for name in FILES}
    link = packed(tmp_path / "link.tgz", {FILES[0]: b"x", FILES[1]: b"x", FILES[2]: None})
    short = packed(tmp_path / "short.tgz", {FILES[0]: b"x"})
    (tmp_path / "cut.tgz").write_bytes(Path(good).read_bytes()[:50])
    for wrong in (link, short, str(tmp_path / "cut.tgz")):
        with pytest.raises(ValueError, match="no packed onnxruntime-web"):
            copy_runtime(tmp_path / "other", wrong)
    with pytest.raises(FileNotFoundError, match="no such runtime"):
        copy_runtime(tmp_path / "other", str(tmp_path / "absent"))


def test_without_npm_and_without_its_registry_the_error_says_what_to_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runtime_module.shutil, "which", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"neither is npm.*Node\.js.*--runtime"):
        copy_runtime(tmp_path / "out")
    monkeypatch.setattr(runtime_module.shutil, "which", lambda name: "/usr/bin/npm")
    failed = subprocess.CompletedProcess([], 1, "", "npm error network\nnpm error no such host\n")
    monkeypatch.setattr(runtime_module.subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(OSError, match="npm could not fetch onnxruntime-web; received npm error no such host"):
        copy_runtime(tmp_path / "out")
    modules = tmp_path / "node_modules" / "onnxruntime-web" / "dist"
    modules.mkdir(parents=True)
    for name in FILES:
        (modules / name).write_text(name)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    copy_runtime(tmp_path / "out")
    assert (tmp_path / "out" / FILES[2]).read_text() == FILES[2]


def test_the_command(model: str, runtime: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = str(tmp_path / "site")
    assert main(["export", "web", model, "-o", site, "--page", "draw", "--labels", "a,b,c", "--runtime", runtime]) == 0
    assert "http.server" in capsys.readouterr().out
    assert json.loads((tmp_path / "site" / "settings.json").read_text())["labels"] == ["a", "b", "c"]
    assert main(["export", "web", str(tmp_path / "absent.onnx"), "-o", site, "--runtime", runtime]) == 1
    assert "there is no such model" in capsys.readouterr().err
    assert os.path.isfile(os.path.join(site, "index.html"))
