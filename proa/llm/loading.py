"""Models from folders and files, and back: `load(path)`, `save(model, folder)`.

A folder holds `config.json` beside `*.safetensors` (one file, or several with an index) or `*.pdparams`; a GGUF file holds
everything. Parameters are made without numbers and filled one by one, so that a model is in memory once. Nothing is
executed, and a folder appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtype import name_of, to_numpy_dtype
from ..core.errors import message, value_error
from ..core.tracebacks import boundary
from ..eager.annotations import DTypeLike
from ..eager.tensor import tensor_from_data
from ..eager.views import replace_value
from ..framework.io import load as load_file
from ..nn.base.lazy_init import LazyGuard
from .config import Config
from .families import Family, family_of
from .files import read_safetensors, write_safetensors
from .gguf import GGUFModel
from .naming import Names, Source, read_parameter, written
from .quantised import dense_state, keep_file


@boundary
def load(path: str | os.PathLike[str], dtype: DTypeLike | None = None, keep_quantised: bool = False) -> Any:
    """The model in a folder of Hugging Face's or Paddle's files, or in a `.gguf` file.

    Floating weights come in `dtype`, or as they are stored; those of a GGUF file in float32, or with `keep_quantised` in the
    blocks that the file has them in (see `quantised/`), to run and not to be trained.

    Args:
        path: the folder or file.
        dtype: of floating weights; None: as they are stored.
        keep_quantised: whether a GGUF file's weights stay in its blocks.

    Returns:
        A `CausalLM`, `Encoder` or `Translator`.

    Examples:
        >>> model = paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64))
        >>> paddle.llm.save(model, "small")
        >>> bool((paddle.llm.load("small").eval()(paddle.to_tensor([[1]])) == model.eval()(paddle.to_tensor([[1]]))).all())
        True
    """
    folder = Path(path)
    if folder.is_file():
        model = GGUFModel(folder)
        return from_tensors(model.family, model.config, model, dtype, names=model.names, keep_quantised=keep_quantised)
    if keep_quantised:
        raise value_error("load", "keep_quantised is for GGUF files", repr(str(path)), "quantise(model) rounds floats")
    if not folder.is_dir():
        raise FileNotFoundError(message("load", "there is no such file or folder", repr(str(path))))
    family, config = read_config(folder)
    tensors, as_ours = read_tensors(folder)
    return from_tensors(family, config, tensors, dtype, as_ours)


def read_config(folder: Path) -> tuple[Family, Config]:
    """The family and the Config that a folder's config.json describes."""
    path = folder / "config.json"
    if not path.is_file():
        raise FileNotFoundError(
            message("load", "a model's folder has a config.json", f"{str(folder)!r}, which has none")
        )
    text = path.read_text(encoding="utf-8")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise value_error("load", f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise value_error("load", f"{path} must hold a table", type(found).__name__)
    family = family_of(found.get("model_type"))
    try:
        return family, family.read(found).changed(source=text)
    except (KeyError, TypeError) as error:
        raise value_error("load", f"{path} is not the configuration of a {family.name} model: {error!r}") from error


def from_tensors(
    family: Family, config: Config, tensors: Mapping[str, Any], dtype: Any = None, as_ours: bool = False,
    names: Names | None = None, keep_quantised: bool = False,
) -> Any:  # fmt: skip
    """A model filled from named arrays. `as_ours`: products lie `[in, out]`; `names`: others than Hugging Face's.

    `keep_quantised`: the arrays are those of a GGUFModel, whose blocks stay as they are.
    """
    config = family.fitted(config, tensors)
    with LazyGuard():
        model = family.build(config)
    if names is None:
        names = family.paddle_names(config) if as_ours and family.paddle_names else family.names(config)
    source = Source(names, tensors)
    if keep_quantised:
        source.taken |= keep_file(model, tensors)
    parameters = {name: tensor for name, tensor in model.state_dict().items() if ".storage." not in name}
    own_names = as_ours and all(name in tensors for name in parameters)
    shapes = {name: tensor._aval.shape for name, tensor in parameters.items()}
    kind = None if dtype is None else to_numpy_dtype(dtype)
    for name, tensor in parameters.items():
        if own_names:
            found = np.asarray(tensors[name])
        else:
            found = read_parameter(source, name, shapes[name], shapes, transposed=not as_ours)
        # What is made in another type than the rest (a router's correction) keeps it.
        own = tensor._aval.dtype if tensor.stop_gradient else kind or found.dtype
        replace_value(tensor, tensor_from_data(np.ascontiguousarray(found, own)))
    unused = [] if own_names else source.unused()
    if unused:
        raise value_error(
            "load", "the files hold tensors that this model has no place for",
            ", ".join(unused[:5]) + (f" and {len(unused) - 5} more" if len(unused) > 5 else ""),
            "see whether config.json belongs to them",
        )  # fmt: skip
    for layer in model.sublayers(include_self=True):
        own_parameters = [p for p in layer._parameters.values() if p is not None]
        if own_parameters:
            layer._dtype = name_of(own_parameters[0]._aval.dtype)
    model.eval()
    return model


def read_tensors(folder: Path) -> tuple[Mapping[str, Any], bool]:
    """The arrays of a folder by name, and whether products lie as ours do."""
    if any(folder.glob("*.safetensors")):
        return read_safetensors(folder), False
    files = sorted(folder.glob("*.pdparams"))
    if not files:
        raise FileNotFoundError(message("load", "a model's folder has *.safetensors or *.pdparams", repr(str(folder))))
    found: dict[str, Any] = {}
    for file in files:
        found |= load_file(file, return_numpy=True)
    return found, True


@boundary
def save(model: Any, folder: str | os.PathLike[str], shard_bytes: int = 5 * 10**9) -> None:
    """Writes `config.json` and `model.safetensors` (several above `shard_bytes`), as Hugging Face's libraries read them.

    Args:
        model: a model of this package.
        folder: where; it is made if it is not there.
        shard_bytes: how large a file may become.

    Examples:
        >>> import os
        >>> paddle.llm.save(paddle.llm.CausalLM(paddle.llm.Config("llama", 100, 32, 2, 4, 64)), "small")
        >>> sorted(os.listdir("small"))
        ['config.json', 'model.safetensors']
    """
    target = Path(folder)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FileExistsError(message("save", "the folder must be new or empty", repr(str(folder))))
    config: Config = model.config
    family = family_of(config.family)
    described = _described(family, config)
    arrays = {name: np.asarray(tensor._data()) for name, tensor in dense_state(model).items()}
    tensors = dict(written(family.names(config), arrays))
    described["dtype"] = name_of(next(iter(tensors.values())).dtype)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        (beside / "config.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")
        write_safetensors(beside, tensors, shard_bytes)
        if target.exists():
            target.rmdir()
        beside.chmod(0o755)
        beside.replace(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


# Keys of older files whose meaning is in `rope_parameters` and `layer_types` now, or that are written anew.
_REPLACED = ("rope_theta", "rope_scaling", "rope_local_base_freq", "sliding_window_pattern", "torch_dtype")


def _described(family: Family, config: Config) -> dict[str, Any]:
    """config.json: what the Config says, beside what was read and is no business of the architecture."""
    said = family.write(config)
    read = json.loads(config.source) if config.source else {}
    if read.get("model_type") != said["model_type"]:  # the text part of a larger model
        return said
    return {**{key: value for key, value in read.items() if key not in _REPLACED}, **said}
