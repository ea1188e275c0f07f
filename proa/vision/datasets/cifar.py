"""Cifar10 and Cifar100: archives of pickled arrays, read without executing anything in them."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file, member, whole_file
from .backend import image_backend
from .batches import read_batch


class Cifar10(Dataset):
    """32 x 32 colour images of ten kinds.

    `dataset[i]` is (image, label); the image is a PIL image, or with backend="cv2" a float32 array `[32, 32, 3]` of
    values from 0 to 255.

    Args:
        data_file: the archive; None to download it.
        mode: 'train' or 'test'.
        transform: what is done with each image, or None.
        download: whether a missing file may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> image, label = paddle.vision.datasets.Cifar10(mode="test")[0]  # doctest: +SKIP
        >>> paddle.vision.datasets.Cifar10(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Cifar10) mode must be one of train, test; received mode: 'all'.
    """

    _url = "https://dataset.bj.bcebos.com/cifar/cifar-10-python.tar.gz"
    _md5 = "c58f30108f718f92721af3b95e74349a"
    _parts: ClassVar = {"train": "data_batch", "test": "test_batch"}
    _label_key = "labels"

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        where = type(self).__name__
        self.mode = choose_mode(where, mode, ("train", "test"))
        self.backend = image_backend(where, backend)
        self.data_url, self.data_md5, self.flag = self._url, self._md5, self._parts[self.mode]
        self.data_file = find_file(where, "data_file", data_file, self._url, self._md5, "cifar", download)
        self.transform = transform
        self.data = self._load(where)

    def _load(self, where: str) -> list[tuple[np.ndarray, Any]]:
        data: list[tuple[np.ndarray, Any]] = []
        with whole_file(where, self.data_file), tarfile.open(self.data_file) as archive:
            names = sorted(name for name in archive.getnames() if name.rsplit("/", 1)[-1].startswith(self.flag))
            for name in names:
                content = member(where, archive, self.data_file, name)
                data += read_batch(where, self.data_file, name, content, self._label_key)
        if not data:
            raise damaged(where, self.data_file, f"there is no {self.flag} in it")
        return data

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        row, label = self.data[idx]
        image: Any = row.reshape(3, 32, 32).transpose(1, 2, 0)
        if self.backend == "pil":
            from PIL import Image

            image = Image.fromarray(np.ascontiguousarray(image))
        else:
            image = image.astype(np.float32)
        if self.transform is not None:
            image = self.transform(image)
        return image, np.array(label).astype(np.int64)

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """32 x 32 colour images of a hundred kinds; else as `Cifar10`.

    Args:
        data_file: the archive; None to download it.
        mode: 'train' or 'test'.
        transform: what is done with each image, or None.
        download: whether a missing file may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> image, label = paddle.vision.datasets.Cifar100(mode="test")[0]  # doctest: +SKIP
        >>> paddle.vision.datasets.Cifar100(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Cifar100) mode must be one of train, test; received mode: 'all'.
    """

    _url = "https://dataset.bj.bcebos.com/cifar/cifar-100-python.tar.gz"
    _md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    _parts: ClassVar = {"train": "train", "test": "test"}
    _label_key = "fine_labels"
