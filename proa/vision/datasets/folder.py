"""Images in folders: one folder for each class (`DatasetFolder`), or any tree of them (`ImageFolder`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import runtime_error, type_error
from ...io import Dataset
from ..image import get_image_backend, image_load

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_valid_extension(filename: str, extensions: Sequence[str]) -> bool:
    """Whether a name ends in one of these, in capitals or not."""
    return filename.lower().endswith(tuple(extensions))


def default_loader(path: str) -> Any:
    """An RGB image of the chosen kind (`set_image_backend`)."""
    if get_image_backend() != "pil":
        return image_load(path)
    with image_load(path, "pil") as image:
        return image.convert("RGB")


def _validity(where: str, extensions: Any, is_valid_file: Any) -> Callable[[str], bool]:
    if is_valid_file is not None:
        return is_valid_file
    if not isinstance(extensions, (list, tuple)):
        raise type_error(
            where, "extensions must be a list or tuple such as ('.png', '.jpg')", f"extensions: {extensions!r}"
        )
    return lambda path: has_valid_extension(path, extensions)


def _files_below(folder: str, is_valid: Callable[[str], bool]) -> list[str]:
    """Every file that is wanted, in the order of names."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=True)):
        paths = (os.path.join(root, name) for name in sorted(names))
        found += [path for path in paths if is_valid(path)]
    return found


class DatasetFolder(Dataset):
    """Images in a folder for each class: (image, number of its class), classes in the order of names.

    The files are `root/class_a/1.png`, `root/class_b/x/2.png` and so on.

    Args:
        root: the folder.
        loader: what reads a file; None for `image_load`.
        extensions: how file names end; None for the usual ones of images.
        transform: what is done with each image, or None.
        is_valid_file: which files count, in place of `extensions`.

    Examples:
        >>> import os
        >>> for kind in ("cat", "dog"):
        ...     os.makedirs(f"pets/{kind}")
        ...     np.save(f"pets/{kind}/0.npy", np.zeros(3))
        >>> dataset = paddle.vision.datasets.DatasetFolder("pets", loader=np.load, extensions=(".npy",))
        >>> dataset.classes, len(dataset), dataset[1]
        (['cat', 'dog'], 2, (array([0., 0., 0.]), 1))
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        where = "DatasetFolder"
        self.root, self.transform = root, transform
        self.loader = default_loader if loader is None else loader
        self.extensions = IMG_EXTENSIONS if extensions is None else extensions
        is_valid = _validity(where, self.extensions, is_valid_file)
        with os.scandir(root) as entries:
            self.classes = sorted(entry.name for entry in entries if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in _files_below(os.path.join(root, name), is_valid)
        ]
        if not self.samples:
            raise runtime_error(
                where, "no files were found in the folders of the classes", f"root: {root!r}",
                f"images belong in root/<class>/, with a name in {', '.join(self.extensions)}",
            )  # fmt: skip
        self.targets = [number for _, number in self.samples]

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        return sample, target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """All images below a folder, without labels: `dataset[i]` is [image].

    Args:
        root: the folder.
        loader: what reads a file; None for `image_load`.
        extensions: how file names end; None for the usual ones of images.
        transform: what is done with each image, or None.
        is_valid_file: which files count, in place of `extensions`.

    Examples:
        >>> np.save("0.npy", np.zeros(3))
        >>> dataset = paddle.vision.datasets.ImageFolder(".", loader=np.load, extensions=(".npy",))
        >>> len(dataset), dataset[0]
        (1, [array([0., 0., 0.])])
    """

    def __init__(
        self,
        root: str,
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        where = "ImageFolder"
        self.root, self.transform = root, transform
        self.loader = default_loader if loader is None else loader
        self.extensions = IMG_EXTENSIONS if extensions is None else extensions
        self.samples = _files_below(root, _validity(where, self.extensions, is_valid_file))
        if not self.samples:
            raise runtime_error(
                where, "no files were found", f"root: {root!r}",
                f"images are looked for in all folders below it, with a name in {', '.join(self.extensions)}",
            )  # fmt: skip

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        if self.transform is not None:
            sample = self.transform(sample)
        return [sample]

    def __len__(self) -> int:
        return len(self.samples)
