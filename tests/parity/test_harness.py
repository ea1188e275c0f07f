"""The parity harness itself: values survive the way, and crashes, hangs and differences are told apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa
from proa.eager.samples import A, S
from tests.parity import plan, pool, report, settings
from tests.parity.compare import AGREES, DISAGREEMENTS, OUTSIDE, REFUSED, compare
from tests.parity.encode import NotExpressible, decode, encode
from tests.parity.execute import execute


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -(2**63), 1.5, float("inf"), "word", 1 + 2j, [1, [2.0, None]], (1, (2, 3)), {"a": (1,)},
        slice(1, None, 2), ..., np.float32(0.5), np.int8(-3),
    ],
)  # fmt: skip
def test_arguments_survive(value: Any) -> None:
    arrived = decode(json.loads(json.dumps(encode(value))), proa, None)
    assert arrived == value
    assert type(arrived) is type(value)


def test_arrays_and_dtypes_survive() -> None:
    array = np.arange(6, dtype=np.complex64).reshape(2, 3)
    arrived = decode(json.loads(json.dumps(encode(array))), proa, None)
    np.testing.assert_array_equal(arrived, array)
    assert arrived.dtype == array.dtype
    assert decode(encode(proa.bfloat16), proa, None) == proa.bfloat16


def test_functions_do_not_travel() -> None:
    with pytest.raises(NotExpressible):
        encode(lambda x: x)


@pytest.mark.parametrize("spec", [A(3, 4, layout="coo"), A(3, 4, 2, layout="coo", sparse_dim=2), A(3, 4, layout="csr")])
def test_layouts_survive(spec: A) -> None:
    case = S(spec)
    (encoded,), _ = plan.arguments(case, None)
    arrived = decode(json.loads(json.dumps(encoded)), proa, lambda array, name, wanted: proa.to_tensor(array))
    assert arrived.is_sparse_csr() == (spec.layout == "csr")
    assert arrived.sparse_dim() == 2
    np.testing.assert_array_equal(arrived.to_dense().numpy(), case.arrays()[0][0].array)


def request(name: str, *values: Any) -> dict[str, Any]:
    args, kwargs = plan.arguments(S(*values), None)
    return {
        "name": name, "path": name, "form": "function", "target": 0, "args": args, "kwargs": kwargs, "sample": name,
        "variant": "as written", "random": False, "differentiate": True, "tolerance": 1e-5,
    }  # fmt: skip


def test_every_kind_of_trouble_is_told_apart() -> None:
    array = A(2, 3, low=0.5)
    requests = [request(name, array) for name in ("exp", "sin", "sqrt", "square", "tanh", "cos")]
    requests.append(request("add", array, array))
    requests.append(request("sqrt", "word"))
    kinds: list[str] = []
    pool.run(
        requests,
        sys.executable,
        lambda asked, ours, theirs: kinds.append(compare(asked, ours, theirs)[0]),
        seconds=8.0,
        modules=("proa", "tests.parity.faulty"),
    )
    wanted = [
        "Paddle crashes",
        "Paddle hangs",
        "only proa runs",
        "value",
        "gradient",
        "not in Paddle",
        AGREES,
        "error type",
    ]
    assert kinds == wanted


def test_sparse_calls_run() -> None:
    outcome = execute(proa, {**request("sparse.sin", A(3, 4, layout="coo")), "verify": True, "sparse": True})
    assert outcome["nesting"] == "T"
    assert outcome["leaves"][0]["shape"] == [3, 4]
    analytic, numeric = outcome["slopes"]
    assert analytic == pytest.approx(numeric, rel=0.2)  # float32


def test_random_functions_are_compared_by_shape() -> None:
    for name in ("rand", "normal_", "empty_like"):
        assert all(one["random"] and not one["differentiate"] for one in plan.requests([name])[0])
    assert not any(one["random"] for one in plan.requests(["geometric.segment_sum"])[0])


def test_gradients_are_compared() -> None:
    def outcome(gradient: Any) -> dict[str, Any]:
        leaf = {**encode(np.ones(2, np.float32)), "dtype": "float32", "stop_gradient": False}
        return {"leaves": [leaf], "nesting": "T", "gradients": gradient}

    def leaf(*numbers: float) -> dict[str, Any]:
        return {**encode(np.array(numbers, np.float32)), "dtype": "float32", "stop_gradient": True}

    asked = request("exp", A(2))
    assert compare(asked, outcome([leaf(1, 2)]), outcome([leaf(1, 2)]))[0] == AGREES
    assert compare(asked, outcome([leaf(1, 2)]), outcome([leaf(1, 3)]))[0] == "gradient"
    assert compare(asked, outcome([None]), outcome([leaf(1, 3)]))[0] == "no gradient"
    assert compare(asked, outcome([None]), outcome([leaf(0, 0)]))[0] == AGREES
    assert compare(asked, outcome([leaf(1, 2)]), outcome([None]))[0] == AGREES


def test_every_public_sample_is_planned() -> None:
    found, _ = plan.requests(["matmul"])
    cases = settings.attached_samples(proa.matmul).cases
    written = [one for one in found if one["name"] == "matmul" and one["variant"] == "as written"]
    assert {one["sample"] for one in written} == {repr(case) for case in cases}
    assert {one["form"] for one in written} >= {"function", "method"}


def test_deliberate_differences_are_well_formed() -> None:
    for entry in settings.load_deliberate():
        assert entry.reason
        assert set(entry.kinds) <= set(DISAGREEMENTS)


def test_a_wrong_gradient_is_never_deliberate() -> None:
    entry = settings.Deliberate(("f*",), ("gradient",), "theirs is wrong")
    row = {"name": "f", "kind": "gradient", "form": "function", "variant": "as written", "sample": "()"}
    assert entry.covers({**row, "detail": "differs (by central differences: proa's right, Paddle's WRONG)"})
    assert not entry.covers({**row, "detail": "differs (by central differences: proa's WRONG, Paddle's right)"})
    assert not entry.covers({**row, "detail": "differs", "kind": "value"})


def test_table(tmp_path: Path) -> None:
    rows = [
        {"name": "a", "form": "function", "variant": "int64", "sample": "(x|y)", "kind": kind, "detail": "text"}
        for kind in (AGREES, AGREES, REFUSED, "value", "gradient", *OUTSIDE)
    ]
    rows[4]["deliberate"] = "better"
    totals = report.write(rows, ["left out"], tmp_path)
    assert (totals["paddle_runs"], totals["agree"], totals["deliberate"]) == (4, 2, 1)
    assert totals["percent"] == 50.0
    assert totals["percent_with_deliberate"] == 75.0
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "(x\\|y)" in text
    assert text.index("## value") < text.index("## gradient")
    assert json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))["totals"] == totals
