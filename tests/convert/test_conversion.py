"""`proa convert`: files, certificates, and what happens when something is wrong."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from onnx import helper

import proa as paddle
from proa.convert import NotEquivalent, UncoveredOperators, convert
from proa.convert.certificate import check_result
from proa.convert.onnx import READERS
from proa_command import main
from tests.convert.models import classifier, model, value


@pytest.fixture
def onnx_file(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(classifier().SerializeToString())
    return path


def entries(folder):
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("output", ["out/model.proa", "out/model"])
def test_a_conversion_writes_the_model_and_its_certificate(tmp_path, onnx_file, output):
    assert main(["convert", str(onnx_file), "-o", str(tmp_path / output)]) == 0
    files = ["model.proa"] if output.endswith(".proa") else ["model.json", "model.pdiparams"]
    assert entries(tmp_path / "out") == sorted(["model-certificate.json", *files])
    written = json.loads((tmp_path / "out/model-certificate.json").read_text())
    assert written["agrees"] is True
    assert written["reference"].startswith("ONNX Runtime")
    assert set(written["checksums"]) == set(files)
    # Two sets of inputs of different sizes show that the batch may have any size.
    assert [one[0]["shape"] for one in written["inputs"]] == [[2, 3, 8, 8], [3, 3, 8, 8]]
    assert written["largest_error"] < 1e-4
    loaded = paddle.jit.load(str(tmp_path / output))
    assert loaded(paddle.zeros([5, 3, 8, 8])).shape == [5, 5]


def test_the_test_vectors_of_a_converted_model_are_in_it(tmp_path, onnx_file, capsys):
    convert(onnx_file)
    assert main(["verify", str(tmp_path / "model.proa")]) == 0
    assert "test 0: good" in capsys.readouterr().out


def test_a_model_that_differs_is_not_written(tmp_path, onnx_file, monkeypatch):
    """A translator with a mistake in it: the certificate finds it, and the result that was there before stays."""
    (tmp_path / "model.proa").write_bytes(b"before")
    wrong = READERS["Relu"]
    monkeypatch.setitem(READERS, "Relu", _shifted(wrong))
    with pytest.raises(NotEquivalent, match="gives other results: y: 10 of 10 elements differ"):
        convert(onnx_file)
    assert (tmp_path / "model.proa").read_bytes() == b"before"
    assert entries(tmp_path) == ["model-certificate.json", "model.onnx", "model.proa"]
    written = json.loads((tmp_path / "model-certificate.json").read_text())
    assert (written["agrees"], written["output"]) == (False, None)
    assert written["checks"][0][0]["largest_error"] > 1e-3
    assert written["first_difference"]["operator"] == "Relu"


def _shifted(reader):
    from proa.formats.paddle.reading.registry import Reader

    def wrong(x):
        return reader.function(x) + 0.1

    return Reader(wrong, False, False)


def test_operators_without_translators_are_in_the_certificate(tmp_path, capsys):
    graph = helper.make_graph(
        [helper.make_node("Mystery", ["x"], ["y"], name="odd", domain="com.example")], "g", [value("x", [2])],
        [value("y", [2])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    path = tmp_path / "odd.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    with pytest.raises(UncoveredOperators):
        convert(path)
    assert main(["convert", str(path)]) == 1
    assert "com.example.Mystery" in capsys.readouterr().err
    written = json.loads((tmp_path / "odd-certificate.json").read_text())
    assert written["uncovered"] == [{"operator": "com.example.Mystery", "place": "odd"}]
    assert written["agrees"] is False
    assert entries(tmp_path) == ["odd-certificate.json", "odd.onnx"]


def test_inputs_of_the_user(tmp_path, onnx_file):
    x = np.random.default_rng(5).normal(size=(4, 3, 8, 8)).astype("float32")
    np.savez(tmp_path / "inputs.npz", x=x)
    certificate = convert(onnx_file, tmp_path / "model.proa", inputs=tmp_path / "inputs.npz")
    assert [one[0]["shape"] for one in certificate.inputs] == [[4, 3, 8, 8]]
    np.savez(tmp_path / "two.npz", a=x, b=x)
    with pytest.raises(ValueError, match=r"holds a, b; the model's inputs are x"):
        convert(onnx_file, tmp_path / "other.proa", inputs=tmp_path / "two.npz")


def test_a_dimension_that_cannot_stay_unknown_is_fixed_and_said(tmp_path):
    """As many slices as there are rows: the rounds of a Scan are a size, and the graph holds them one by one."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"]), helper.make_node("Identity", ["t"], ["o"])], "body",
        [value("s", [2]), value("e", [2])], [value("t", [2]), value("o", [2])],
    )  # fmt: skip
    nodes = [helper.make_node("Scan", ["zero", "x"], ["last", "y"], body=body, num_scan_inputs=1)]
    outputs = [value("last", [2]), value("y", ["n", 2])]
    proto = model(nodes, [value("x", ["n", 2])], outputs, {"zero": np.zeros(2, "float32")})
    path = tmp_path / "scan.onnx"
    path.write_bytes(proto.SerializeToString())
    certificate = convert(path)
    assert certificate.agrees
    assert len(certificate.fixed_dimensions) == 1
    assert certificate.fixed_dimensions[0].startswith("x, axis 0: 2 (")


def test_wrong_paths(tmp_path, onnx_file):
    with pytest.raises(FileNotFoundError, match=r"missing\.onnx does not exist"):
        convert(tmp_path / "missing.onnx")
    (tmp_path / "model.xyz").write_bytes(b"")
    with pytest.raises(ValueError, match="known by its ending"):
        convert(tmp_path / "model.xyz")
    with pytest.raises(ValueError, match="a file, not a folder"):
        convert(onnx_file, f"{tmp_path}/out/")


def test_what_a_check_says():
    one = np.float32([1, 2, np.nan, np.inf])
    assert check_result("y", one, one, 0, 0).agrees
    assert not check_result("y", one, np.float32([1, 2, np.nan, -np.inf]), 1e-3, 1e-3).agrees
    assert not check_result("y", one, np.float32([1, 2, 3, np.inf]), 1e-3, 1e-3).agrees
    assert "shape [4], the reference has [3]" in check_result("y", one, one[:3], 0, 0).reason
    assert "type float32" in check_result("y", one, one.astype("float64"), 0, 0).reason
    near = check_result("y", np.float32([1.0]), np.float32([1.001]), 1e-2, 0)
    assert near.agrees
    assert near.largest_error == pytest.approx(1e-3, rel=1e-3)
    assert "1 of 2 elements differ" in check_result("n", np.int64([1, 2]), np.int64([1, 3]), 1, 1).reason


def test_unknown_dimensions_of_two_inputs_stay_unknown(tmp_path):
    """Attention between two inputs: the fused form would have the size of the other one, equal only at run time."""
    make = helper.make_node
    nodes = [
        make("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
        make("MatMul", ["q", "turned"], ["scores"]),
        make("Mul", ["scores", "factor"], ["scaled"]),
        make("Softmax", ["scaled"], ["weights"], axis=-1),
        make("MatMul", ["weights", "k"], ["y"]),
    ]
    inputs = [value("q", ["batch", 2, 5, 4]), value("k", ["batch", 2, 6, 4])]
    proto = model(nodes, inputs, [value("y", ["batch", 2, 5, 4])], {"factor": np.float32(0.5)})
    path = tmp_path / "attention.onnx"
    path.write_bytes(proto.SerializeToString())
    certificate = convert(path)
    assert certificate.fixed_dimensions == []
    assert [one[0]["shape"][0] for one in certificate.inputs] == [2, 3]
