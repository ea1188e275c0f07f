"""Whole-graph capture of every model of the vision package, of sequence models and of the layers of `nn`.

    python -m tests.graph.whole_models [--only resnet18 LSTM] [--run] [--json FILE]

Each is captured with `full_graph=True` and an unknown batch size, as one graph; its rules are checked. Layers, sequence
models and, with `--run`, all models are run as well and compared with eager code. The command fails below 100 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa import nn
from proa.graph.structure import flatten
from proa.static import InputSpec
from tests.formats.paddle.models import zoo

_TOLERANCE = 1e-4
_LINE, _ROW, _PICTURE, _VOLUME = (2, 6), (2, 4, 8), (2, 4, 8, 8), (2, 4, 6, 6, 6)
_BY_RANK = {1: _ROW, 2: _PICTURE, 3: _VOLUME}
# Layers that take one tensor: constructor arguments and the shape of the input.
_LAYERS: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "Linear": ((6, 5), _LINE), "Identity": ((), _LINE), "Flatten": ((), _PICTURE), "Unflatten": ((1, [2, 3]), _LINE),
    "Softmax": ((), _LINE), "LogSoftmax": ((), _LINE), "Softmax2D": ((), _PICTURE), "GLU": ((), _LINE),
    "Maxout": ((2,), _PICTURE), "PReLU": ((), _LINE), "LayerNorm": ((6,), _LINE), "GroupNorm": ((2, 4), _PICTURE),
    "LocalResponseNorm": ((5,), _PICTURE), "PixelShuffle": ((2,), _PICTURE), "PixelUnshuffle": ((2,), _PICTURE),
    "ChannelShuffle": ((2,), _PICTURE), "Unfold": (([2, 2],), _PICTURE), "Fold": (([4, 4], [2, 2], 2), (2, 8, 4)),
    "ZeroPad2D": (([1, 2, 1, 0],), _PICTURE), "UpsamplingNearest2D": (([9, 5],), _PICTURE),
    "UpsamplingBilinear2D": (([9, 5],), _PICTURE), "Upsample": (([9, 5],), _PICTURE),
    "BatchNorm": ((4,), _PICTURE), "SyncBatchNorm": ((4,), _PICTURE), "SpectralNorm": (([4, 8, 8, 8],), (4, 8, 8, 8)),
    "LSTM": ((8, 5, 2), _ROW), "GRU": ((8, 5, 2), _ROW), "SimpleRNN": ((8, 5), _ROW), "LSTMCell": ((6, 5), _LINE),
    "GRUCell": ((6, 5), _LINE), "SimpleRNNCell": ((6, 5), _LINE), "TransformerEncoderLayer": ((8, 2, 16), _ROW),
    "MultiHeadAttention": ((8, 2), _ROW), "Dropout": ((), _LINE), "Dropout2D": ((), _PICTURE), "Dropout3D": ((), _VOLUME),
    "AlphaDropout": ((), _LINE), "FeatureAlphaDropout": ((), _LINE), "RReLU": ((), _LINE),
}  # fmt: skip
_RANKED: dict[str, tuple[Any, ...]] = {
    "Conv{}D": (4, 6, 3), "Conv{}DTranspose": (4, 6, 3), "BatchNorm{}D": (4,), "InstanceNorm{}D": (4,), "AvgPool{}D": (2,),
    "MaxPool{}D": (2,), "AdaptiveAvgPool{}D": (3,), "AdaptiveMaxPool{}D": (3,), "LPPool{}D": (2, 2), "Pad{}D": (1,),
}  # fmt: skip
_ACTIVATIONS = (
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish", "ReLU",
    "ReLU6", "SELU", "Sigmoid", "Silu", "Softplus", "Softshrink", "Softsign", "Swish", "Tanh", "Tanhshrink",
    "ThresholdedReLU",
)  # fmt: skip

Model = tuple[str, Callable[[], Any], list[Any], list[np.ndarray], bool]


def models() -> Iterator[Model]:
    """Name, constructor, specs, inputs, and whether it is run without being asked."""
    layers = dict(_LAYERS) | dict.fromkeys(_ACTIVATIONS, ((), _LINE))
    for rank, shape in _BY_RANK.items():
        for name, arguments in _RANKED.items():
            if hasattr(nn, name.format(rank)):
                layers[name.format(rank)] = (arguments, shape)
    for name, (arguments, shape) in sorted(layers.items()):
        spec = InputSpec([*shape] if name == "SpectralNorm" else [None, *shape[1:]])
        yield name, lambda n=name, a=arguments: getattr(nn, n)(*a), [spec], [zoo.floats(*shape)], True
    for name in zoo.names():
        small = name in zoo.SEQUENCE
        built: list[Any] = []

        def make(name: str = name, built: list[Any] = built) -> Any:
            built.append(zoo.build(paddle, name))
            return built[-1].layer

        yield name, make, built, [], small


def check(model: Model, run: bool) -> str:
    """Empty, or what went wrong."""
    name, make, specs, arrays, small = model
    paddle.seed(1)
    layer = make()
    layer.eval()
    if name in zoo.names():
        built = specs[-1]
        arrays = built.arrays[0]
        specs = [InputSpec([None, *shape[1:]], dtype) for shape, dtype in built.specs]
    static = paddle.jit.to_static(layer, input_spec=list(specs), full_graph=True)
    with paddle.no_grad():
        _, graph = static.forward.get_concrete_program(*specs)
        graph.verify()
        if not (small or run):
            return ""
        tensors = [paddle.to_tensor(array) for array in arrays]
        found: list[Any] = []
        wanted: list[Any] = []
        flatten(static(*tensors), found)
        flatten(static.forward.function(*tensors), wanted)
    for mine, eager in zip(found, wanted, strict=True):
        difference = np.abs(mine.numpy().astype(np.float64) - eager.numpy()).max(initial=0.0)
        if mine.shape != eager.shape or not difference <= _TOLERANCE * max(1.0, np.abs(eager.numpy()).max(initial=0.0)):
            return f"differs from eager code by {difference:.2g}"
    return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.graph.whole_models", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these models and layers")
    parser.add_argument("--run", action="store_true", help="run the vision models too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    options = parser.parse_args(arguments)
    chosen = [model for model in models() if not options.only or model[0] in options.only]
    unknown = sorted(set(options.only) - {model[0] for model in chosen})
    if unknown:
        parser.error(f"nothing is called {', '.join(unknown)}")
    rows: list[dict[str, Any]] = []
    for number, model in enumerate(chosen, 1):
        began = time.perf_counter()
        try:
            problem = check(model, options.run)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        rows.append({"name": model[0], "problem": problem, "seconds": round(time.perf_counter() - began, 2)})
        shown = "captured" if not problem else f"FAILS: {problem[:200]}"
        print(f"{number:4} of {len(chosen)}  {model[0]:28} {rows[-1]['seconds']:7.1f} s  {shown}", flush=True)
    good = sum(not row["problem"] for row in rows)
    print(f"{good} of {len(rows)} ({good / max(1, len(rows)):.1%}) are captured whole")
    if options.json:
        options.json.write_text(
            json.dumps({"good": good, "total": len(rows), "rows": rows}, indent=1), encoding="utf-8"
        )
    return 0 if rows and good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
