"""Images inside a tar archive, read one at a time."""

from __future__ import annotations

import io
import os
import tarfile
from typing import Any

import numpy as np

from ...core.locks import new_lock
from ...utils.dataset_files import damaged, whole_file


class ImageArchive:
    """A tar archive that is indexed once and read from by name.

    An archive without compression is read where the file lies. A compressed one cannot be entered in the middle, so
    its files are taken into memory at the first reading. Copies in other processes open the file again.
    """

    def __init__(self, where: str, path: str) -> None:
        self._where, self._path = where, path
        self._open()

    def _open(self) -> None:
        self._lock = new_lock()
        self._process = os.getpid()
        self._contents: dict[str, bytes] | None = None
        with whole_file(self._where, self._path):
            try:
                self._archive: Any = tarfile.open(self._path, "r:")  # noqa: SIM115 (it stays open)
            except tarfile.ReadError:
                self._archive = None
                with tarfile.open(self._path) as archive:
                    self._contents = {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}  # type: ignore[union-attr]
            if self._archive is not None:
                self._members = {m.name: m for m in self._archive}

    def __getstate__(self) -> dict[str, Any]:
        return {"_where": self._where, "_path": self._path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def names(self) -> list[str]:
        return list(self._contents if self._contents is not None else self._members)

    def content(self, name: str) -> bytes:
        if self._contents is not None:
            found = self._contents.get(name)
        else:
            if self._process != os.getpid():
                self._open()  # a forked process shares the file's position
            with self._lock, whole_file(self._where, self._path):
                found = self._archive.extractfile(self._members[name]).read() if name in self._members else None
        if found is None:
            raise damaged(self._where, self._path, f"there is no {name} in it")
        return found

    def read(self, name: str, backend: str) -> Any:
        """A PIL image, or a float32 array of its pixels."""
        from PIL import Image

        content = self.content(name)
        try:
            image = Image.open(io.BytesIO(content))
            return image if backend == "pil" else np.array(image).astype(np.float32)
        except OSError as error:
            raise damaged(self._where, self._path, f"{name} is not an image ({error})") from None
