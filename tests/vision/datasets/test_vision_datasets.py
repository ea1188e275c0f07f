"""Datasets read small files written here in the published formats; damaged and hostile files are refused."""

from __future__ import annotations

import gzip
import io
import os
import pathlib
import pickle
import struct
import tarfile
from typing import Any

import numpy as np
import pytest
import scipy.io
from PIL import Image

import proa as paddle

D = paddle.vision.datasets


@pytest.fixture(autouse=True)
def empty_home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """No files of this machine's user, and nobody to download from."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))

    def no_network(*arguments: Any, **settings: Any) -> Any:
        raise OSError("the network is unreachable")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    return home


def write_tar(path: pathlib.Path, mode: str, files: dict[str, bytes]) -> str:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return str(path)


def encoded(pixels: np.ndarray, kind: str, palette: bool = False) -> bytes:
    buffer = io.BytesIO()
    picture = Image.fromarray(pixels)
    if palette:
        picture = picture.convert("P")
        picture.putdata(pixels.ravel().tolist())
    picture.save(buffer, kind)
    return buffer.getvalue()


# ---- MNIST ---------------------------------------------------------------------------------------


def write_idx(folder: pathlib.Path, count: int = 5, labels: int | None = None) -> tuple[str, str, np.ndarray]:
    pixels = np.random.default_rng(0).integers(0, 256, (count, 28, 28)).astype(np.uint8)
    images, marks = folder / "images.gz", folder / "labels.gz"
    number = count if labels is None else labels
    images.write_bytes(gzip.compress(struct.pack(">4I", 2051, count, 28, 28) + pixels.tobytes()))
    marks.write_bytes(gzip.compress(struct.pack(">2I", 2049, number) + bytes(range(number))))
    return str(images), str(marks), pixels


@pytest.mark.parametrize("kind", ["MNIST", "FashionMNIST"])
def test_mnist(tmp_path: pathlib.Path, kind: str) -> None:
    images, labels, pixels = write_idx(tmp_path)
    dataset = getattr(D, kind)(images, labels, mode="test")
    picture, label = dataset[3]
    assert len(dataset) == 5
    assert picture.mode == "L"
    np.testing.assert_array_equal(np.asarray(picture), pixels[3])
    assert (label.dtype, label.tolist()) == (np.int64, [3])
    array, _ = getattr(D, kind)(images, labels, backend="cv2", transform=lambda x: x + 1)[2]
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, pixels[2] + 1.0)


def test_mnist_trains_a_loader(tmp_path: pathlib.Path) -> None:
    images, labels, _ = write_idx(tmp_path)
    dataset = D.MNIST(images, labels, transform=paddle.vision.transforms.ToTensor())
    batch, marks = next(iter(paddle.io.DataLoader(dataset, batch_size=4)))
    assert batch.shape == [4, 1, 28, 28]
    assert marks.shape == [4, 1]


def test_mnist_unpacked_files_are_read_too(tmp_path: pathlib.Path) -> None:
    images, labels, pixels = write_idx(tmp_path)
    plain = tmp_path / "train-images-idx3-ubyte"
    plain.write_bytes(gzip.decompress(pathlib.Path(images).read_bytes()))
    np.testing.assert_array_equal(D.MNIST(str(plain), labels).images, pixels)


def test_damaged_mnist_files(tmp_path: pathlib.Path) -> None:
    images, labels, _ = write_idx(tmp_path)
    whole = pathlib.Path(images).read_bytes()
    damaged = tmp_path / "damaged.gz"
    for content in (whole[:-200], whole[:5], b"", b"\x1f\x8b", gzip.compress(gzip.decompress(whole)[:-1])):
        damaged.write_bytes(content)
        with pytest.raises(ValueError, match=r"\(MNIST\) the file is damaged.*damaged.gz"):
            D.MNIST(str(damaged), labels)
    with pytest.raises(ValueError, match="begins with 2051, not with 2049"):
        D.MNIST(images, images)
    images, labels, _ = write_idx(tmp_path, 5, labels=4)
    with pytest.raises(ValueError, match="4 labels for the 5 images"):
        D.MNIST(images, labels)


def test_wrong_settings(tmp_path: pathlib.Path) -> None:
    images, labels, _ = write_idx(tmp_path)
    with pytest.raises(ValueError, match="mode must be one of train, test"):
        D.MNIST(images, labels, mode="valid")
    with pytest.raises(ValueError, match="backend must be 'pil' or 'cv2'"):
        D.MNIST(images, labels, backend="tensor")
    with pytest.raises(FileNotFoundError, match="image_path is not a file"):
        D.MNIST(str(tmp_path / "nothing.gz"), labels)


# ---- files that are not there --------------------------------------------------------------------


def test_without_a_network_the_words_say_what_to_do(empty_home: pathlib.Path) -> None:
    place = empty_home / "cache" / "proa" / "datasets" / "cifar" / "cifar-10-python.tar.gz"
    with pytest.raises(RuntimeError, match="could not be downloaded") as caught:
        D.Cifar10()
    for words in ("(Cifar10)", "network is unreachable", str(place), "data_file="):
        assert words in str(caught.value)
    assert not place.exists()
    with pytest.raises(ValueError, match="download=False") as refused:
        D.Cifar10(download=False)
    assert str(place) in str(refused.value)


@pytest.mark.parametrize("base", ["cache/proa/datasets", ".cache/paddle/dataset"])
def test_files_in_the_cache_folders_are_found(empty_home: pathlib.Path, base: str) -> None:
    folder = empty_home / base / "mnist"
    folder.mkdir(parents=True)
    images, labels, _ = write_idx(folder)
    os.rename(images, folder / "t10k-images-idx3-ubyte.gz")
    os.rename(labels, folder / "t10k-labels-idx1-ubyte.gz")
    assert len(D.MNIST(mode="test", download=False)) == 5


# ---- Cifar ---------------------------------------------------------------------------------------


def python2_pickle(fields: dict[str, Any]) -> bytes:
    """A dictionary as Python 2 wrote it: strings are bytes, also the content of arrays."""

    def text(value: bytes) -> bytes:
        return b"T" + struct.pack("<I", len(value)) + value  # BINSTRING

    def item(value: Any) -> bytes:
        if isinstance(value, np.ndarray):
            dtype = (
                b"cnumpy\ndtype\n("
                + text(b"u1")
                + b"K\x00K\x01tR(K\x03"
                + text(b"|")
                + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
            )
            shape = b"".join(b"M" + struct.pack("<H", size) for size in value.shape)
            made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + text(b"b") + b"tR"
            return made + b"(K\x01(" + shape + b"t" + dtype + b"\x89" + text(value.tobytes()) + b"tb"
        return b"](" + b"".join(b"K" + bytes([label]) for label in value) + b"e"

    return b"\x80\x02}(" + b"".join(text(key.encode()) + item(value) for key, value in fields.items()) + b"u."


@pytest.mark.parametrize("writer", ["python 2", "python 3"])
def test_cifar(tmp_path: pathlib.Path, writer: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 3072)).astype(np.uint8)

    def batch(labels: str) -> bytes:
        if writer == "python 2":
            return python2_pickle({"data": pixels, labels: [7, 8, 9]})
        return pickle.dumps({b"data": pixels, labels.encode(): [7, 8, 9]}, 2)

    names = [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]
    ten = write_tar(tmp_path / "ten.tar.gz", "w:gz", {f"cifar-10-batches-py/{name}": batch("labels") for name in names})
    hundred = write_tar(
        tmp_path / "hundred.tar.gz",
        "w:gz",
        {f"cifar-100-python/{name}": batch("fine_labels") for name in ("train", "test")},
    )
    assert (len(D.Cifar10(ten)), len(D.Cifar10(ten, mode="test"))) == (15, 3)
    picture, label = D.Cifar10(ten, mode="test")[1]
    np.testing.assert_array_equal(np.asarray(picture), pixels[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert (label.dtype, int(label), label.shape) == (np.int64, 8, ())
    array, label = D.Cifar100(hundred, backend="cv2")[2]
    assert (array.shape, array.dtype, int(label)) == ((32, 32, 3), np.float32, 9)


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, (Evil.path,)

    path = ""


def test_a_hostile_archive_runs_nothing(tmp_path: pathlib.Path) -> None:
    Evil.path = str(tmp_path / "made by the file")
    content = pickle.dumps({b"data": Evil(), b"labels": [1]}, 2)
    archive = write_tar(tmp_path / "evil.tar.gz", "w:gz", {"cifar-10-batches-py/test_batch": content})
    with pytest.raises(ValueError, match="refused: it asks for"):
        D.Cifar10(archive, mode="test")
    assert not os.path.exists(Evil.path)


def test_damaged_cifar_files(tmp_path: pathlib.Path) -> None:
    good = pickle.dumps({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1, 2]}, 2)
    bad = {
        "truncated": good[:-50],
        "too narrow": pickle.dumps({b"data": np.zeros((2, 30), np.uint8), b"labels": [1, 2]}, 2),
        "floats": pickle.dumps({b"data": np.zeros((2, 3072)), b"labels": [1, 2]}, 2),
        "a label short": pickle.dumps({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1]}, 2),
        "a list": pickle.dumps([1, 2], 2),
        "nothing": b"",
        "words": b"not a pickle",
    }
    for name, content in bad.items():
        archive = write_tar(tmp_path / f"{name}.tar.gz", "w:gz", {"cifar-10-batches-py/test_batch": content})
        with pytest.raises(ValueError, match=r"\(Cifar10\) the file is damaged or not the expected one"):
            D.Cifar10(archive, mode="test")
    whole = pathlib.Path(write_tar(tmp_path / "good.tar.gz", "w:gz", {"cifar-10-batches-py/test_batch": good}))
    assert len(D.Cifar10(str(whole), mode="test")) == 2
    whole.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(ValueError, match="damaged"):
        D.Cifar10(str(whole), mode="test")
    with pytest.raises(ValueError, match="there is no data_batch in it"):
        D.Cifar10(write_tar(tmp_path / "other.tar", "w", {"readme": b"x"}))


# ---- Flowers and VOC -----------------------------------------------------------------------------


def flowers(folder: pathlib.Path, pack: str = "w:gz", labels: int = 8) -> list[str]:
    pictures = {f"jpg/image_{k:05d}.jpg": encoded(np.full((6, 7, 3), 10 * k, np.uint8), "JPEG") for k in range(1, 9)}
    archive = write_tar(folder / "102flowers.tgz", pack, pictures)
    marks, sets = str(folder / "imagelabels.mat"), str(folder / "setid.mat")
    scipy.io.savemat(marks, {"labels": np.arange(101, 101 + labels)[None]})
    scipy.io.savemat(sets, {"trnid": [[1, 2]], "valid": [[3, 4, 5]], "tstid": [[6, 7, 8]]})
    return [archive, marks, sets]


@pytest.mark.parametrize("pack", ["w", "w:gz"])
@pytest.mark.parametrize(("mode", "numbers"), [("train", [6, 7, 8]), ("valid", [3, 4, 5]), ("test", [1, 2])])
def test_flowers(tmp_path: pathlib.Path, pack: str, mode: str, numbers: list[int]) -> None:
    files = flowers(tmp_path, pack)
    dataset = D.Flowers(*files, mode=mode, backend="cv2")
    assert len(dataset) == len(numbers)
    for index, number in enumerate(numbers):
        pixels, label = dataset[index]
        assert pixels.shape == (6, 7, 3)
        assert abs(pixels.mean() - 10 * number) < 2
        assert label.tolist() == [100 + number]
    picture, _ = pickle.loads(pickle.dumps(D.Flowers(*files, mode=mode)))[0]  # as a worker process receives it
    assert picture.size == (7, 6)


def test_damaged_flowers(tmp_path: pathlib.Path) -> None:
    archive, marks, sets = flowers(tmp_path)
    with pytest.raises(ValueError, match=r"it is not a MATLAB file|there is no array"):
        D.Flowers(archive, archive, sets)
    with pytest.raises(ValueError, match="there is no array 'labels'"):
        D.Flowers(archive, sets, sets)
    (tmp_path / "few").mkdir()
    few = flowers(tmp_path / "few", labels=3)
    with pytest.raises(ValueError, match="beyond the 3 labels"):
        D.Flowers(archive, few[1], sets)
    empty = write_tar(tmp_path / "empty.tgz", "w:gz", {"readme": b"x"})
    with pytest.raises(ValueError, match=r"there is no jpg/image_00006\.jpg"):
        D.Flowers(empty, marks, sets)[0]


def test_voc(tmp_path: pathlib.Path) -> None:
    root = "VOCdevkit/VOC2012"
    files = {}
    for part, names in (("train", "a b"), ("val", "c"), ("trainval", "a b c")):
        files[f"{root}/ImageSets/Segmentation/{part}.txt"] = "\n".join([*names.split(), ""]).encode()
    for number, name in enumerate("abc"):
        files[f"{root}/JPEGImages/{name}.jpg"] = encoded(np.full((6, 7, 3), 20 * number, np.uint8), "JPEG")
        files[f"{root}/SegmentationClass/{name}.png"] = encoded(np.full((6, 7), number, np.uint8), "PNG", palette=True)
    archive = write_tar(tmp_path / "voc.tar", "w", files)
    assert [len(D.VOC2012(archive, mode=mode)) for mode in ("train", "valid", "test")] == [3, 1, 2]
    picture, label = D.VOC2012(archive, mode="valid")[0]
    assert (picture.mode, label.mode) == ("RGB", "P")
    assert np.asarray(label).max() == 2
    pixels, classes = D.VOC2012(archive, mode="train", backend="cv2", transform=lambda x: x / 255)[1]
    assert abs(pixels.mean() - 20 / 255) < 0.01
    assert (classes.dtype, classes.shape, classes.max()) == (np.float32, (6, 7), 1)
    with pytest.raises(ValueError, match="there is no VOCdevkit"):
        D.VOC2012(write_tar(tmp_path / "other.tar", "w", {"readme": b"x"}))


# ---- folders and backends ------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "pictures"
    for value, name in enumerate(("cat/1.png", "cat/2.PNG", "dog/deep/3.jpg", "dog/4.png")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((3, 4, 3), [value * 10, 1, 2], np.uint8)).save(path, "PNG")
    (root / "cat" / "notes.txt").write_text("no picture")
    return root


def test_folders(pictures: pathlib.Path) -> None:
    dataset = D.DatasetFolder(str(pictures))
    assert dataset.classes == ["cat", "dog"]
    assert dataset.class_to_idx == {"cat": 0, "dog": 1}
    assert dataset.targets == [0, 0, 1, 1]
    assert [os.path.basename(path) for path, _ in dataset.samples] == ["1.png", "2.PNG", "4.png", "3.jpg"]
    picture, target = dataset[2]
    assert (picture.getpixel((0, 0)), target) == ((30, 1, 2), 1)
    flat = D.ImageFolder(str(pictures), transform=np.asarray)
    assert len(flat) == 4
    assert flat[1][0].shape == (3, 4, 3)
    notes = D.DatasetFolder(
        str(pictures), loader=lambda path: path[-9:], is_valid_file=lambda path: path.endswith("txt")
    )
    assert notes[0] == ("notes.txt", 0)


def test_folders_without_pictures(pictures: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match=r"no files were found.*root/<class>/.*\.zzz"):
        D.DatasetFolder(str(pictures), extensions=(".zzz",))
    with pytest.raises(RuntimeError, match="no files were found"):
        D.ImageFolder(str(pictures / "nowhere"))
    with pytest.raises(FileNotFoundError):
        D.DatasetFolder(str(pictures / "nowhere"))
    with pytest.raises(TypeError, match="extensions must be a list or tuple"):
        D.ImageFolder(str(pictures), extensions=".png")


def test_image_backends(pictures: pathlib.Path) -> None:
    vision = paddle.vision
    path = str(pictures / "dog" / "4.png")
    assert vision.get_image_backend() == "pil"
    try:
        vision.set_image_backend("cv2")
        assert vision.image_load(path)[0, 0].tolist() == [2, 1, 30]  # blue, green, red
        assert D.ImageFolder(str(pictures))[0][0].dtype == np.uint8
        vision.set_image_backend("tensor")
        tensor = vision.image_load(path)
        assert (tensor.shape, tensor.dtype) == ([3, 3, 4], paddle.uint8)
        assert tensor.numpy()[:, 0, 0].tolist() == [30, 1, 2]
    finally:
        vision.set_image_backend("pil")
    assert vision.image_load(path).size == (4, 3)
    with pytest.raises(ValueError, match="backend must be 'pil', 'cv2' or 'tensor'"):
        vision.set_image_backend("opencv")
    with pytest.raises(ValueError, match="not an image"):
        vision.image_load(str(pictures / "cat" / "notes.txt"))
