"""`proa quantize MODEL TARGET --data FILE`: a saved model in 8 bits, and how much that changed it."""

from __future__ import annotations

import argparse
import glob
import os
import zipfile
from collections.abc import Iterator

import numpy as np

from ..core.errors import value_error
from ..formats.paddle.files.reading import read_model
from ..formats.paddle.reading import LoadedModel
from ..quantization import int8_saved_model, observers
from .problems import complain

_OBSERVERS = {
    "hist": observers.HistObserver, "absmax": observers.AbsmaxObserver, "avg": observers.AVGObserver,
    "mse": observers.MSEObserver, "kl": observers.KLObserver,
}  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    try:
        names = [value.name for value in read_model(arguments.model).inputs]
        batches = list(_batches(arguments.data, names, arguments.batch))
        done = int8_saved_model(
            arguments.model, arguments.target, batches, activation=_OBSERVERS[arguments.observer](), skip=arguments.skip
        )
        difference, alike = _compared(arguments.model, arguments.target, batches)
    except (NotImplementedError, OSError, RuntimeError, TypeError, ValueError) as error:
        return complain("quantize", error, arguments.target)
    before, after = (_size(prefix) / 1024 for prefix in (arguments.model, arguments.target))
    print(f"{arguments.target}: {len(done)} layers in 8 bits, weights of {after:,.0f} KiB (before: {before:,.0f})")
    print(f"  largest difference {difference:.1e} of the largest result, on the same data")
    if alike is not None:
        print(f"  the largest of each row is at the same place in {100 * alike:.2f} % of them")
    return 0


def _batches(path: str, names: list[str], size: int) -> Iterator[list[np.ndarray]]:
    if size < 1:
        raise value_error("proa quantize", "--batch must be positive", f"{size}")
    try:
        loaded = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise value_error(
            "proa quantize", "--data must be a file of NumPy's arrays, .npy or .npz",
            f"{path!r}, which is none or holds objects", "write it with np.savez(path, NAME=array)",
        ) from error  # fmt: skip
    if isinstance(loaded, np.ndarray):
        arrays = [loaded]
    else:
        own = dict(loaded.items())
        arrays = list(own.values()) if len(own) == len(names) == 1 else [own[n] for n in names if n in own]
    if len(arrays) != len(names):
        raise value_error("proa quantize", f"{path} must have an array for each of {', '.join(names)}")
    for begin in range(0, min(map(len, arrays)), size):
        yield [array[begin : begin + size] for array in arrays]


def _compared(source: str, target: str, batches: list[list[np.ndarray]]) -> tuple[float, float | None]:
    """The largest difference of the first result beside its largest number; how many rows have the same largest place."""
    models = [LoadedModel(read_model(path)) for path in (source, target)]
    largest, apart, rows, same = 1e-30, 0.0, 0, 0
    for batch in batches:
        wanted, found = (np.asarray(model(*batch)[0].numpy()) for model in models)
        largest = max(largest, float(np.abs(wanted).max(initial=0.0)))
        apart = max(apart, float(np.abs(found - wanted).max(initial=0.0)))
        if wanted.ndim == 2:
            rows += len(wanted)
            same += int((wanted.argmax(1) == found.argmax(1)).sum())
    return apart / largest, same / rows if rows else None


def _size(prefix: str) -> int:
    stem = os.path.splitext(prefix)[0] if prefix.endswith((".json", ".pdmodel")) else prefix
    return sum(os.path.getsize(file) for file in glob.glob(f"{glob.escape(stem)}.pdiparams"))
