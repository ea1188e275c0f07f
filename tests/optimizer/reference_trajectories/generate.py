"""Writes `paddle.npz`: the trajectories of `cases.py` as real Paddle 3.3.1 walks them.

    python tests/optimizer/reference_trajectories/generate.py

Run it in an environment that has PaddlePaddle, after a change of `cases.py`. Tests only read the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import cases


def main() -> None:
    import paddle  # pyright: ignore[reportMissingImports]

    found: dict[str, np.ndarray] = {}
    for dtype in ("float32", "float64"):
        # Paddle keeps learning rates in the default dtype.
        paddle.set_default_dtype(dtype)
        left_out = cases.NOT_IN_FLOAT64 if dtype == "float64" else set(cases.cases(paddle)) - set(cases.IN_FLOAT32)
        names = [name for name in cases.cases(paddle) if name not in left_out]
        walked = []
        for name in names:
            with paddle.utils.unique_name.guard():
                walked.append(cases.run(paddle, name, dtype).astype(dtype))
        found[f"{dtype}_names"], found[dtype] = np.array(names), np.array(walked)
    found["lbfgs_names"] = np.array(list(cases.LBFGS))
    found["lbfgs"] = np.array([cases.run_lbfgs(paddle, name) for name in cases.LBFGS])
    np.savez_compressed(Path(__file__).parent / "paddle.npz", **found)  # type: ignore[arg-type]
    print({name: values.shape for name, values in found.items()})


if __name__ == "__main__":
    main()
