"""paddle.hub: folders, archives, and addresses of the form file://."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tarfile
import zipfile

import numpy as np
import pytest

import proa as paddle
from proa import hub

CONFIG = '''
dependencies = ["numpy"]
from hub_helper import VALUE

def _hidden():
    return None

def tiny(n=3, scale=1.0):
    """Makes a tiny thing."""
    from hub_helper import VALUE as again
    return n, scale, VALUE, again

class Thing:
    pass

constant = 3
'''


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = list(sys.path)
    yield
    assert sys.path == path
    assert "hubconf" not in sys.modules
    sys.modules.pop("hub_helper", None)


@pytest.fixture
def repository(tmp_path):
    return make_repository(tmp_path / "repository", 7)


def make_repository(folder, value):
    folder.mkdir(parents=True)
    (folder / "hubconf.py").write_text(CONFIG)
    (folder / "hub_helper.py").write_text(f"VALUE = {value}\n")
    return folder


def packed(folder, target, top="repository-main/"):
    files = sorted(path for path in folder.iterdir() if path.suffix == ".py")
    if target.suffix == ".zip":
        with zipfile.ZipFile(target, "w") as archive:
            for file in files:
                archive.write(file, f"{top}{file.name}")
    else:
        with tarfile.open(target, "w:gz") as archive:
            for file in files:
                archive.add(file, f"{top}{file.name}")
    return target


def test_a_folder(repository):
    assert hub.list(str(repository), source="local") == ["Thing", "tiny"]
    assert hub.help(str(repository), "tiny", source="local") == "Makes a tiny thing."
    assert hub.load(str(repository), "tiny", source="local", n=5) == (5, 1.0, 7, 7)
    assert type(hub.load(repository, "Thing", "local")).__name__ == "Thing"
    assert paddle.hub is hub


@pytest.mark.parametrize("name", ["model.zip", "model.tar.gz"])
@pytest.mark.parametrize("top", ["repository-main/", ""])
def test_an_archive(repository, tmp_path, name, top):
    archive = packed(repository, tmp_path / name, top)
    assert hub.load(str(archive), "tiny", source="local") == (3, 1.0, 7, 7)
    assert hub.list(archive.as_uri(), source="local") == ["Thing", "tiny"]
    (repository / "hub_helper.py").write_text("VALUE = 8\n")
    packed(repository, archive, top)
    assert hub.load(str(archive), "tiny", source="local", force_reload=True)[2] == 8


def test_each_repository_finds_its_own_modules(repository, tmp_path):
    other = make_repository(tmp_path / "other", 9)
    values = [hub.load(str(folder), "tiny", source="local")[2] for folder in (repository, other, repository)]
    assert values == [7, 9, 7]


def evil_zip(path, name, link=False):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hubconf.py", CONFIG)
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (0o120777 if link else 0o100644) << 16
        archive.writestr(entry, "/etc" if link else "bad")


def evil_tar(path, name, link=False):
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo(name)
        if link:
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc"
            archive.addfile(entry)
        else:
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"bad"))


@pytest.mark.parametrize("make", [evil_zip, evil_tar])
@pytest.mark.parametrize(
    ("name", "link"), [("../evil.txt", False), ("/evil.txt", False), ("a/../../evil.txt", False), ("link", True)]
)
def test_archives_that_lead_out_are_refused(tmp_path, make, name, link):
    archive = tmp_path / "evil.archive"
    make(archive, name, link)
    with pytest.raises(ValueError, match="leads out of its folder"):
        hub.list(str(archive), source="local")
    assert not list(tmp_path.rglob("evil.txt"))
    assert not os.path.exists("/evil.txt")
    assert not list(tmp_path.rglob("hubconf.py"))  # nothing is left half unpacked


def test_refused(repository, tmp_path):
    folder = str(repository)
    for name in ("nothing", "constant"):
        with pytest.raises(RuntimeError, match=f"no entry point '{name}'"):
            hub.load(folder, name, source="local")
    with pytest.raises(TypeError, match="name of an entry point"):
        hub.load(folder, 3, source="local")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'github', 'gitee' or 'local'"):
        hub.list(folder, source="elsewhere")
    with pytest.raises(FileNotFoundError, match="no such folder or archive"):
        hub.list(str(tmp_path / "missing"), source="local")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(ValueError, match="neither a folder nor a zip or tar"):
        hub.list(str(tmp_path / "text"), source="local")
    os.remove(repository / "hubconf.py")
    with pytest.raises(RuntimeError, match=r"no hubconf\.py"):
        hub.list(folder, source="local")
    (repository / "hubconf.py").write_text("dependencies = ['no_such_package_q']\ndef entry(): return 1\n")
    assert hub.list(folder, source="local") == ["entry"]
    with pytest.raises(RuntimeError, match="missing: no_such_package_q"):
        hub.load(folder, "entry", source="local")
    (repository / "hubconf.py").write_text("raise KeyError('broken')\n")
    with pytest.raises(KeyError, match="broken"):
        hub.list(folder, source="local")


def test_repositories_without_a_network(monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    for source in ("github", "gitee"):
        with pytest.raises(RuntimeError, match=rf"{source}\.com/owner/name.* no route.*source='local'"):
            hub.list("owner/name:branch", source=source)
    for name in ("owner", "a/b/c", "../name", "owner/"):
        with pytest.raises(ValueError, match="owner/repository"):
            hub.list(name)


def test_a_downloaded_repository_is_kept(monkeypatch, repository, tmp_path):
    archive = packed(repository, tmp_path / "main.zip")
    asked = []

    def answer(url, timeout=None):
        asked.append(url)
        return archive.open("rb")

    monkeypatch.setattr("urllib.request.urlopen", answer)
    assert hub.load("owner/name", "tiny")[2] == 7
    assert hub.list("owner/name") == ["Thing", "tiny"]
    assert asked == ["https://github.com/owner/name/archive/main.zip"]
    hub.list("owner/name", force_reload=True)
    assert len(asked) == 2


# ---- weights -------------------------------------------------------------------------------------------------------


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "source" / "net.pdparams"
    path.parent.mkdir()
    paddle.save({"w": paddle.arange(3)}, str(path))
    return path


def test_weights_are_kept(weights, tmp_path):
    folder = tmp_path / "models"
    loaded = hub.load_state_dict_from_url(weights.as_uri(), folder)
    np.testing.assert_array_equal(loaded["w"].numpy(), [0, 1, 2])
    assert os.listdir(folder) == ["net.pdparams"]
    os.remove(weights)
    assert list(hub.load_state_dict_from_url(weights.as_uri(), folder)) == ["w"]
    with pytest.raises(RuntimeError, match="could not be downloaded"):
        hub.load_state_dict_from_url(weights.as_uri(), folder, file_name="other.pdparams")
    assert os.listdir(folder) == ["net.pdparams"]


def test_weights_with_a_hash(weights, tmp_path):
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    right, wrong = f"net-{digest[:8]}.pdparams", "net-00000000.pdparams"
    hub.load_state_dict_from_url(weights.as_uri(), tmp_path / "m", check_hash=True, file_name=right)
    with pytest.raises(RuntimeError, match="another hash"):
        hub.load_state_dict_from_url(weights.as_uri(), tmp_path / "m", check_hash=True, file_name=wrong)
    with pytest.raises(ValueError, match="name-<hash>"):
        hub.load_state_dict_from_url(weights.as_uri(), tmp_path / "m", check_hash=True)
    assert os.listdir(tmp_path / "m") == [right]


def test_weights_in_an_archive_and_by_default(weights, tmp_path):
    archive = tmp_path / "net.zip"
    with zipfile.ZipFile(archive, "w") as packing:
        packing.write(weights, "folder/net.pdparams")
    assert list(hub.load_state_dict_from_url(archive.as_uri())) == ["w"]
    assert (tmp_path / "cache" / "proa" / "hub" / "checkpoints" / "net.zip").exists()
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as packing:
        packing.write(weights, "a.pdparams")
        packing.write(weights, "b.pdparams")
    with pytest.raises(ValueError, match="exactly one file"):
        hub.load_state_dict_from_url((tmp_path / "two.zip").as_uri())


def test_weights_refused(weights, tmp_path):
    for name in ("../x.pdparams", "a/b"):
        with pytest.raises(ValueError, match="no name for the file"):
            hub.load_state_dict_from_url(weights.as_uri(), tmp_path / "m", file_name=name)
    with pytest.raises(ValueError, match="URL"):
        hub.load_state_dict_from_url("ftp://host/net.pdparams", tmp_path / "m")
    with pytest.raises(ValueError, match="must be a string"):
        hub.load_state_dict_from_url(3)  # type: ignore[arg-type]
