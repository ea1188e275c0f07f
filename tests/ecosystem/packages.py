"""The packages that are tried, and an environment for each of them in `.venv-ecosystem/`.

Each has one of its own, because their dependencies exclude each other, and none holds paddlepaddle. What proa needs comes
from the environment that runs this; for a run on real Paddle, its folder of packages is put before (see `processes.py`).
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import sysconfig
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / ".venv-ecosystem"


@dataclass(frozen=True)
class Package:
    """What is installed: the package itself without its dependencies, then the ones its program needs."""

    version: str
    needs: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # what building it needs
    beside: tuple[str, ...] = ()  # other packages for Paddle, without their dependencies too
    options: tuple[str, ...] = ()  # of pip, for the package itself


_LANGUAGE = (
    "aistudio-sdk==0.2.6", "colorama", "colorlog", "datasets==2.19.2", "dill", "fastapi", "fsspec<2024.4",
    "huggingface_hub==0.23.5", "jieba", "jinja2", "multiprocess", "prettytable", "protobuf", "psutil", "rich", "safetensors",
    "sentencepiece", "seqeval", "setuptools<80", "tiktoken", "tokenizers<0.20", "tool_helpers", "tqdm", "uvicorn",
    "visualdl",
)  # fmt: skip

PACKAGES = {
    "paddleclas": Package("2.6.0", ("easydict", "faiss-cpu", "opencv-python-headless", "prettytable", "pyyaml", "requests",
                                    "scikit-learn", "tqdm", "ujson", "visualdl", "pillow")),
    "paddleseg": Package("2.8.0", ("filelock", "opencv-python-headless", "prettytable", "pyyaml", "scikit-learn", "six",
                                   "tqdm", "visualdl", "requests", "pillow")),
    "paddledet": Package("2.6.0", ("cython", "lap", "motmetrics", "opencv-python-headless", "pycocotools", "pyyaml",
                                   "requests", "scikit-learn", "shapely", "terminaltables", "tqdm", "typeguard",
                                   "visualdl")),
    "paddleformers": Package("1.2.0", (
        "aistudio-sdk", "colorlog", "dill", "einops", "huggingface_hub<1", "jinja2", "modelscope", "multiprocess",
        "omegaconf", "opencv-python-headless", "pandas", "pillow", "prettytable", "protobuf", "psutil", "pydantic", "regex",
        "rich", "safetensors", "sentencepiece", "setuptools<80", "tiktoken", "tokenizers==0.20.3", "tqdm",
        "transformers==4.46.3", "visualdl",
    )),
    "paddlenlp": Package("2.8.1", _LANGUAGE),
    "paddlesci": Package("1.4.0", ("colorlog", "h5py", "hydra-core", "imageio", "matplotlib", "meshio", "pyevtk", "pyvista",
                                   "pyyaml", "requests", "scikit-learn", "scikit-optimize", "scipy", "seaborn", "sympy",
                                   "tqdm", "typing-extensions", "wget", "einops")),
    "paddlespeech": Package("1.5.0", ("ffmpeg", "ffmpy", "flatten-dict", "inflect", "jieba", "librosa", "loguru", "pypinyin",
                                      "setuptools<80", "soundfile", "timer", "tqdm", "typeguard", "visualdl")),
    # Its setup.py changes `__builtins__`, which works outside of pip's build environment only.
    "pgl": Package("2.2.6", ("tqdm",), before=("cython", "setuptools<80", "wheel"),
                   options=("--no-use-pep517", "--no-build-isolation")),
    "ppdiffusers": Package("0.29.0", (*_LANGUAGE, "einops", "opencv-python-headless"), beside=("paddlenlp==2.8.1",)),
    "visualdl": Package("2.5.3", ("flask", "flask-babel", "packaging", "pandas", "protobuf", "psutil", "pillow", "rarfile",
                                  "requests", "six")),
}  # fmt: skip


def environment(name: str) -> pathlib.Path:
    """The package's interpreter; what is there already is kept."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    done = folder / ".installed"
    if done.exists():
        return python
    package = PACKAGES[name]
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "proa_beside.pth").write_text(f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n")
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for need in package.before:
        subprocess.run([*pip, need], check=True)
    subprocess.run([*pip, "--no-deps", *package.options, f"{name}=={package.version}", *package.beside], check=True)
    for need in package.needs:  # one by one: what cannot be built here is missed only by who uses it
        subprocess.run([*pip, need], check=False)
    done.touch()
    return python
