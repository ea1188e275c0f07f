"""ONNX Runtime Web: three files of an npm package, from where they are or from the registry."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from ...core.errors import message, value_error
from ...core.waiting import waiting

PACKAGE, VERSION = "onnxruntime-web", "1.30.0"
FILES = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
_LARGEST = 64 << 20  # bytes of one of these files
_NEEDED = (
    f"install Node.js, whose npm fetches it (npm pack {PACKAGE}@{VERSION}), or name an unpacked or packed {PACKAGE} with "
    "--runtime"
)


def copy_runtime(folder: Path, given: str | None = None) -> None:
    """Puts the runtime's files into a folder: those of `given` (an unpacked or packed package), of node_modules here or
    in a folder above, or of the package that npm fetches."""
    if given is not None:
        _take(Path(given), folder)
        return
    for place in (Path.cwd(), *Path.cwd().parents):
        if (place / "node_modules" / PACKAGE / "dist" / FILES[0]).is_file():
            _take(place / "node_modules" / PACKAGE, folder)
            return
    with tempfile.TemporaryDirectory(prefix="proa-web-") as made:
        _take(_packed(Path(made)), folder)


def _packed(folder: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError(message("export web", f"{PACKAGE} is not here, and neither is npm", fix=_NEEDED))
    command = [npm, "pack", "--silent", "--ignore-scripts", f"{PACKAGE}@{VERSION}"]
    with waiting(f"fetching {PACKAGE} {VERSION} with npm", "10 s, 33 MB"):
        try:
            result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            raise TimeoutError(message("export web", "npm did not answer within ten minutes", fix=_NEEDED)) from None
    packed = sorted(folder.glob("*.tgz"))
    if result.returncode or not packed:
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        problem = lines[-1] if lines else f"status {result.returncode}"
        raise OSError(message("export web", f"npm could not fetch {PACKAGE}", problem, _NEEDED))
    return packed[0]


def _take(source: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    if source.is_dir():
        dist = source / "dist" if (source / "dist").is_dir() else source
        missing = [name for name in FILES if not (dist / name).is_file()]
        if missing:
            raise FileNotFoundError(
                message("export web", f"{', '.join(missing)} is not there", repr(str(source)), _NEEDED)
            )
        for name in FILES:
            shutil.copyfile(dist / name, folder / name)
        return
    if not source.is_file():
        raise FileNotFoundError(message("export web", "there is no such runtime", repr(str(source)), _NEEDED))
    try:
        with tarfile.open(source) as archive:
            for name in FILES:
                _unpack(archive, f"package/dist/{name}", folder / name)
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise value_error("export web", f"this is no packed {PACKAGE} ({error})", repr(str(source)), _NEEDED) from None


def _unpack(archive: tarfile.TarFile, member: str, target: Path) -> None:
    """One file by its name: nothing else that an archive may hold is looked at."""
    entry = archive.getmember(member)
    file = archive.extractfile(entry) if entry.isfile() and entry.size <= _LARGEST else None
    if file is None:
        raise KeyError(f"{member} is no file of a sensible size")
    with file, open(target, "wb") as output:
        shutil.copyfileobj(file, output)
    os.chmod(target, 0o644)
