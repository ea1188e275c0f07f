"""Runs the model on the inputs of check.txt and compares the results: python run.py [folder]

Needs onnxruntime and numpy only. `load` and the two lines that use it are all that a program of your own needs.
"""

import sys
import time
from pathlib import Path

import numpy as np

TOLERANCE = 1e-3


def load(path, threads=0):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def arrays(folder, kind):
    found = {}
    for line in (folder / "check.txt").read_text(encoding="utf-8").splitlines():
        what, name, dtype, file, *sizes = line.split(" ")
        if what == kind:
            data = np.frombuffer((folder / file).read_bytes(), np.dtype(dtype).newbyteorder("<"))
            found[name] = data.reshape([int(size) for size in sizes])
    return found


def main(folder):
    session = load(next(path for path in (folder / "model.ort", folder / "model.onnx") if path.is_file()))
    inputs, right = arrays(folder, "input"), arrays(folder, "output")
    results = [np.asarray(result) for result in session.run(list(right), inputs)]
    worst = 0.0
    for found, (name, wanted) in zip(results, right.items()):
        if found.shape != wanted.shape:
            print(f"{name}: the shape is {found.shape}, should be {wanted.shape}")
            return 1
        gap = np.abs(found.astype("float64") - wanted.astype("float64")).max(initial=0)
        worst = max(worst, float(gap / max(1e-6, np.abs(wanted.astype("float64")).max(initial=0))))
    best = min(_timed(session, list(right), inputs) for _ in range(10))
    print(f"largest relative difference {worst:.1e}, best of 10 runs {best * 1000:.2f} ms")
    return 0 if worst <= TOLERANCE else 1


def _timed(session, names, inputs):
    started = time.perf_counter()
    session.run(names, inputs)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
