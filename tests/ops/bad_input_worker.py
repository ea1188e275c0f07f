"""The process in which `test_bad_input.py` tries bad arguments: memory is limited, and a crash costs nobody else.

For every public function with samples, each argument of a sample is replaced by bad ones in turn. Which are bad for
it is found from the signature and from what the samples give: integers (sizes, axes, counts) get zero, negative, huge
and non-integers; index tensors get values far out of range; every tensor gets wrong types and shapes.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.samples import Made, S, SampleSet
from proa.eager.tensor import Tensor
from tests.parity.settings import attached_samples

# What a user can be expected to catch.
ACCEPTED = (
    ValueError, TypeError, IndexError, RuntimeError, NotImplementedError, MemoryError, OverflowError, ZeroDivisionError,
)  # fmt: skip
SPARE_MEMORY = 3 << 29  # above what the process takes after its imports
LARGEST_RESULT = 1 << 24  # elements; nothing the samples ask for comes near
SLOW_SECONDS = 5.0

AXES = {"axis", "axes", "dim", "dims", "axis1", "axis2", "start_axis", "stop_axis", "dim1", "dim2"}
# Integer arguments whose default is None (so that neither sample nor default shows what they are).
INTEGERS = AXES | {
    "shape", "size", "s", "n", "k", "num", "kernel_size", "stride", "output_size", "repeats", "num_classes", "perm",
    "win_length", "hop_length", "divisor_override", "length", "rank", "q", "output_padding", "decimals", "padding_idx",
}  # fmt: skip
# A zero here would divide by zero, or never end.
ZERO_REFUSED = {
    "kernel_size", "stride", "strides", "dilation", "dilations", "groups", "num_groups", "chunks", "num_or_sections",
    "num_or_indices", "hop_length", "n_fft", "frame_length", "step", "kernel_sizes", "upscale_factor",
    "downscale_factor", "divisor_override",
}  # fmt: skip
PIECES = {"num_or_sections", "num_or_indices", "split_size_or_sections"}
NEGATIVE_REFUSED = ZERO_REFUSED - {"step", "divisor_override"} | {"shape", "repeat_times", "repeats", "num", "num_rows"}
LOOPS = {"niter"}  # how often something is repeated: whoever asks for 2**62 times waits
INDEX_NAMES = {"index", "indices", "label", "labels", "ids"}
INDEX_ARGUMENTS = {("embedding", "x")}

HUGE = [2**31, 2**40, 2**62, 2**63, 2**70, -(2**31), -(2**40), -(2**63), -(2**70)]
WRONG_KIND = [math.nan, math.inf, 1.5, "a", "", None, [], (), [math.nan], ["a"], [None], [[]], {}, object]


@dataclass
class Attempt:
    """One call: `name` is the replaced argument; `must_raise` says why no result can be right."""

    name: str
    label: str
    args: list[Any]
    kwargs: dict[str, Any]
    must_raise: str = ""
    compiled: bool = False


def bind(function: Any, case: S) -> tuple[list[Any], dict[str, Any], list[str]]:
    """The arguments of a sample, and the names of the positional ones."""
    args, kwargs = case.arrays()
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [parameter.name] * len(args)
    return list(args), dict(kwargs), names[: len(args)]


def is_integers(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(is_integers(item) for item in value)
    return isinstance(value, int) and not isinstance(value, bool)


def rank(args: list[Any], kwargs: dict[str, Any]) -> int:
    first = next((v for v in [*args, *kwargs.values()] if isinstance(v, Made)), None)
    return first.array.ndim if first is not None else 0


def integer_values(name: str, value: Any, ndim: int) -> Iterator[tuple[Any, str]]:
    """Bad integers for an argument, each with the reason why it must be refused, or an empty string."""
    length = len(value) if isinstance(value, (list, tuple)) else 0
    in_list = [[n] * max(length, 1) for n in (0, -1, -5, *HUGE)] if length or name not in AXES else [[n] for n in HUGE]
    for number in (0, -1, -5, *HUGE, *in_list):
        if name in LOOPS and number in HUGE:
            continue
        flat = number if isinstance(number, list) else [number]
        reason = ""
        if name in AXES and not (-max(ndim, 1) - 1 <= flat[0] <= max(ndim, 1)):
            reason = "no such axis"
        elif name in PIECES and isinstance(number, list):
            reason = ""  # positions or widths: zeros are empty pieces, negative ones count from the end
        elif name in ZERO_REFUSED and flat[0] == 0:
            reason = "zero"
        elif name in NEGATIVE_REFUSED and flat[0] < -1:
            reason = "negative"
        yield number, reason
    if name in AXES:
        for number in (ndim, -ndim - 1):
            yield number, ""
    for wrong in WRONG_KIND:
        yield wrong, ""


def tensor_values(value: Made, is_index: bool) -> Iterator[tuple[Any, str]]:
    """Other tensors in a tensor's place."""
    array = value.array
    if array.dtype.kind in "iu":
        for number in (10**9, -(10**9), 2**62, 2**63 - 1, -(2**63)):
            wanted = array.dtype if np.iinfo(array.dtype).min <= number <= np.iinfo(array.dtype).max else np.int64
            yield np.full(array.shape, number, wanted), "index" if is_index and array.size else ""
        yield np.full(array.shape, np.nan, np.float32), ""
    yield array.astype(np.bool_), ""
    yield array.astype(np.complex64), ""
    yield array.astype(np.int64 if array.dtype.kind == "f" else np.float64), ""
    yield np.zeros((0,), array.dtype), ""
    yield np.zeros((), array.dtype), ""
    yield np.zeros((*array.shape, 0), array.dtype), ""
    yield np.ones((1, *array.shape), array.dtype), ""
    yield np.ones((7, 5, 3), array.dtype), ""
    for wrong in (None, "a", 1.5, [], {}, math.nan):
        yield wrong, ""


def other_values(value: Any) -> Iterator[tuple[Any, str]]:
    candidates: list[Any] = [None, [], {}, object, 2**70, -(2**70), math.nan]
    if isinstance(value, float):
        candidates += [math.inf, -math.inf, 0.0, 1e308, "a"]
    elif isinstance(value, str):
        candidates += ["nonsense", "", 1.5]
    elif isinstance(value, (list, tuple)):
        candidates += [[None], ["a"], [[]], list(value)[:1], list(value) * 3, "a"]
    else:
        candidates += ["nonsense", 7]
    for candidate in candidates:
        yield candidate, ""


def attempts(function: Any) -> Iterator[Attempt]:
    given: SampleSet = attached_samples(function)
    defaults = {
        name: p.default
        for name, p in inspect.signature(function).parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.default is not p.empty
    }
    seen: set[str] = set()
    for case in given.cases[:6]:
        args, kwargs, names = bind(function, case)
        ndim = rank(args, kwargs)
        places: list[tuple[str, Any]] = [*zip(names, args, strict=False), *kwargs.items()]
        if case is given.cases[0]:
            places += [
                (n, v) for n, v in defaults.items() if n not in dict(places) and n not in ("name", "out", "device")
            ]
        for position, (name, value) in enumerate(places):
            # An index tensor is tried in every sample; the other arguments once for each kind of value.
            kind = f"{name} {type(value).__name__}"
            is_index = isinstance(value, Made) and value.array.dtype.kind in "iu"
            if kind in seen and not is_index:
                continue
            seen.add(kind)
            if isinstance(value, Made):
                found = tensor_values(value, name in INDEX_NAMES or (function.__name__, name) in INDEX_ARGUMENTS)
            elif is_integers(value) or (name in INTEGERS and not isinstance(value, (str, bool))):
                found = integer_values(name, value, ndim)
            else:
                found = other_values(value)
            for bad, reason in found:
                new_args, new_kwargs = list(args), dict(kwargs)
                if position < len(args):
                    new_args[position] = bad
                else:
                    new_kwargs[name] = bad
                shown = repr(bad)
                if isinstance(bad, np.ndarray):
                    shown = f"{bad.dtype}{list(bad.shape)} of {bad.reshape(-1)[:1]}"
                yield Attempt(name, f"{case!r} with {name}={shown}", new_args, new_kwargs, reason, reason == "index")


def to_tensors(value: Any) -> Any:
    if isinstance(value, (Made, np.ndarray)):
        if isinstance(value, Made):
            return value.in_layout(paddle.to_tensor(value.array))
        return paddle.to_tensor(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_tensors(item) for item in value)
    if isinstance(value, dict):
        return {key: to_tensors(item) for key, item in value.items()}
    return value


def leaves(result: Any) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result.to_dense() if result.is_sparse() else result
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from leaves(item)


def run_once(function: Any, attempt: Attempt) -> list[np.ndarray] | None:
    """The arrays of a call, None where it was refused as it should be. Anything else propagates."""
    try:
        args, kwargs = to_tensors(attempt.args), to_tensors(attempt.kwargs)
        paddle.seed(2024)  # the same numbers in both modes
        result = function(*args, **kwargs)
        arrays = []
        for tensor in leaves(result):
            array = tensor.numpy()
            if array.size > LARGEST_RESULT:
                raise AssertionError(f"gave {tensor._aval}")
            if array.shape != tensor._aval.shape:
                raise AssertionError(f"says {tensor._aval} and is {array.dtype}{list(array.shape)}")
            arrays.append(array)
    except ACCEPTED:
        return None
    return arrays


def equal(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    def same(a: np.ndarray, b: np.ndarray) -> bool:
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind in "biu":
            return bool(np.array_equal(a, b))
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        return bool(np.allclose(a.astype(wide), b.astype(wide), rtol=1e-4, atol=1e-4, equal_nan=True))

    return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second, strict=True))


def interrupt(*_details: Any) -> None:
    raise TimeoutError(f"no end within {SLOW_SECONDS:.0f} seconds")


def try_all(name: str, modes: list[str], start: int, current: Any) -> dict[str, Any]:
    """Every attempt of one function from the given one on; the problems found, and how many calls were made."""
    function = PUBLIC[name]
    problems: list[str] = []
    count = 0
    unspecified = attached_samples(function).unspecified
    for number, attempt in enumerate(attempts(function)):
        if number < start:
            continue
        outcomes: dict[str, Any] = {}
        for mode in modes:
            label = f"{name}{attempt.label} [{mode}]"
            current(f"{number} {label}")
            signal.alarm(int(SLOW_SECONDS))  # ends what loops in Python; the driver ends the rest
            # Compiled at the third sighting: only where values decide, the rest is settled at the call.
            repetitions = 3 if mode == "auto" and attempt.compiled else 1
            try:
                with paddle.jit.eager_mode(mode):
                    for _ in range(repetitions):
                        outcomes[mode] = run_once(function, attempt)
                        count += 1
            except BaseException as error:
                problems.append(f"{label}: {type(error).__name__}: {str(error)[:300]}")
                continue
            finally:
                signal.alarm(0)
            if attempt.must_raise and outcomes[mode] is not None and not has_meaning(name, attempt):
                problems.append(f"{label}: accepted ({attempt.must_raise}), gave {[a.shape for a in outcomes[mode]]}")
        if len(outcomes) == 2 and not unspecified:
            first, second = outcomes.values()
            if (first is None) != (second is None) or (first is not None and not equal(first, second)):
                problems.append(f"{name}{attempt.label}: the modes differ")
    return {"problems": problems, "calls": count}


# (function, argument): why a value that is refused elsewhere has a meaning here.
MEANINGFUL = {
    ("strided_slice", "strides"): "a negative stride goes backwards",
    ("as_strided", "stride"): "a stride of zero repeats an element",
    ("nn.functional.gather_tree", "ids"): "the words that were chosen, of any vocabulary; `parents` are the indices",
    ("nn.functional.npair_loss", "labels"): "compared with each other only",
}


def has_meaning(name: str, attempt: Attempt) -> bool:
    """Whether a value that is refused elsewhere is right here."""
    if attempt.must_raise == "index" and attempt.kwargs.get("mode") in ("wrap", "clip"):
        return True
    if name == "nn.functional.hsigmoid_loss" and attempt.name == "label":
        return len(attempt.args) > 5  # the tree is given with the way to each label: the label itself is not read
    return (name, attempt.name) in MEANINGFUL


def limit_memory() -> None:
    """Anything that wants more than a few gigabytes gets a MemoryError instead of the machine's memory."""
    import jax.numpy as jnp

    jnp.zeros(3).block_until_ready()  # its threads and arenas take address space that is not the tests' doing
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        limit = pages * resource.getpagesize() + SPARE_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    limit_memory()
    signal.signal(signal.SIGALRM, interrupt)
    note = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)  # survives a crash: says what was being tried

    def current(label: str) -> None:
        data = label.encode()[:2000]
        os.pwrite(note, data.ljust(2000), 0)

    channel.write('{"ready": true}\n')
    for line in sys.stdin:
        request = json.loads(line)
        channel.write(json.dumps(try_all(request["function"], request["modes"], request["start"], current)) + "\n")
    os._exit(0)


if __name__ == "__main__":
    main()
