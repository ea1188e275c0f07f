"""Operator statistics, checks of numbers, and the comparison of two runs."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import proa as paddle

debugging = paddle.amp.debugging
DebugMode = debugging.DebugMode


def rows(text: str) -> dict[str, list[int]]:
    table = [line.split("|") for line in text.splitlines() if line.startswith("  ")]
    return {name.strip(): [int(cell) for cell in cells] for name, *cells in table}


def test_counts_operators_by_dtype(capsys: pytest.CaptureFixture[str]) -> None:
    x, w = paddle.rand([3, 4]), paddle.create_parameter([4, 5], "float32")
    for _ in range(4):  # cold, cold, compiled, compiled: the same table
        with debugging.collect_operator_stats():
            with paddle.amp.auto_cast(dtype="bfloat16"):
                y = paddle.nn.functional.softmax(paddle.matmul(x, w))
            (y + 1.0).sum().backward()
        w.clear_gradient()
        text = capsys.readouterr().out
        found = rows(text)
        found.pop("fill_constant", None)  # the seed of backward, and zeros of the gradient cleared before
        assert found == {
            "cast": [0, 1, 2, 0], "matmul_v2": [0, 1, 0, 0], "reduce_sum": [0, 0, 1, 0], "scale": [0, 0, 1, 0],
            "softmax": [0, 0, 1, 0],
        }  # fmt: skip
        assert all(title in text for title in (" op list ", " FP16 Calls ", f" op count: {len(rows(text))} "))
        assert {len(line) for line in text.splitlines() if line.startswith("<")} == {122}


def test_statistics_may_be_switched_inside_and_outside_of_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    a = paddle.rand([2, 2])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        debugging.enable_operator_stats_collection()
        paddle.matmul(a, a)
    a * a
    debugging.disable_operator_stats_collection()
    a / a
    found = rows(capsys.readouterr().out)
    assert found["elementwise_mul"] == [0, 0, 1, 0]
    assert found["matmul_v2"] == [0, 1, 0, 0]
    assert "elementwise_div" not in found
    debugging.disable_operator_stats_collection()
    assert capsys.readouterr().out == ""


def test_check_numerics(capsys: pytest.CaptureFixture[str]) -> None:
    bad = paddle.to_tensor([1.0, float("nan"), float("inf"), 0.0, -2.0])
    counts, figures = debugging.check_numerics(bad, "my_op", "my_tensor", DebugMode.CHECK_NAN_INF)
    assert counts.tolist() == [1, 1, 1]
    assert counts.dtype == paddle.int64
    np.testing.assert_array_equal(figures.numpy(), np.array([np.inf, -2.0, np.nan], np.float32))
    assert capsys.readouterr().out == (
        "[PRECISION] [ERROR] in [device=cpu, op=my_op, tensor=my_tensor, dtype=fp32], numel=5, num_nan=1, num_inf=1, "
        "num_zero=1, max=inf, min=-2.000000e+00, mean=nan\n"
    )
    with pytest.raises(RuntimeError, match=r"my_op.*1 NaN and 1 infinite of 5"):
        debugging.check_numerics(bad, "my_op", "my_tensor")
    capsys.readouterr()
    good = paddle.to_tensor([1.0, 3.0])
    debugging.check_numerics(good, "my_op", "my_tensor")
    assert capsys.readouterr().out == ""
    debugging.check_numerics(good, "my_op", "my_tensor", DebugMode.CHECK_ALL)
    assert "max=3.000000e+00, min=1.000000e+00, mean=2.000000e+00" in capsys.readouterr().out
    debugging.check_numerics(paddle.to_tensor([7e4]), "my_op", "x", DebugMode.CHECK_ALL_FOR_OVERFLOW)
    assert "max=7.000000e+04" in capsys.readouterr().out
    with pytest.raises(TypeError, match="floating"):
        debugging.check_numerics(paddle.to_tensor([1]), "my_op", "x")
    with pytest.raises(TypeError, match="DebugMode"):
        debugging.check_numerics(good, "my_op", "x", 3)


def test_check_layer_numerics() -> None:
    class Log(paddle.nn.Layer):
        @debugging.check_layer_numerics
        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            return paddle.log(x)

    layer = Log()
    good, bad = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, -2.0])
    for _ in range(4):  # the last ones run compiled
        np.testing.assert_allclose(layer(good).numpy(), np.log([1.0, 2.0]), rtol=1e-6)
    with pytest.raises(FloatingPointError, match="log"):
        layer(bad)
    with pytest.raises(FloatingPointError, match=r"Log\.forward"):
        layer(paddle.to_tensor([float("nan")]))
    with pytest.raises(RuntimeError, match="no input"):
        layer()
    assert np.isnan(paddle.log(bad).numpy()[1])  # outside nothing is checked
    with pytest.raises(TypeError, match="function"):
        debugging.check_layer_numerics(3)


@pytest.fixture
def checker():  # type: ignore[no-untyped-def]
    yield debugging.enable_tensor_checker
    debugging.disable_tensor_checker()


ZERO = np.array([1.0, 0.0, 3.0], np.float32)


def test_the_checker_raises_where_it_goes_wrong(checker) -> None:  # type: ignore[no-untyped-def]
    x = paddle.to_tensor(ZERO)
    checker(debugging.TensorCheckerConfig(enable=True))
    assert paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"]
    with pytest.raises(FloatingPointError, match="log"):
        paddle.log(x).numpy()
    debugging.disable_tensor_checker()
    assert not paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"]
    assert np.isinf(paddle.log(x).numpy()).any()
    checker(debugging.TensorCheckerConfig(enable=False))
    assert np.isinf(paddle.log(x).numpy()).any()


def test_the_checker_tells_without_raising(checker, capsys) -> None:  # type: ignore[no-untyped-def]
    x = paddle.to_tensor(ZERO)
    checker(debugging.TensorCheckerConfig(enable=True, debug_mode=DebugMode.CHECK_NAN_INF))
    paddle.log(x) * 0 + 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "[PRECISION] [ERROR] in [device=cpu, op=log, tensor=, dtype=fp32], numel=3, num_nan=0, num_inf=1, num_zero=1, "
        "max=1.098612e+00, min=-inf, mean=-inf"
    )
    checker(debugging.TensorCheckerConfig(enable=True, debug_mode=DebugMode.CHECK_ALL))
    x * 2
    assert "op=scale, tensor=, dtype=fp32], numel=3, num_zero=1, max=6.0" in capsys.readouterr().out


def test_the_checker_looks_at_chosen_operators(checker) -> None:  # type: ignore[no-untyped-def]
    x = paddle.to_tensor(ZERO)
    checker(debugging.TensorCheckerConfig(enable=True, skipped_op_list=["log"]))
    paddle.log(x).numpy()
    with pytest.raises(FloatingPointError, match="elementwise_div"):
        (x / paddle.zeros([3])).numpy()
    checker(debugging.TensorCheckerConfig(enable=True, checked_op_list=["log"]))
    (x / paddle.zeros([3])).numpy()
    with pytest.raises(FloatingPointError, match="log"):
        paddle.log(x).numpy()


def test_the_checker_counts_steps(checker) -> None:  # type: ignore[no-untyped-def]
    config = debugging.TensorCheckerConfig(enable=True, debug_step=[1, 3])
    x = paddle.to_tensor(ZERO)
    raised = []
    for _ in range(5):
        checker(config)
        try:
            paddle.log(x).numpy()
            raised.append(False)
        except FloatingPointError:
            raised.append(True)
        debugging.disable_tensor_checker()
    assert raised == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"debug_mode": 7}, TypeError),
        ({"debug_step": 3}, ValueError),
        ({"debug_step": [5, 2]}, ValueError),
        ({"checked_op_list": "log"}, ValueError),
        ({"output_dir": 3}, TypeError),
    ],
)
def test_bad_configs(options: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind, match="TensorCheckerConfig"):
        debugging.TensorCheckerConfig(enable=True, **options)


def test_bad_config_is_refused() -> None:
    with pytest.raises(TypeError, match="TensorCheckerConfig"):
        debugging.enable_tensor_checker(3)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_compare_accuracy(tmp_path: Path, checker, suffix: str) -> None:  # type: ignore[no-untyped-def]
    for name, scale in (("wide", 1.0), ("low", 300.0)):
        x = paddle.to_tensor(np.array([1.0, 300.0 * scale], np.float32)).astype("float32" if scale == 1 else "float16")
        checker(
            debugging.TensorCheckerConfig(enable=True, debug_mode=DebugMode.CHECK_ALL, output_dir=str(tmp_path / name))
        )
        paddle.tanh(x * 2)
        debugging.disable_tensor_checker()
    table = tmp_path / f"table{suffix}"
    debugging.compare_accuracy(str(tmp_path / "wide"), str(tmp_path / "low"), str(table))
    if suffix == ".csv":
        with table.open(newline="") as file:
            found = {row["op"]: row["verdict"] for row in csv.DictReader(file)}
    else:
        with zipfile.ZipFile(table) as archive:
            sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
        cells = [["".join(cell.itertext()) for cell in row] for row in sheet[0]]
        found = {row[0]: row[2] for row in cells[1:]}
    assert found["scale"] == "overflow in the second run"
    assert found["tanh"] == "same"
    with pytest.raises(ValueError, match="no dump"):
        debugging.compare_accuracy(str(tmp_path / "none"), str(tmp_path / "low"), str(table))
