"""What counts as agreeing: proa's outcome beside Paddle's.

Every comparison ends in one *kind*. `AGREES` and `REFUSED` are good; those in `OUTSIDE` say nothing about proa because
Paddle itself does not run the call; the others are disagreements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .encode import decode_array, encode_array

AGREES = "agrees"
REFUSED = "both refuse, same error type"
# Paddle itself does not run it.
OUTSIDE = {
    "not in Paddle": "Paddle has no such name",
    "only proa runs": "Paddle raises",
    "Paddle crashes": "the process died",
    "Paddle hangs": "no answer in time",
    "Paddle cannot make the input": "a dtype that Paddle lacks",
}
DISAGREEMENTS = (
    "proa crashes",
    "proa hangs",
    "missing in proa",
    "proa refuses",
    "number of outputs",
    "shape",
    "dtype",
    "value",
    "not in place",
    "no gradient",
    "gradient",
    "error type",
)

# Relative to the largest value: sums of many terms leave the smallest ones with few digits.
TOLERANCES = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-5, "complex64": 2e-5}
NARROW_TOLERANCE = 2e-2


def close(actual: np.ndarray, expected: np.ndarray, dtype: str, tolerance: float) -> bool:
    """Equal up to rounding; NaN equals NaN, infinities must match."""
    if actual.dtype.kind in "biu" or expected.dtype.kind in "biu":
        return bool(np.array_equal(actual, expected))
    wide = np.complex128 if "complex" in dtype else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    allowed = TOLERANCES.get(dtype, NARROW_TOLERANCE)
    if allowed < NARROW_TOLERANCE and dtype in ("float32", "complex64"):
        allowed = max(allowed, tolerance)
    finite = expected[np.isfinite(expected)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    return bool(np.allclose(actual, expected, rtol=10 * allowed, atol=allowed * min(scale, 1e6), equal_nan=True))


def summarise(array: np.ndarray) -> str:
    text = np.array2string(array.reshape(-1)[:6], precision=5, separator=", ")
    return text if array.size <= 6 else f"{text[:-1]}, …]"


def compare(request: dict[str, Any], proa: dict[str, Any], paddle: dict[str, Any]) -> tuple[str, str]:
    """The kind of a comparison and a sentence about it."""
    if "unusable" in paddle:
        return "Paddle cannot make the input", paddle["unusable"]["message"]
    if "missing" in paddle:
        return "not in Paddle", paddle["missing"]
    for trouble, kind in (("crash", "crashes"), ("hang", "hangs")):
        if trouble in proa:
            return f"proa {kind}", proa[trouble]
        if trouble in paddle:
            return f"Paddle {kind}", paddle[trouble]
    if "missing" in proa:
        return "missing in proa", proa["missing"]
    if "unusable" in proa:
        return "proa refuses", proa["unusable"]["message"]
    if "error" in paddle:
        return _paddle_raised(proa, paddle["error"])
    if "error" in proa:
        return "proa refuses", f"{proa['error']['kinds'][0]}: {proa['error']['message']}"
    return _both_ran(request, proa, paddle)


def _paddle_raised(proa: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, str]:
    if "error" not in proa:
        return "only proa runs", f"Paddle: {theirs['kinds'][0]}: {theirs['message']}"
    ours = proa["error"]
    if theirs["kinds"][0] in ours["kinds"]:
        return REFUSED, theirs["kinds"][0]
    return (
        "error type",
        f"Paddle {theirs['kinds'][0]}: {theirs['message']!r}; proa {ours['kinds'][0]}: {ours['message']!r}",
    )


def _both_ran(request: dict[str, Any], proa: dict[str, Any], paddle: dict[str, Any]) -> tuple[str, str]:
    if request["form"] == "in-place" and paddle["same"] and not proa["same"]:
        return "not in place", "the result is another tensor"
    if len(proa["leaves"]) != len(paddle["leaves"]) or proa["nesting"].count("[") != paddle["nesting"].count("["):
        return "number of outputs", f"Paddle {paddle['nesting']}, proa {proa['nesting']}"
    for position, (ours, theirs) in enumerate(zip(proa["leaves"], paddle["leaves"], strict=True)):
        found = _leaf(request, ours, theirs, f"output {position}")
        if found is not None and not (found[0] == "value" and same_elements(request, ours, theirs)):
            return found
    return _gradients(request, proa, paddle)


def same_elements(request: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether two sets of positions choose equal elements of the input: among equal ones any is right."""
    first = request["args"][0] if request["args"] else None
    if not request.get("positions") or not isinstance(first, dict) or "$array" not in first:
        return False
    x = decode_array(first)[0]
    places = [decode_array(leaf)[0] for leaf in (ours, theirs)]
    if any(p.dtype.kind not in "iu" for p in places):
        return False
    for axis in range(x.ndim):
        whole = [p if p.ndim == x.ndim else np.expand_dims(p, axis) for p in places if p.ndim in (x.ndim, x.ndim - 1)]
        try:
            chosen = [np.take_along_axis(x, p, axis) for p in whole]
        except (IndexError, ValueError):
            continue
        if len(chosen) == 2 and np.array_equal(*chosen, equal_nan=x.dtype.kind == "f"):
            return True
    return False


def _leaf(request: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any], what: str) -> tuple[str, str] | None:
    if "value" in ours or "value" in theirs:
        same = ours.get("value") == theirs.get("value")
        return None if same else ("value", f"{what}: Paddle {theirs.get('value')}, proa {ours.get('value')}")
    if ours["shape"] != theirs["shape"]:
        return "shape", f"{what}: Paddle {theirs['shape']}, proa {ours['shape']}"
    if ours["dtype"] != theirs["dtype"]:
        return "dtype", f"{what}: Paddle {theirs['dtype']}, proa {ours['dtype']}"
    if request["random"]:
        return None
    actual, expected = decode_array(ours)[0], decode_array(theirs)[0]
    if close(actual, expected, ours["dtype"], request["tolerance"]):
        return None
    return "value", f"{what}: Paddle {summarise(expected)}, proa {summarise(actual)}"


def contradicts(outcome: dict[str, Any], wanted: list[np.ndarray], tolerance: float) -> bool:
    """Whether an outcome differs from the reference in shape or value."""
    leaves = [leaf for leaf in outcome.get("leaves", []) if "value" not in leaf]
    if len(leaves) != len(wanted):
        return True
    for leaf, array in zip(leaves, wanted, strict=True):
        actual = decode_array(leaf)[0]
        if list(actual.shape) != list(array.shape):
            return True
        exact = actual.dtype.kind in "biu" and array.dtype.kind in "biu"
        if not close(actual if exact else actual.astype(np.result_type(actual, np.float32)),
                     array if exact else array.astype(np.result_type(array, np.float32)),
                     leaf["dtype"], max(tolerance, 1e-4)):  # fmt: skip
            return True
    return False


def _hermitian(leaf: dict[str, Any]) -> dict[str, Any]:
    array = decode_array(leaf)[0]
    return {**leaf, **encode_array((array + np.conj(np.swapaxes(array, -1, -2))) / 2)}


def who_is_right(proa: dict[str, Any], paddle: dict[str, Any]) -> str:
    """Which gradient agrees with central differences of its own framework's values."""

    def says(name: str, outcome: dict[str, Any]) -> str:
        if "slopes" not in outcome:
            return f"{name}'s unknown"
        analytic, numeric = outcome["slopes"]
        return f"{name}'s {'right' if abs(analytic - numeric) <= 1e-4 * max(1.0, abs(numeric)) else 'WRONG'}"

    return f" (by central differences: {says('proa', proa)}, {says('Paddle', paddle)})"


def _gradients(request: dict[str, Any], proa: dict[str, Any], paddle: dict[str, Any]) -> tuple[str, str]:
    if "gradients" not in paddle:
        return AGREES, "values; Paddle has no gradient" if "gradient_error" in paddle else "values"
    if "gradient_error" in proa:
        wanted = any(g is not None and decode_array(g)[0].any() for g in paddle["gradients"])
        message = f"{proa['gradient_error']['kinds'][0]}: {proa['gradient_error']['message']}"
        return ("no gradient", message) if wanted else (AGREES, "values")
    for position, (ours, theirs) in enumerate(zip(proa["gradients"], paddle["gradients"], strict=True)):
        if theirs is None:
            continue
        what = f"gradient of input {position}"
        expected = decode_array(theirs)[0]
        if ours is None:
            if expected.any():
                return "no gradient", f"{what}: Paddle {summarise(expected)}, proa none"
            continue
        if request.get("hermitian"):
            ours, theirs = _hermitian(ours), _hermitian(theirs)
        found = _leaf(request, ours, theirs, what)
        if found is not None:
            return "gradient", found[1] if found[0] == "value" else f"{found[0]}: {found[1]}"
    return AGREES, "values and gradients"
