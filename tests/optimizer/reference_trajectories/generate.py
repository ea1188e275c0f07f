"""Writes `paddle.npz`: the trajectories of `cases.py` as real Paddle 3.3.1 walks them.

    python tests/optimizer/reference_trajectories/generate.py

Run it in an environment that has PaddlePaddle, after a change of `cases.py`. Tests only read the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402


def main() -> None:
    import paddle  # pyright: ignore[reportMissingImports]

    found: dict[str, np.ndarray] = {}
    for dtype in ("float32", "float64"):
        # Paddle keeps learning rates in the default dtype.
        paddle.set_default_dtype(dtype)
        for name in cases.cases(paddle):
            try:
                with paddle.utils.unique_name.guard():
                    found[f"{name}/{dtype}"] = cases.run(paddle, name, dtype).astype(dtype)
            except Exception as error:
                print(f"{name} in {dtype}: {type(error).__name__}: {str(error)[-200:]}", file=sys.stderr)
    np.savez_compressed(Path(__file__).parent / "paddle.npz", **found)
    print(f"{len(found)} trajectories")


if __name__ == "__main__":
    main()
