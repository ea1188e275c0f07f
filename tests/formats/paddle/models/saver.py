"""Runs in Paddle's environment: builds models, saves them, and keeps what they give.

    python -m tests.formats.paddle.models.saver FOLDER < names, one a line

For each name FOLDER/name.json or .pdmodel, .pdiparams and .npz, and a line of JSON on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any


def save(paddle: Any, name: str, folder: Path) -> None:
    import numpy as np

    from tests.formats.paddle.models import zoo

    built = zoo.build(paddle, name)
    inputs = [paddle.static.InputSpec(shape, dtype, name=f"input_{i}") for i, (shape, dtype) in enumerate(built.specs)]
    kept: dict[str, Any] = {}
    for number, arrays in enumerate(built.arrays):
        results = built.layer(*[paddle.to_tensor(array) for array in arrays])
        flat = list(results) if isinstance(results, (list, tuple)) else [results]
        kept |= {f"{number}_in_{i}": array for i, array in enumerate(arrays)}
        kept |= {f"{number}_out_{i}": np.asarray(part.numpy()) for i, part in enumerate(flat)}
    np.savez(folder / f"{name}.npz", **kept)
    paddle.jit.save(built.layer, str(folder / name), input_spec=inputs)


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)  # what Paddle prints must not mix with the answers
    warnings.simplefilter("ignore")
    import paddle  # type: ignore[import-not-found]

    if os.environ.get("FLAGS_enable_pir_api") == "0":  # noqa: SIM112  (Paddle's spelling)
        from tests.formats.paddle.models import older_format

        older_format.repair(paddle)
    for line in sys.stdin:
        name = line.strip()
        try:
            save(paddle, name, Path(sys.argv[1]))
            channel.write(json.dumps({"name": name}) + "\n")
        except Exception as error:
            traceback.print_exc()
            channel.write(json.dumps({"name": name, "error": f"{type(error).__name__}: {error}"[-300:]}) + "\n")
    os._exit(0)


if __name__ == "__main__":
    main()
