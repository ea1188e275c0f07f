"""Pascal VOC 2012: images with the class of each pixel, in one tar archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...io import Dataset
from ...utils.dataset_files import choose_mode, find_file
from .archive import ImageArchive
from .backend import image_backend

_URL = "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar"
_MD5 = "6cd6e144f989b92b3379bac3b3de84fd"
_ROOT = "VOCdevkit/VOC2012"
# Paddle's training set is everything, its test set the part named train.
_SETS = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(Dataset):
    """Images for segmentation; `dataset[i]` is (image, label), the label an image of class numbers (255: not judged).

    Args:
        data_file: the archive; None to download it.
        mode: 'train', 'valid' or 'test'.
        transform: what is done with each image, or None.
        download: whether a missing file may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> image, label = paddle.vision.datasets.VOC2012()[0]  # doctest: +SKIP
        >>> paddle.vision.datasets.VOC2012(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (VOC2012) mode must be one of train, valid, test; received mode: 'all'.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        where = "VOC2012"
        self.flag = _SETS[choose_mode(where, mode, ("train", "valid", "test"))]
        self.backend = image_backend(where, backend)
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "voc2012", download)
        self.transform = transform
        self._archive = ImageArchive(where, self.data_file)
        listed = self._archive.content(f"{_ROOT}/ImageSets/Segmentation/{self.flag}.txt").decode("utf-8").split()
        self.data = [f"{_ROOT}/JPEGImages/{name}.jpg" for name in listed]
        self.labels = [f"{_ROOT}/SegmentationClass/{name}.png" for name in listed]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        image = self._archive.read(self.data[idx], self.backend)
        label = self._archive.read(self.labels[idx], self.backend)
        if self.transform is not None:
            image = self.transform(image)
        return image, label

    def __len__(self) -> int:
        return len(self.data)
