"""Which calls are compared: every sample as function, method and in-place form, and in further dtypes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import proa
from proa.core.dtype import is_differentiable
from proa.eager.declare import PUBLIC
from proa.eager.samples import A, Made, S, SampleSet

from .encode import NotExpressible, encode, encode_array
from .settings import HERMITIAN, POSITIONS, attached_samples

# Paddle has (nearly) all functions of these modules as Tensor methods as well.
WITH_METHODS = ("", "linalg")
# In-place forms that change another argument than the first.
TARGETS = {"where_": 1}


def arguments(case: S, dtype: str | None) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a sample as JSON."""
    with np.errstate(all="ignore"):  # a value may not exist in another dtype
        args, kwargs = case.arrays(dtype)
    return [_encode(value) for value in args], {"$dict": [[key, _encode(value)] for key, value in kwargs.items()]}


def _encode(value: Any) -> Any:
    if isinstance(value, Made):
        wanted = value.spec.grad and is_differentiable(value.array.dtype)
        return {**encode_array(value.array), "grad": wanted, "layout": layout(value)}
    if isinstance(value, list):
        return [_encode(item) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item) for item in value]}
    return encode(value)


def layout(value: Made) -> list[Any] | None:
    """How the receiver turns the array into a sparse tensor: the method and its arguments."""
    spec = value.spec
    if spec.layout is None:
        return None
    if spec.layout == "csr":
        return ["to_sparse_csr"]
    return ["to_sparse_coo", value.array.ndim if spec.sparse_dim is None else spec.sparse_dim]


def described_arrays(value: Any) -> Iterator[A]:
    if isinstance(value, A):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from described_arrays(item)
    elif isinstance(value, dict):
        yield from described_arrays(list(value.values()))


def is_sparse(case: S) -> bool:
    return any(array.layout for array in described_arrays([case.args, case.kwargs]))


def variants(case: S) -> list[str | None]:
    """None for the sample as written, and the dtypes in which its floating inputs are tried as well."""
    arrays = list(described_arrays([case.args, case.kwargs]))
    floats = {a.dtype for a in arrays} & {"float32", "float64"}
    if not floats:
        return [None]
    result: list[str | None] = [None, "float32" if floats == {"float64"} else "float64"]
    given = [np.asarray(a.values) for a in arrays if a.values is not None and a.dtype in floats]
    if all(np.isfinite(values).all() for values in given if values.dtype.kind == "f"):
        result.append("int64")
    return result


def forms(name: str, function: Any, case: S) -> Iterator[tuple[str, str, int]]:
    """Form, dotted path and position of the changed argument."""
    yield "function", name, 0
    module, _, last = name.rpartition(".")
    method = getattr(proa.Tensor, last, None)
    first_is_tensor = bool(case.args) and isinstance(case.args[0], A)
    related = getattr(method, "samples", None) is attached_samples(function)
    if first_is_tensor and (module in WITH_METHODS or related):
        yield "method", name, 0
    target = TARGETS.get(f"{last}_", 0)
    if len(case.args) > target and isinstance(case.args[target], A) and not is_sparse(case):
        yield "in-place", f"{name}_", target


def expected(name: str, sample: str, dtype: str | None) -> list[np.ndarray] | None:
    """What the reference (NumPy, SciPy) of a sample gives, as arrays; None where there is none or it fails."""
    given = attached_samples(PUBLIC[name])
    case = next((c for c in given.cases if repr(c) == sample), None)
    if given.reference is None or case is None or given.random or given.unspecified:
        return None

    def plain(value: Any) -> Any:
        if isinstance(value, Made):
            return value.array
        if isinstance(value, (list, tuple)):
            return type(value)(plain(item) for item in value)
        return value

    args, kwargs = case.arrays(dtype)
    try:
        with np.errstate(all="ignore"):
            found = given.reference(*plain(args), **{key: plain(value) for key, value in kwargs.items()})
    except Exception:
        return None
    return [np.asarray(part) for part in found] if isinstance(found, (list, tuple)) else [np.asarray(found)]


def requests(only: Sequence[str] = ()) -> tuple[list[dict[str, Any]], list[str]]:
    """All calls to compare, and the samples that cannot be sent to another framework."""
    found: list[dict[str, Any]] = []
    left_out: list[str] = []
    for name, function in sorted(PUBLIC.items()):
        given = attached_samples(function)
        if not inspect.isfunction(function) or not isinstance(given, SampleSet):
            continue
        if only and not any(word == name or word == name.rpartition(".")[2] for word in only):
            continue
        shape_only = given.random or given.unspecified
        for case in given.cases:
            for form, path, target in forms(name, function, case):
                for dtype in variants(case) if form == "function" else [None]:
                    try:
                        args, kwargs = arguments(case, dtype)
                    except NotExpressible as error:
                        left_out.append(f"{name}{case!r}: {error}")
                        break
                    found.append(
                        {
                            "name": name,
                            "sample": repr(case),
                            "variant": dtype or "as written",
                            "form": form,
                            "path": path,
                            "target": target,
                            "args": args,
                            "kwargs": kwargs,
                            "random": shape_only,
                            "hermitian": name in HERMITIAN,
                            "positions": name in POSITIONS,
                            "sparse": is_sparse(case),
                            "differentiate": not shape_only and dtype != "int64",
                            "tolerance": given.tolerance,
                        }
                    )
    return found, left_out
