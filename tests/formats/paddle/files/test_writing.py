"""What is written: read again it is the same model, and it says what the real package's own files say."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from proa.formats.paddle.files import read_model, write_model
from proa.formats.paddle.files.legacy.schema import PROGRAM
from proa.formats.paddle.files.wire import decode
from proa.formats.paddle.model import Block, Model, Op, Value
from tests.formats.paddle.files.compare import canonical, names

FIXTURES = pathlib.Path(__file__).parent.parent / "fixtures"
PROGRAMS = sorted([*FIXTURES.glob("*.json"), *FIXTURES.glob("*.pdmodel")])


def same_numbers(first: Model, second: Model) -> None:
    assert sorted(first.parameters) == sorted(second.parameters)
    for name, array in first.parameters.items():
        np.testing.assert_array_equal(second.parameters[name], array)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_newer_format_there_and_back(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = read_model(path)
    write_model(model, tmp_path / "m", "json")
    again = read_model(tmp_path / "m.json")
    write_model(again, tmp_path / "n", "json")
    assert (tmp_path / "n.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    assert names(again.block) == names(model.block)
    same_numbers(model, again)
    if path.suffix == ".json":
        assert canonical(again) == canonical(model)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_older_format_there_and_back(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = read_model(path)
    write_model(model, tmp_path / "m", "pdmodel")
    again = read_model(tmp_path / "m")
    assert [(v.name, v.dtype, v.shape) for v in again.inputs] == [(v.name, v.dtype, v.shape) for v in model.inputs]
    assert [v.dtype for v in again.outputs] == [v.dtype for v in model.outputs]
    for name, array in model.parameters.items():
        if not name.endswith("__non_persistable"):
            np.testing.assert_array_equal(again.parameters[name], array)
    if path.stem in ("conv", "conv_legacy"):
        assert names(again.block) == names(model.block)


def entries(path: pathlib.Path) -> list[dict[str, Any]]:
    """The operations of a `.json` file without what says nothing about the calculation, ids by order of appearance."""
    ids: dict[int, int] = {}

    def plain(node: Any) -> Any:
        if isinstance(node, dict):
            if node.get("N") in ("struct_name", "stop_gradient"):
                return None
            kept = {key: plain(value) for key, value in node.items() if key not in ("OA",)}
            if "%" in kept:
                kept["%"] = ids.setdefault(node["%"], len(ids)) if node["%"] else 0
            return kept
        if isinstance(node, list):
            return [item for item in map(plain, node) if item is not None]
        return node

    blocks = json.loads(path.read_text())["program"]["regions"][0]["blocks"]
    operations = sorted(blocks[0]["ops"], key=lambda op: (op["#"] != "p", op["A"][3] if op["#"] == "p" else ""))
    return plain(operations)


@pytest.mark.parametrize("name", ["conv", "lstm", "loop"])
def test_newer_format_is_written_as_paddle_writes_it(name: str, tmp_path: pathlib.Path) -> None:
    """Same operations, operands, results, and the same kind of every attribute."""
    write_model(read_model(FIXTURES / f"{name}.json"), tmp_path / "m", "json")
    ours, theirs = entries(tmp_path / "m.json"), entries(FIXTURES / f"{name}.json")
    ours = [op for op in ours if op["#"] not in ("0.combine", "0.split")]
    theirs = [op for op in theirs if op["#"] not in ("0.combine", "0.split")]
    assert [op["#"] for op in ours] == [op["#"] for op in theirs]
    for mine, real in zip(ours, theirs, strict=True):
        assert mine["A"] == real["A"], mine["#"]
        if mine["#"] != "p":
            assert [result["TT"] for result in mine["O"]] == [result["TT"] for result in real["O"]]
        if name != "lstm":
            mine, real = ({key: op[key] for key in op if key not in ("A", "O")} for op in (mine, real))
            assert mine == real


def test_parameters_file_is_written_as_paddle_writes_it(tmp_path: pathlib.Path) -> None:
    for name in ("conv", "lstm", "loop"):
        write_model(read_model(FIXTURES / f"{name}.json"), tmp_path / name, "json")
        assert (tmp_path / f"{name}.pdiparams").read_bytes() == (FIXTURES / f"{name}.pdiparams").read_bytes()


def test_which_parameters_can_be_trained(tmp_path: pathlib.Path) -> None:
    write_model(read_model(FIXTURES / "conv.json"), tmp_path / "m", "json")

    def flags(path: pathlib.Path) -> dict[str, list[int]]:
        operations = json.loads(path.read_text())["program"]["regions"][0]["blocks"][0]["ops"]
        return {op["A"][3]: op["OA"] for op in operations if op["#"] == "p"}

    assert flags(tmp_path / "m.json") == flags(FIXTURES / "conv.json")


def scale_model(**extra: Any) -> Model:
    x, w = Value("x", "float32", (-1, 3)), Value("w", "float32", (3,))
    y = Value("y", "float32", (-1, 3))
    block = Block([Op("multiply", [x, w], {}, [y])])
    return Model([x], {"w": np.arange(3, dtype=np.float32)}, {"w": w}, block, [y], **extra)


@pytest.mark.parametrize("format", ["json", "pdmodel"])
def test_every_element_type_of_parameters(format: str, tmp_path: pathlib.Path) -> None:
    kinds = [
        "bool",
        "int8",
        "uint8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    model = scale_model()
    arrays: dict[str, np.ndarray] = {kind: np.arange(6).reshape(2, 3).astype(kind) for kind in kinds}
    arrays["scalar"] = np.full((), 2.5, np.float32)
    arrays["empty"] = np.zeros((0, 3), np.float32)
    for kind in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        arrays[kind] = np.arange(4).astype(getattr(ml_dtypes, kind))
    for name, array in arrays.items():
        model.parameters[name] = array
        model.parameter_values[name] = Value(name, array.dtype.name, array.shape)
    write_model(model, tmp_path / "m", format)
    again = read_model(tmp_path / "m")
    for name, array in arrays.items():
        assert again.parameters[name].dtype == array.dtype
        assert again.parameters[name].shape == array.shape
        np.testing.assert_array_equal(again.parameters[name], array)


def test_results_that_are_inputs_or_come_twice(tmp_path: pathlib.Path) -> None:
    model = scale_model()
    model.outputs = [model.inputs[0], model.outputs[0], model.outputs[0]]
    write_model(model, tmp_path / "m", "json")
    operations = json.loads((tmp_path / "m.json").read_text())["program"]["regions"][0]["blocks"][0]["ops"]
    written = [op["A"][0]["AT"]["D"] for op in operations if op["#"] == "1.fetch"]
    assert written == ["fetch_name_0", "y", "fetch_name_2"]
    assert [value.name for value in read_model(tmp_path / "m").outputs] == ["fetch_name_0", "y", "fetch_name_2"]


def test_attributes_that_are_not_given_get_their_usual_value(tmp_path: pathlib.Path) -> None:
    model = scale_model()
    result = Value("z", "float32", (-1, 3))
    model.block.ops.append(Op("softmax", [model.outputs[0]], {}, [result]))
    model.outputs = [result]
    for format in ("json", "pdmodel"):
        write_model(model, tmp_path / format, format)
        assert read_model(tmp_path / format).block.ops[-1].attributes == {"axis": -1}
    model.block.ops.append(Op("flip", [result], {}, [Value("f", "float32", (-1, 3))]))
    for format in ("json", "pdmodel"):
        with pytest.raises(ValueError, match="flip needs the attribute 'axis'"):
            write_model(model, tmp_path / format, format)


def test_numbers_that_are_not_finite(tmp_path: pathlib.Path) -> None:
    model = scale_model()
    for position, number in enumerate((float("inf"), float("-inf"), float("nan"), 1e300)):
        attributes = {"shape": [2], "value": number, "dtype": "float64"}
        model.block.ops.append(Op("full", [], attributes, [Value(f"c{position}", "float64", (2,))]))
        model.outputs.append(model.block.ops[-1].outputs[0])
    for format in ("json", "pdmodel"):
        write_model(model, tmp_path / format, format)
        found = [op.attributes["value"] for op in read_model(tmp_path / format).block.ops if op.name == "full"]
        np.testing.assert_array_equal(found, [float("inf"), float("-inf"), float("nan"), 1e300])


def test_swapped_loop_variables_in_the_older_format(tmp_path: pathlib.Path) -> None:
    """Both ends are copied before either is overwritten."""
    a, b, test = Value("a", "float32", (2,)), Value("b", "float32", (2,)), Value("t", "bool", ())
    first, second = Value("p", "float32", (2,)), Value("q", "float32", (2,))
    body = Block([], [first, second], [test, second, first])
    results = [Value("r", "float32", (2,)), Value("s", "float32", (2,))]
    loop = Op("while", [test, a, b], {}, results, [body])
    write_model(Model([a, b, test], {}, {}, Block([loop]), results), tmp_path / "m", "pdmodel")
    inner = decode((tmp_path / "m.pdmodel").read_bytes(), PROGRAM)["blocks"][1]
    values = {"p": 1, "q": 2, "t": True, "t.loop": True}
    for operation in inner["ops"]:
        assert operation["type"] == "assign"
        values[operation["outputs"][0]["arguments"][0]] = values[operation["inputs"][0]["arguments"][0]]
    assert (values["p"], values["q"]) == (2, 1)


# What is refused, and what stays


def test_failures_leave_earlier_files(tmp_path: pathlib.Path) -> None:
    write_model(scale_model(), tmp_path / "m", "json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    broken = scale_model()
    broken.parameters["w"] = np.array(["a", "b", "c"])
    broken.parameter_values["w"].dtype = broken.parameters["w"].dtype.name
    with pytest.raises(TypeError, match="element type"):
        write_model(broken, tmp_path / "m", "json")
    unknown = scale_model()
    unknown.block.ops.insert(0, Op("relu", [Value("nowhere")], {}, [Value("n")]))
    for format in ("json", "pdmodel"):
        with pytest.raises(ValueError, match="relu reads 'nowhere', which no earlier operation makes"):
            write_model(unknown, tmp_path / "m", format)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_wrong_calls(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="'json' or 'pdmodel', received 'onnx'"):
        write_model(scale_model(), tmp_path / "m", "onnx")
    model = scale_model()
    model.parameters["w"] = np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"said to be float32\[3\], but its numbers are float32\[4\]"):
        write_model(model, tmp_path / "m")
    model.parameters.clear()
    with pytest.raises(ValueError, match="has no numbers"):
        write_model(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_what_the_older_format_cannot_say(tmp_path: pathlib.Path) -> None:
    model = scale_model()
    model.block.ops.append(Op("an_operation_of_ours", [model.outputs[0]], {}, [Value("z")]))
    with pytest.raises(ValueError, match="no operation for 'an_operation_of_ours'"):
        write_model(model, tmp_path / "m", "pdmodel")
    model = scale_model()
    model.block.ops.append(Op("cumsum", [model.outputs[0], model.outputs[0]], {}, [Value("z")]))
    with pytest.raises(ValueError, match="needs a constant where 'y' is computed"):
        write_model(model, tmp_path / "m", "pdmodel")


def test_details_that_paddle_insists_on_in_the_older_format(tmp_path: pathlib.Path) -> None:
    """Seen to matter: inputs from the last to the first, no dimension named in a reduction over all, empty slots."""
    x, y, axes = Value("x", "float32", (2, 3)), Value("y", "float32", (2, 3)), Value("axes", "int64", (0,))
    total, result = Value("total", "float32", ()), Value("z", "float32", (2, 3))
    ops = [
        Op("full_int_array", [], {"value": [], "dtype": "int64"}, [axes]),
        Op("sum", [x, axes], {"keepdim": False}, [total]),
        Op("scale", [y, None], {}, [result]),
    ]
    write_model(Model([x, y], {}, {}, Block(ops), [total, result]), tmp_path / "m", "pdmodel")
    written = decode((tmp_path / "m.pdmodel").read_bytes(), PROGRAM)["blocks"][0]["ops"]
    assert [op["outputs"][0]["arguments"] for op in written[:2]] == [["y"], ["x"]]
    assert [op["type"] for op in written] == ["feed", "feed", "reduce_sum", "scale", "fetch", "fetch"]
    attributes = {entry["name"]: entry for entry in written[2]["attrs"]}
    assert "ints" not in attributes["dim"]
    assert attributes["reduce_all"]["b"] is True
    assert {"parameter": "ScaleTensor"} in written[3]["inputs"]
