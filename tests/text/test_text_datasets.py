"""Text datasets read small files written here in the published formats."""

from __future__ import annotations

import gzip
import io
import pathlib
import tarfile
import zipfile
from typing import Any

import numpy as np
import pytest

import proa as paddle

text = paddle.text


def write_tar(path: pathlib.Path, files: dict[str, bytes]) -> str:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return str(path)


def items(dataset: Any) -> list[tuple[Any, ...]]:
    return [tuple(part.tolist() for part in dataset[index]) for index in range(len(dataset))]


@pytest.fixture(autouse=True)
def empty_home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def no_network(*arguments: Any, **settings: Any) -> Any:
        raise OSError("the network is unreachable")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    return tmp_path


def test_housing(tmp_path: pathlib.Path) -> None:
    table = np.random.default_rng(0).random((10, 14)) * 50
    path = tmp_path / "housing.data"
    np.savetxt(path, table, fmt="%.4f")
    written = np.loadtxt(path)
    scaled = (written - written.mean(axis=0)) / (written.max(axis=0) - written.min(axis=0))
    train, test = text.UCIHousing(str(path)), text.UCIHousing(str(path), mode="test")
    assert (len(train), len(test)) == (8, 2)
    features, price = test[1]
    assert (features.dtype, features.shape, price.shape) == (np.float32, (13,), (1,))
    np.testing.assert_allclose(features, scaled[9, :13], rtol=1e-5)
    np.testing.assert_allclose(price, written[9, 13:], rtol=1e-5)
    for content in ("1 2 3", "a b c", ""):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"\(UCIHousing\) the file is damaged"):
            text.UCIHousing(str(path))


def test_imdb(tmp_path: pathlib.Path) -> None:
    reviews = {
        "aclImdb/train/pos/0_9.txt": b"A great film, GREAT! the the<br />x",
        "aclImdb/train/neg/0_1.txt": b"the bad film: bad.",
        "aclImdb/train/pos/1_9.txt": b"the good film",
        "aclImdb/test/pos/0_9.txt": b"the great thing",
        "aclImdb/test/neg/0_1.txt": b"it's the worst-film",
        "aclImdb/train/unsup/0.txt": b"the the the",
    }
    path = write_tar(tmp_path / "imdb.tar.gz", reviews)
    dataset = text.Imdb(path, cutoff=1)
    assert dataset.word_idx == {b"the": 0, b"film": 1, b"great": 2, b"bad": 3, "<unk>": 4}
    assert items(dataset) == [([4, 2, 1, 2, 0, 4, 4], [0]), ([0, 4, 1], [0]), ([0, 3, 1, 3], [1])]
    assert items(text.Imdb(path, mode="test", cutoff=1)) == [([0, 2, 4], [0]), ([4, 0, 4], [1])]
    assert text.Imdb(path, cutoff=150).word_idx == {"<unk>": 0}
    with pytest.raises(ValueError, match="there are no reviews"):
        text.Imdb(write_tar(tmp_path / "other.tar.gz", {"readme": b"x"}))


def test_imikolov(tmp_path: pathlib.Path) -> None:
    """Values seen from PaddlePaddle 3.3.1 for the same text."""
    folder = "./simple-examples/data/ptb"
    path = write_tar(
        tmp_path / "ptb.tgz",
        {
            f"{folder}.train.txt": b" the cat sat on the mat \n the dog <unk> sat \n the the the a b a b a b sat sat sat\n",
            f"{folder}.valid.txt": b" the dog ran \n the cat sat sat\n",
            f"{folder}.test.txt": b" a cat sat \n the dog the dog the dog\n",
        },
    )
    windows = text.Imikolov(path, "NGRAM", 3, "train", 3)
    assert windows.word_idx == {b"the": 0, b"sat": 1, "<e>": 2, "<s>": 3, "<unk>": 4}
    assert len(windows) == 22
    assert items(windows)[:4] == [(3, 0, 4), (0, 4, 1), (4, 1, 4), (1, 4, 0)]
    sequences = text.Imikolov(path, "SEQ", -1, "test", 3)
    assert items(sequences) == [([3, 4, 4, 1], [4, 4, 1, 2]), ([3, 0, 4, 0, 4, 0, 4], [0, 4, 0, 4, 0, 4, 2])]
    assert len(text.Imikolov(path, "SEQ", 4, "test", 3)) == 1
    assert dict(windows.word_count([b"a b a"])) == {b"a": 2, b"b": 1, "<s>": 1, "<e>": 1}
    with pytest.raises(ValueError, match="number of words in a window"):
        text.Imikolov(path, "NGRAM")
    with pytest.raises(ValueError, match="data_type must be 'NGRAM' or 'SEQ'"):
        text.Imikolov(path, "BYTES", 3)


def test_movielens(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "ml-1m.zip"

    def write(ratings: str) -> str:
        with zipfile.ZipFile(path, "w") as archive:
            films = "1::Toy Story (1995)::Animation|Comedy\n2::Caf\xe9 (Society) (2001)::Drama|Comedy\n"
            archive.writestr("ml-1m/movies.dat", films.encode("latin1"))
            archive.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
            archive.writestr("ml-1m/ratings.dat", ratings)
        return str(path)

    write("".join(f"{k % 2 + 1}::{k % 3 % 2 + 1}::{k % 5 + 1}::978300\n" for k in range(50)))
    train, test = text.Movielens(str(path)), text.Movielens(str(path), mode="test")
    chosen = np.random.RandomState(0).random_sample(50) < 0.1
    assert (len(train), len(test)) == ((~chosen).sum(), chosen.sum())
    assert items(train)[1] == ([2], [0], [6], [16], [2], [2, 1], [2, 3], [-1.0])
    assert items(train)[0] == ([1], [1], [0], [10], [1], [0, 1], [0, 1], [-3.0])
    assert str(train.movie_info[2]) == "<MovieInfo id(2), title(Café (Society) ), categories(['Drama', 'Comedy'])>"
    assert str(train.user_info[1]) == "<UserInfo id(1), gender(F), age(1), job(10)>"
    for wrong in ("1::9::3::0\n", "1::1\n", "a::1::3::0\n"):
        with pytest.raises(ValueError, match=r"\(Movielens\) the file is damaged"):
            text.Movielens(write(wrong))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="damaged"):
        text.Movielens(str(path))


def conll(folder: pathlib.Path, roles: str) -> list[str]:
    words = "The\ncat\nate\nthe\nfish\n.\n\nDogs\nbark\nand\nrun\n\n"
    base = "conll05st-release/test.wsj"
    data = write_tar(
        folder / "conll.tar.gz",
        {
            f"{base}/words/test.wsj.words.gz": gzip.compress(words.encode()),
            f"{base}/props/test.wsj.props.gz": gzip.compress(roles.encode()),
        },
    )
    lists = {
        "words": ["<unk>", "bos", "eos", "The", "cat", "ate", "the", "fish", ".", "Dogs", "bark", "and", "run"],
        "verbs": ["eat", "bark", "run"],
        "targets": ["B-A0", "I-A0", "B-A1", "I-A1", "B-V", "I-V", "O"],
        "emb": ["0"],
    }
    for name, lines in lists.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return [data, *(str(folder / name) for name in lists)]


def test_conll(tmp_path: pathlib.Path) -> None:
    roles = (
        "-  (A0*\n-  *)\neat  (V*)\n-  (A1*\n-  *)\n-  *\n\n"
        "-  (A0*)  (A0*)\nbark  (V*)  *\n-  *  *\nrun  *  (V*)\n\n"
    )  # fmt: skip
    dataset = text.Conll05st(*conll(tmp_path, roles))
    assert dataset.get_dict()[2] == {"B-A0": 0, "I-A0": 1, "B-A1": 2, "I-A1": 3, "B-V": 4, "I-V": 5, "O": 6}
    assert dataset.get_embedding().endswith("emb")
    first, second, third = items(dataset)
    assert first == (
        [3, 4, 5, 6, 7, 8], [3] * 6, [4] * 6, [5] * 6, [6] * 6, [7] * 6, [0] * 6, [1, 1, 1, 1, 1, 0], [0, 1, 4, 2, 3, 6],
    )  # fmt: skip
    assert second == ([9, 10, 11, 12], [1] * 4, [9] * 4, [10] * 4, [11] * 4, [12] * 4, [1] * 4, [1] * 4, [0, 4, 6, 6])
    assert third == (
        [9, 10, 11, 12],
        [10] * 4,
        [11] * 4,
        [12] * 4,
        [2] * 4,
        [2] * 4,
        [2] * 4,
        [0, 1, 1, 1],
        [0, 6, 6, 4],
    )
    for wrong in (
        roles.replace("(V*)  *\n", "(V*)\n"),
        roles.replace("(V*)", "*"),
        roles.replace("-  *)", "-  A0)", 1),
    ):
        with pytest.raises(ValueError, match=r"\(Conll05st\) the file is damaged"):
            text.Conll05st(*conll(tmp_path, wrong))


def test_wmt14(tmp_path: pathlib.Path) -> None:
    marks = b"<s>\n<e>\n<unk>\n"
    long = b" ".join([b"hello"] * 90)
    path = write_tar(
        tmp_path / "wmt14.tgz",
        {
            "wmt14/src.dict": marks + b"hello\nworld\nyes\n",
            "wmt14/trg.dict": marks + b"bonjour\nmonde\noui\n",
            "wmt14/train/train": b"hello world\tbonjour monde\nyes no\toui non\n" + long + b"\tbonjour\nbad line\n",
            "wmt14/test/test": b"world\tmonde\n",
            "wmt14/gen/gen": b"yes\toui\n",
        },
    )
    dataset = text.WMT14(path, dict_size=5)
    assert items(dataset) == [([0, 3, 4, 1], [0, 3, 4], [3, 4, 1]), ([0, 2, 2, 1], [0, 2, 2], [2, 2, 1])]
    assert items(text.WMT14(path, "gen", 100)) == [([0, 5, 1], [0, 5], [5, 1])]
    assert dataset.get_dict()[0]["world"] == 4
    assert dataset.get_dict(reverse=True)[1] == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "bonjour", 4: "monde"}
    with pytest.raises(ValueError, match="dict_size must be positive"):
        text.WMT14(path)
    with pytest.raises(ValueError, match="at least 3"):
        text.WMT14(path, dict_size=2)
    with pytest.raises(ValueError, match=r"there is no \(single\) src.dict"):
        text.WMT14(write_tar(tmp_path / "other.tgz", {"x": b""}), dict_size=5)


def test_wmt16(tmp_path: pathlib.Path) -> None:
    path = write_tar(
        tmp_path / "wmt16.tar.gz",
        {
            "wmt16/train": b"a dog runs\tein Hund rennt\na cat\teine Katze\na a dog\tein ein Hund\nbadline\n",
            "wmt16/test": b"a bird\tein Vogel\n",
            "wmt16/val": b"dog\tHund\n",
        },
    )
    dataset = text.WMT16(path, "train", 5, 6)
    assert dataset.get_dict("en") == {"<s>": 0, "<e>": 1, "<unk>": 2, "a": 3, "dog": 4}
    assert dataset.get_dict("de", reverse=True) == {0: "<s>", 1: "<e>", 2: "<unk>", 3: "ein", 4: "Hund", 5: "rennt"}
    assert items(dataset)[0] == ([0, 3, 4, 2, 1], [0, 3, 4, 5], [3, 4, 5, 1])
    assert items(text.WMT16(path, "val", 9, 9, "de")) == [([0, 4, 1], [0, 4], [4, 1])]
    assert items(text.WMT16(path, "test", 9, 9)) == [([0, 3, 2, 1], [0, 3, 2], [3, 2, 1])]
    with pytest.raises(ValueError, match="sizes must be positive"):
        text.WMT16(path)
    with pytest.raises(ValueError, match="lang must be 'en' or 'de'"):
        text.WMT16(path, "train", 5, 5, "fr")


@pytest.mark.parametrize(
    ("name", "settings", "file"),
    [
        ("Conll05st", {}, "conll05st/conll05st-tests.tar.gz"),
        ("Imdb", {}, "imdb/aclImdb_v1.tar.gz"),
        ("Imikolov", {"window_size": 2}, "imikolov/simple-examples.tgz"),
        ("Movielens", {}, "movielens/ml-1m.zip"),
        ("UCIHousing", {}, "uci_housing/housing.data"),
        ("WMT14", {"dict_size": 5}, "wmt14/wmt14.tgz"),
        ("WMT16", {"src_dict_size": 5, "trg_dict_size": 5}, "wmt16/wmt16.tar.gz"),
    ],
)
def test_missing_files_are_named(empty_home: pathlib.Path, name: str, settings: dict[str, Any], file: str) -> None:
    place = str(empty_home / "cache" / "proa" / "datasets" / file)
    for download, error in ((True, RuntimeError), (False, ValueError)):
        with pytest.raises(error) as caught:
            getattr(text, name)(**settings, download=download)
        assert f"({name})" in str(caught.value)
        assert place in str(caught.value)
