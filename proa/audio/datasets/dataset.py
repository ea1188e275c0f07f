"""Sounds with a class each, as samples or as features; read from a folder or straight from a zip archive."""

from __future__ import annotations

import io
import os
import pathlib
import zipfile
from typing import Any

from ...core.errors import message, runtime_error, value_error
from ...eager.tensor import Tensor
from ...io import Dataset
from ...utils.dataset_files import damaged, dataset_home, find_file, whole_file
from .. import backends
from ..features import MFCC, LogMelSpectrogram, MelSpectrogram, Spectrogram

feat_funcs = {
    "raw": None,
    "melspectrogram": MelSpectrogram,
    "mfcc": MFCC,
    "logmelspectrogram": LogMelSpectrogram,
    "spectrogram": Spectrogram,
}


class AudioClassificationDataset(Dataset):
    """`dataset[i]` is (samples or features, number of the class).

    `feat_type` names the features ("raw" for the samples themselves); further arguments are those of their layer.
    """

    def __init__(
        self, files: list[str], labels: list[int], feat_type: str = "raw", sample_rate: int | None = None, **kwargs: Any
    ) -> None:
        if feat_type not in feat_funcs:
            raise runtime_error(
                type(self).__name__, f"feat_type must be one of {', '.join(feat_funcs)}", f"feat_type: {feat_type!r}"
            )
        if len(files) != len(labels):
            raise value_error(
                type(self).__name__, "every file needs a label", f"{len(files)} files, {len(labels)} labels"
            )
        self.files, self.labels, self.feat_type, self.sample_rate = files, labels, feat_type, sample_rate
        self.feat_config = kwargs
        self._layers: dict[int, Any] = {}

    def _open(self, file: str) -> Any:
        return file

    def _convert_to_record(self, idx: int) -> tuple[Tensor, int]:
        samples, rate = backends.backend.load(self._open(self.files[idx]))
        self.sample_rate = rate
        samples = samples[0] if samples.shape[0] == 1 else samples.mean(axis=0)
        kind = feat_funcs[self.feat_type]
        if kind is not None:
            if rate not in self._layers:
                settings = {} if self.feat_type == "spectrogram" else {"sr": rate}
                self._layers[rate] = kind(**{**settings, **self.feat_config})
            samples = self._layers[rate](samples)
        return samples, self.labels[idx]

    def __getitem__(self, idx: int) -> tuple[Tensor, int]:
        return self._convert_to_record(idx)

    def __len__(self) -> int:
        return len(self.files)


class Source:
    """A dataset's folder, or the zip archive of it, behind one way to list and open files."""

    def __init__(self, where: str, archive: Any, published: dict[str, str], folder: str) -> None:
        self.where = where
        given = archive if isinstance(archive, (str, os.PathLike)) else None
        if archive is not None and given is None:
            if not isinstance(archive, dict) or not {"url", "md5"} <= archive.keys():
                raise value_error(
                    where, "archive must be a path, or a dictionary with 'url' and 'md5'", f"archive: {archive!r}"
                )
            published = archive
        self.root = self._folder(given, folder)
        self.path = ""
        if self.root is None:
            if given is not None and not os.path.isfile(given):
                raise FileNotFoundError(
                    message(
                        where,
                        f"there is no such archive, nor a folder {folder} in it",
                        f"archive: {os.fspath(given)!r}",
                    )
                )
            self.path = find_file(where, "archive", given, published["url"], published["md5"], "audio", True)
            with whole_file(where, self.path), zipfile.ZipFile(self.path) as packed:
                self._names = packed.namelist()

    @staticmethod
    def _folder(given: Any, folder: str) -> pathlib.Path | None:
        """The folder that holds `folder`, where the archive was unpacked already."""
        if given is not None:
            path = pathlib.Path(given)
            candidates = [path, path.parent] if path.name == folder else [path]
        else:
            candidates = [dataset_home() / "audio", pathlib.Path.home() / ".cache" / "paddle" / "dataset"]
        return next((candidate for candidate in candidates if (candidate / folder).is_dir()), None)

    def names(self, folder: str) -> list[str]:
        """The sound files below a folder, in order."""
        if self.root is not None:
            found = [path.relative_to(self.root).as_posix() for path in (self.root / folder).rglob("*")]
        else:
            found = [name for name in self._names if name.startswith(f"{folder}/")]
        return sorted(name for name in found if name.lower().endswith(".wav"))

    def content(self, name: str) -> bytes:
        if self.root is not None:
            try:
                return (self.root / name).read_bytes()
            except FileNotFoundError:
                raise damaged(self.where, str(self.root), f"there is no {name} in it") from None
        with whole_file(self.where, self.path), zipfile.ZipFile(self.path) as packed:
            try:
                return packed.read(name)
            except KeyError:
                raise damaged(self.where, self.path, f"there is no {name} in it") from None

    def address(self, name: str) -> str:
        """A path for a file in a folder; for one in an archive, its name there."""
        return str(self.root / name) if self.root is not None else name

    def open(self, address: str) -> Any:
        return address if self.root is not None else io.BytesIO(self.content(address))
