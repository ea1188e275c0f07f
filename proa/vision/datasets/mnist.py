"""MNIST and FashionMNIST: gzipped IDX files."""

from __future__ import annotations

import gzip
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file, whole_file
from .backend import image_backend


class MNIST(Dataset):
    """Handwritten digits: 28 x 28 grey images with a label from 0 to 9.

    `dataset[i]` is (image, label), the label an int64 array of one element; the image is a PIL image, or with
    backend="cv2" a float32 array `[28, 28]` of values from 0 to 255.

    Args:
        image_path: the file of images; None to download it.
        label_path: the file of labels.
        mode: 'train' or 'test'.
        transform: what is done with each image, or None.
        download: whether missing files may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> import gzip, struct
        >>> with gzip.open("images.gz", "wb") as file:
        ...     _ = file.write(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 28 * 28))
        >>> with gzip.open("labels.gz", "wb") as file:
        ...     _ = file.write(struct.pack(">2i", 2049, 2) + bytes([3, 7]))
        >>> dataset = paddle.vision.datasets.MNIST("images.gz", "labels.gz", backend="cv2")
        >>> image, label = dataset[1]
        >>> len(dataset), image.shape, label.tolist()
        (2, (28, 28), [7])
    """

    NAME = "mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path: str | None = None,
        label_path: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        where = type(self).__name__
        self.mode = choose_mode(where, mode, ("train", "test"))
        self.backend = image_backend(where, backend)
        kind = self.mode.upper()
        self.image_path, self.label_path = (
            find_file(
                where, parameter, given, getattr(self, f"{kind}_{part}_URL"), getattr(self, f"{kind}_{part}_MD5"),
                self.NAME, download,
            )
            for parameter, given, part in (("image_path", image_path, "IMAGE"), ("label_path", label_path, "LABEL"))
        )  # fmt: skip
        self.transform = transform
        self.images = _read_idx(where, self.image_path, 3)
        self.labels = _read_idx(where, self.label_path, 1).astype(np.int64)[:, None]
        if len(self.images) != len(self.labels):
            raise damaged(
                where,
                self.label_path,
                f"{len(self.labels)} labels for the {len(self.images)} images of {self.image_path}",
            )

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        image: Any = self.images[idx]
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(image)
        else:
            image = image.astype(np.float32)
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[idx]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Pieces of clothing in the same format as `MNIST`.

    Args:
        image_path: the file of images; None to download it.
        label_path: the file of labels.
        mode: 'train' or 'test'.
        transform: what is done with each image, or None.
        download: whether missing files may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> image, label = paddle.vision.datasets.FashionMNIST()[0]  # doctest: +SKIP
        >>> paddle.vision.datasets.FashionMNIST(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (FashionMNIST) mode must be one of train, test; received mode: 'all'.
    """

    NAME = "fashion-mnist"
    URL_PREFIX = "https://dataset.bj.bcebos.com/fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"


def _read_idx(where: str, path: str, rank: int) -> np.ndarray:
    """The bytes of an IDX file (gzipped or not) as an array; its header must agree with its length."""
    with open(path, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    size = 4 + 4 * rank
    with whole_file(where, path), gzip.open(path, "rb") if is_packed else open(path, "rb") as file:
        header = file.read(size)
        if len(header) < size:
            raise damaged(where, path, f"{len(header)} bytes are less than a header")
        magic, *shape = struct.unpack(f">{1 + rank}I", header)
        if magic != 0x0800 + rank:
            raise damaged(
                where, path, f"it begins with {magic}, not with {0x0800 + rank} for bytes in {rank} dimensions"
            )
        promised = math.prod(shape)
        content = file.read(promised + 1)  # one more, to see that there is nothing more
    if len(content) != promised:
        found = f"only {len(content)} bytes" if len(content) < promised else "more"
        raise damaged(where, path, f"its header promises {shape}, but {found} follow")
    return np.frombuffer(content, np.uint8).reshape(shape)
