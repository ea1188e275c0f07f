"""What a command says of an error that is the user's to mend: one line, without a traceback."""

from __future__ import annotations

import errno
import os
import sys

_REASONS = {
    errno.ENOENT: "there is no {}; check the path",
    errno.EISDIR: "{} is a folder; name a file in it",
    errno.ENOTDIR: "{} lies in something that is no folder; check the path",
    errno.EACCES: "{} may not be read or written; ask for the rights, or name another place",
    errno.EPERM: "{} may not be read or written; ask for the rights, or name another place",
    errno.EROFS: "{} lies on a disk that is read-only; name another place",
    errno.ENOSPC: "no space is left on the disk of {}; make room, or name another place",
    errno.EDQUOT: "the quota of the disk of {} is used up; make room, or name another place",
}


def told(error: BaseException, where: str = "") -> str:
    """An error as a line; the system's own name the file, or else `where` it was to be written, and say what to do."""
    reason = _REASONS.get(error.errno or 0) if isinstance(error, OSError) else None
    if not isinstance(error, OSError) or reason is None:
        return str(error) or type(error).__name__
    name = where if error.filename is None else os.fsdecode(error.filename)
    if where and os.path.basename(name).startswith("."):  # what is written beside its place first
        name = where
    return reason.format(repr(name)) if name else str(error)


def complain(command: str, error: BaseException, where: str = "") -> int:
    """Says on the standard error what is wrong; the exit status of the command."""
    print(f"proa {command}: {told(error, where)}", file=sys.stderr)
    return 1
