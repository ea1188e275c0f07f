"""Unpacking what somebody else packed: nothing lands outside the folder."""

from __future__ import annotations

import os
import tarfile


def unpack_tar(packed: tarfile.TarFile, folder: str | os.PathLike[str]) -> None:
    """Unpacks an open archive into a folder; `tarfile.TarError` if it reaches beyond it.

    Examples:
        >>> import os, tarfile
        >>> with open("a.txt", "w") as file, tarfile.open("a.tar", "w") as packed:
        ...     packed.add("a.txt")
        >>> with tarfile.open("a.tar") as packed:
        ...     paddle.utils.download.unpack_tar(packed, "unpacked")
        >>> os.listdir("unpacked")
        ['a.txt']
    """
    if hasattr(tarfile, "data_filter"):
        packed.extractall(folder, filter="data")
        return
    # Python before 3.11.4 does not check: plain files and folders alone, none with a way out.
    home = os.path.realpath(folder)
    for member in packed.getmembers():
        target = os.path.realpath(os.path.join(home, member.name))
        if not (member.isfile() or member.isdir()) or os.path.commonpath([home, target]) != home:
            raise tarfile.ExtractError(f"{member.name} is a link, a device, or lies outside the archive's folder")
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    packed.extractall(folder)
