"""`paddle.static.quantization.PostTrainingQuantization`: saved models, by its older name.

It reads and writes files; `paddle.quantization.int8_saved_model` does the work.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .....core.errors import failed_check, value_error, warn
from .....formats.paddle.files.reading import read_model
from .....formats.paddle.files.writing import write_model
from .....quantization import int8_saved_model, observers
from .....quantization.saved import LAYERS

_ALGORITHMS: dict[str, Any] = {
    "KL": observers.KLObserver, "hist": observers.HistObserver, "mse": observers.MSEObserver, "emd": observers.MSEObserver,
    "avg": observers.AVGObserver, "abs_max": observers.AbsmaxObserver, "min_max": observers.AbsmaxObserver,
    "ptf": observers.HistObserver,
}  # fmt: skip
# Older operators and what they are called in a Model.
_OPERATORS = {"mul": "matmul", "matmul_v2": "matmul", "matmul": "matmul", "fc": "matmul"}


def _operations(types: Sequence[str]) -> list[str]:
    wanted = [_OPERATORS.get(name, name) for name in types] or list(LAYERS)
    return list(dict.fromkeys(name for name in wanted if name in LAYERS)) or list(LAYERS)


def _paths(folder: str, model: str | None, params: str | None) -> tuple[str, str | None]:
    """The files of a model that is given as a folder with two names, or as a prefix."""
    if model is not None:
        return os.path.join(folder, model), None if params is None else os.path.join(folder, params)
    return (os.path.join(folder, "inference") if os.path.isdir(folder) else folder), None


class PostTrainingQuantization:
    """Calibrates a saved model on data and saves it in 8 bits."""

    def __init__(
        self,
        executor: Any,
        model_dir: str,
        scope: Any = None,
        model_filename: str | None = None,
        params_filename: str | None = None,
        batch_generator: Any = None,
        sample_generator: Any = None,
        data_loader: Any = None,
        batch_size: int = 10,
        batch_nums: int | None = None,
        algo: str = "KL",
        hist_percent: float = 0.99999,
        quantizable_op_type: Sequence[str] = (),
        round_type: str = "round",
        learning_rate: float = 0.001,
        is_full_quantize: bool = False,
        bias_correction: bool = False,
        activation_bits: int = 8,
        weight_bits: int = 8,
        activation_quantize_type: str = "range_abs_max",
        weight_quantize_type: str = "channel_wise_abs_max",
        onnx_format: bool = False,
        freeze_model: bool = True,
        optimize_model: bool = False,
        is_use_cache_file: bool = False,
        skip_tensor_list: Sequence[str] | None = None,
        same_scale_tensor_list: Any = None,
        cache_dir: str | None = None,
        scale_dict: Any = None,
        return_graph: bool = False,
        deploy_backend: str | None = None,
    ) -> None:
        where = "PostTrainingQuantization"
        if sum(given is not None for given in (batch_generator, sample_generator, data_loader)) != 1:
            raise failed_check(where, "one of batch_generator, sample_generator and data_loader is needed")
        if algo not in _ALGORITHMS:
            raise failed_check(where, f"algo must be one of {', '.join(_ALGORITHMS)}", f"algo: {algo!r}")
        if round_type != "round":
            warn(f"({where}) weights are rounded to the nearest number; there is no {round_type!r} here")
        if return_graph or scale_dict is not None or same_scale_tensor_list is not None:
            raise value_error(where, "return_graph, scale_dict and same_scale_tensor_list have no counterpart here")
        self._source = _paths(model_dir, model_filename, params_filename)
        self._data = (batch_generator, sample_generator, data_loader)
        self._batch_size, self._batch_nums = batch_size, batch_nums
        options = {"percent": hist_percent} if algo in ("hist", "ptf") else {}
        self._options: dict[str, Any] = {
            "activation": _ALGORITHMS[algo](quant_bits=activation_bits, **options), "weight": weight_quantize_type,
            "weight_bits": weight_bits, "operations": _operations(quantizable_op_type), "skip": list(skip_tensor_list or ()),
        }  # fmt: skip
        self._made: Any = None

    def _batches(self) -> Iterator[Any]:
        batches, _, loader = self._data
        source: Iterable[Any] = loader if loader is not None else (batches or self._collected)()
        for number, batch in enumerate(source):
            if self._batch_nums is not None and number >= self._batch_nums:
                return
            if isinstance(batch, (list, tuple)) and len(batch) == 1 and isinstance(batch[0], dict):
                batch = batch[0]  # what Paddle's static loaders give
            yield batch

    def _collected(self) -> Iterator[list[np.ndarray]]:
        """Batches of what a generator gives one by one."""
        samples: list[Any] = []
        for sample in self._data[1]():
            samples.append(sample if isinstance(sample, (list, tuple)) else [sample])
            if len(samples) == self._batch_size:
                yield [np.stack([np.asarray(part) for part in column]) for column in zip(*samples, strict=True)]
                samples = []
        if samples:
            yield [np.stack([np.asarray(part) for part in column]) for column in zip(*samples, strict=True)]

    def quantize(self) -> PostTrainingQuantization:
        """Calibrates; what was found is kept until it is saved. (Paddle gives a program here.)"""
        self._made = tempfile.TemporaryDirectory(prefix="quantised-")
        program, params = self._source
        int8_saved_model(
            program, os.path.join(self._made.name, "model"), self._batches(), params=params, **self._options
        )
        return self

    def save_quantized_model(
        self, save_model_path: str, model_filename: str | None = None, params_filename: str | None = None
    ) -> None:
        """Writes the files into a folder, or beside a prefix where no names are given."""
        if self._made is None:
            raise value_error("save_quantized_model", "nothing was quantised yet", fix="call quantize() first")
        target, form = save_model_path, None
        if model_filename is not None:
            os.makedirs(save_model_path, exist_ok=True)
            stem, ending = os.path.splitext(model_filename)
            target, form = os.path.join(save_model_path, stem), "pdmodel" if ending == ".pdmodel" else "json"
        elif os.path.isdir(save_model_path) or save_model_path.endswith(os.sep):
            target = os.path.join(save_model_path, "inference")
        model = read_model(os.path.join(self._made.name, "model"))
        if form is None:
            form = "json" if os.path.isfile(os.path.join(self._made.name, "model.json")) else "pdmodel"
        write_model(model, target, form)
        if params_filename is not None and params_filename != f"{os.path.basename(target)}.pdiparams":
            os.replace(f"{target}.pdiparams", os.path.join(save_model_path, params_filename))
