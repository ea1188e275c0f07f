"""Files of a Model: parameters (`.pdparams`), the optimiser's state (`.pdopt`), and networks for inference.

Everything is read and compared before anything is changed: a file that does not fit leaves the model as it was.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import jit
from ..core.errors import message, runtime_error, value_error, warn
from ..framework.io import load as load_file
from ..framework.io import save as save_file

if TYPE_CHECKING:
    from .model import Model


def save(model: Model, path: str | os.PathLike[str], training: bool) -> None:
    prefix = os.fspath(path)
    if not os.path.basename(prefix):
        raise value_error(
            "Model.save", "the path must end in a name, to which .pdparams and .pdopt are added", f"path: {prefix!r}"
        )
    folder = os.path.dirname(prefix)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if not training:
        _save_for_inference(model, prefix)
        return
    save_file(model.network.state_dict(), prefix + ".pdparams")
    state = {} if model._optimizer is None else model._optimizer.state_dict()
    if state:
        save_file(state, prefix + ".pdopt")


def _save_for_inference(model: Model, prefix: str) -> None:
    writer = getattr(jit, "save", None)
    if writer is None:
        raise NotImplementedError(message("Model.save", "networks cannot be saved for inference here yet"))
    specs = model._inputs
    if not specs:
        if not model._last_shapes:
            raise runtime_error(
                "Model.save", "the shapes of the inputs are not known", "",
                "give inputs=[InputSpec(…)] to Model, or run a batch first",
            )  # fmt: skip
        from ..static import InputSpec

        shapes = [shape for shape, _ in model._last_shapes]
        warn(
            f"(Model.save) no inputs were given to Model; the network is saved for the shapes it was last given, {shapes}.",
        )
        specs = [InputSpec(shape, dtype) for shape, dtype in model._last_shapes]
    was_training = model.network.training
    model.network.eval()
    try:
        writer(model.network, prefix, input_spec=specs)
    finally:
        if was_training:
            model.network.train()


def load(model: Model, path: str | os.PathLike[str], skip_mismatch: bool, reset_optimizer: bool) -> None:
    prefix = os.fspath(path).removesuffix(".pdparams").removesuffix(".pdopt")
    if not os.path.isfile(prefix + ".pdparams"):
        raise FileNotFoundError(message("Model.load", "there is no such checkpoint", f"{prefix + '.pdparams'!r}"))
    state = load_file(prefix + ".pdparams", return_numpy=True)
    if not isinstance(state, dict):
        raise value_error("Model.load", "the file holds no state dictionary", f"{prefix + '.pdparams'!r}")
    fitting = {}
    for name, tensor in model.network.state_dict().items():
        problem = _mismatch(name, tensor, state)
        if problem is None:
            fitting[name] = state[name]
        elif skip_mismatch:
            warn(f"Skip loading for {name}. {problem}.")
        else:
            raise value_error("Model.load", problem, "", "skip_mismatch=True loads what fits")
    optimizer_state = None
    if model._optimizer is not None and not reset_optimizer and os.path.isfile(prefix + ".pdopt"):
        optimizer_state = load_file(prefix + ".pdopt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left out was told about above
        model.network.set_state_dict(fitting)
    if model._optimizer is not None and optimizer_state is not None:
        model._optimizer.set_state_dict(optimizer_state)


def _mismatch(name: str, tensor: Any, state: dict[str, Any]) -> str | None:
    """What keeps a tensor from being loaded; None if nothing does."""
    if name not in state:
        return f"{name} is not found in the providing file"
    found, wanted = list(np.shape(state[name])), list(tensor.shape)
    if found != wanted:
        return f"{name} receives a shape {found}, but the expected shape is {wanted}"
    return None
