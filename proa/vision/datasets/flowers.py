"""Oxford's 102 flowers: an archive of JPEG files and two MATLAB files."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import message
from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file
from .archive import ImageArchive
from .backend import image_backend

_PREFIX = "http://paddlemodels.bj.bcebos.com/flowers/"
_FILES = (
    ("data_file", "102flowers.tgz", "52808999861908f626f3c1f4e79d11fa"),
    ("label_file", "imagelabels.mat", "e0620be6f572b9609742df49c70aed4d"),
    ("setid_file", "setid.mat", "a5357ecc9cb78c4bef273ce3793fc85c"),
)
# Paddle trains on the large part, which the authors call the test set.
_SETS = {"train": "tstid", "test": "trnid", "valid": "valid"}


class Flowers(Dataset):
    """Photographs of 102 kinds of flowers; `dataset[i]` is (image, label), labels from 1 to 102.

    Args:
        data_file: the archive of images; None to download it.
        label_file: the labels.
        setid_file: which image is in which part.
        mode: 'train', 'valid' or 'test'.
        transform: what is done with each image, or None.
        download: whether missing files may be downloaded.
        backend: 'pil' or 'cv2'; None for that of `get_image_backend()`.

    Examples:
        >>> image, label = paddle.vision.datasets.Flowers(mode="test")[0]  # doctest: +SKIP
        >>> paddle.vision.datasets.Flowers(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Flowers) mode must be one of train, valid, test; received mode: 'all'.
    """

    def __init__(
        self,
        data_file: str | None = None,
        label_file: str | None = None,
        setid_file: str | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        where = "Flowers"
        mode = choose_mode(where, mode, ("train", "valid", "test"))
        self.backend = image_backend(where, backend)
        self.transform = transform
        given = (data_file, label_file, setid_file)
        paths = [
            find_file(where, parameter, path, _PREFIX + name, md5, "flowers", download)
            for path, (parameter, name, md5) in zip(given, _FILES, strict=True)
        ]
        self.labels = _read_mat(where, paths[1], "labels")
        self.indexes = _read_mat(where, paths[2], _SETS[mode])
        self._images = ImageArchive(where, paths[0])
        if len(self.indexes) and not 1 <= self.indexes.min() <= self.indexes.max() <= len(self.labels):
            raise damaged(where, paths[2], f"it names images beyond the {len(self.labels)} labels of {paths[1]}")

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        index = int(self.indexes[idx])
        image = self._images.read(f"jpg/image_{index:05d}.jpg", self.backend)
        if self.transform is not None:
            image = self.transform(image)
        return image, np.array([self.labels[index - 1]]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.indexes)


def _read_mat(where: str, path: str, name: str) -> np.ndarray:
    try:
        import scipy.io
    except ImportError:
        raise ImportError(message(where, "SciPy reads the MATLAB files of this dataset", "", "install scipy")) from None
    with open(path, "rb") as file:
        content = file.read()
    try:
        variables = scipy.io.loadmat(io.BytesIO(content), variable_names=[name])
    except Exception as error:  # SciPy raises many kinds for files it does not understand
        raise damaged(where, path, f"it is not a MATLAB file ({type(error).__name__}: {error})") from None
    if name not in variables or variables[name].dtype.kind not in "iuf":
        raise damaged(where, path, f"there is no array {name!r} in it")
    return variables[name].ravel().astype(np.int64)
