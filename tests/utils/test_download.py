"""Downloads, from local addresses: cached, checked, unpacked, and refused in clear words."""

from __future__ import annotations

import hashlib
import io
import pathlib
import tarfile
import zipfile

import pytest

from proa.core.archives import unpack_tar
from proa.utils import download


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    folder = tmp_path / "weights"
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(folder))
    return folder


def test_a_file_is_fetched_once(tmp_path: pathlib.Path, home: pathlib.Path) -> None:
    source = tmp_path / "model.pdparams"
    source.write_bytes(b"weights")
    md5 = hashlib.md5(b"weights").hexdigest()
    found = download.get_weights_path_from_url(source.as_uri(), md5)
    assert pathlib.Path(found) == home / "model.pdparams"
    assert pathlib.Path(found).read_bytes() == b"weights"
    source.unlink()
    assert download.get_weights_path_from_url(source.as_uri(), md5) == found
    assert [path.name for path in home.iterdir()] == ["model.pdparams"]


def test_a_wrong_sum_is_refused(tmp_path: pathlib.Path, home: pathlib.Path) -> None:
    source = tmp_path / "model.pdparams"
    source.write_bytes(b"other")
    with pytest.raises(RuntimeError, match="its MD5 is not 0123"):
        download.get_weights_path_from_url(source.as_uri(), "0123")
    assert list(home.iterdir()) == []


def test_no_network_in_clear_words(home: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"could not be downloaded: .*check the network.*put it at"):
        download.get_weights_path_from_url("http://127.0.0.1:9/model.pdparams")


def test_archives_are_unpacked(tmp_path: pathlib.Path, home: pathlib.Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    with tarfile.open(tmp_path / "single.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "one", "one")
    with zipfile.ZipFile(tmp_path / "several.zip", "w") as zipped:
        zipped.write(tmp_path / "one" / "a.txt", "a.txt")
        zipped.write(tmp_path / "b.txt", "b.txt")
    single = download.get_weights_path_from_url((tmp_path / "single.tar.gz").as_uri())
    assert (pathlib.Path(single) / "a.txt").read_text() == "a"
    several = download.get_weights_path_from_url((tmp_path / "several.zip").as_uri())
    assert several == str(home / "several")
    assert (pathlib.Path(several) / "b.txt").read_text() == "b"


def test_what_is_no_address() -> None:
    for bad in ("model.pdparams", "/root/model", "http://host/"):
        with pytest.raises(ValueError, match=r"\(download\)"):
            download.get_weights_path_from_url(bad)


@pytest.mark.parametrize("checked_by_python", [True, False])
def test_tar_archives_that_reach_out_are_refused(
    checked_by_python: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not checked_by_python:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)  # as in Python before 3.11.4
    (tmp_path / "inner").mkdir()
    for name, content in (("fine.txt", b"1"), ("../out.txt", b"2")):
        path = tmp_path / f"{len(name)}.tar"
        with tarfile.open(path, "w") as made:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            made.addfile(entry, io.BytesIO(content))
        with tarfile.open(path) as packed:
            if name == "fine.txt":
                unpack_tar(packed, tmp_path / "inner")
            else:
                with pytest.raises(tarfile.TarError):
                    unpack_tar(packed, tmp_path / "inner")
    assert (tmp_path / "inner" / "fine.txt").read_bytes() == b"1"
    assert not (tmp_path / "out.txt").exists()
