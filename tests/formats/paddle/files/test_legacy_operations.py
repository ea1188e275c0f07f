"""Operations of `.pdmodel` files whose translation is code: programs are put together here by hand."""

from __future__ import annotations

from typing import Any

import pytest

from proa.formats.paddle.files import table
from proa.formats.paddle.files.legacy import read_program
from proa.formats.paddle.files.legacy.reader import known_operations
from proa.formats.paddle.files.legacy.schema import PROGRAM
from proa.formats.paddle.files.legacy.writer import attribute
from proa.formats.paddle.files.wire import encode
from proa.formats.paddle.model import Model, Value


def variable(name: str, shape: list[int] | None = None, kind: int = 5) -> dict[str, Any]:
    dense = {"tensor": {"data_type": kind, "dims": [2, 3] if shape is None else shape}}
    return {"name": name, "type": {"type": 7, "dense": dense}, "persistable": False}


def operation(
    kind: str, inputs: dict[str, list[str]], outputs: dict[str, list[str]], *attributes: Any
) -> dict[str, Any]:
    def slots(given: dict[str, list[str]]) -> list[dict[str, Any]]:
        return [{"parameter": slot, "arguments": names} for slot, names in given.items()]

    made = [attribute(*entry) for entry in attributes]
    return {"type": kind, "inputs": slots(inputs), "outputs": slots(outputs), "attrs": made}


def model(variables: list[Any], operations: list[Any], *blocks: tuple[list[Any], list[Any]], feed: str = "x") -> Model:
    feeds = [
        operation("feed", {"X": ["feed"]}, {"Out": [name]}, ("col", "int", i)) for i, name in enumerate(feed.split())
    ]
    fetch = [operation("fetch", {"X": ["out"]}, {"Out": ["fetch"]}, ("col", "int", 0))]
    contents = [{"idx": 0, "parent_idx": -1, "vars": variables, "ops": feeds + operations + fetch}]
    for index, (inner, ops) in enumerate(blocks, 1):
        contents.append({"idx": index, "parent_idx": 0, "vars": inner, "ops": ops})
    return read_program(encode({"blocks": contents}, PROGRAM))


def kinds(made: Model) -> list[str]:
    return [op.name for op in made.block.ops if not op.name.startswith("full")]


def constant(made: Model, value: Value) -> Any:
    return next(op.attributes["value"] for op in made.block.ops if value in op.outputs)


def test_axis_of_elementwise_operations() -> None:
    """Dimensions of the second operand from `axis` on: the rest becomes 1."""
    variables = [variable("x", [-1, 3, 4, 5]), variable("y", [3]), variable("out", [-1, 3, 4, 5])]
    for axis, expected in ((1, [3, 1, 1]), (2, [3, 1])):
        made = model(
            variables,
            [operation("elementwise_add", {"X": ["x"], "Y": ["y"]}, {"Out": ["out"]}, ("axis", "int", axis))],
            feed="x y",
        )
        assert kinds(made) == ["reshape", "add"]
        assert constant(made, made.block.ops[1].inputs[1]) == expected
    for axis in (-1, 3):
        made = model(
            variables,
            [operation("elementwise_add", {"X": ["x"], "Y": ["y"]}, {"Out": ["out"]}, ("axis", "int", axis))],
            feed="x y",
        )
        assert kinds(made) == ["add"]
    with pytest.raises(ValueError, match="axis 9 of elementwise_sub is out of range"):
        model(
            variables,
            [operation("elementwise_sub", {"X": ["x"], "Y": ["y"]}, {"Out": ["out"]}, ("axis", "int", 9))],
            feed="x y",
        )


def test_reductions_over_everything() -> None:
    variables = [variable("x"), variable("out")]
    for attributes in ([("reduce_all", "bool", True), ("dim", "ints", [0])], [("dim", "ints", [0, 1])]):
        made = model(variables, [operation("reduce_sum", {"X": ["x"]}, {"Out": ["out"]}, *attributes)])
        assert constant(made, made.block.ops[-1].inputs[1]) == []
    made = model(
        variables,
        [operation("reduce_any", {"X": ["x"]}, {"Out": ["out"]}, ("dim", "ints", [-1]), ("keep_dim", "bool", True))],
    )
    assert made.block.ops[-1].attributes == {"axis": [-1], "keepdim": True}


def test_first_versions_of_products() -> None:
    variables = [variable("x", [2, 3]), variable("w", [3, 4]), variable("out", [2, 4])]
    inputs, outputs = {"X": ["x"], "Y": ["w"]}, {"Out": ["out"]}
    made = model(
        variables,
        [operation("matmul", inputs, outputs, ("alpha", "float", 0.5), ("transpose_Y", "bool", True))],
        feed="x w",
    )
    assert kinds(made) == ["matmul", "scale"]
    assert made.block.ops[0].attributes == {"transpose_x": False, "transpose_y": True}
    assert constant(made, made.block.ops[-1].inputs[1]) == 0.5
    assert kinds(model(variables, [operation("mul", inputs, outputs)], feed="x w")) == ["matmul"]
    variables[0] = variable("x", [-1, 3, 1])
    made = model(variables, [operation("mul", inputs, outputs)], feed="x w")
    assert kinds(made) == ["reshape", "reshape", "matmul", "reshape"]
    assert constant(made, made.block.ops[-1].inputs[1]) == [-1, 4]


def test_first_versions_of_other_operations() -> None:
    ids = [variable("x", [-1, 1], kind=3), variable("w", [9, 4]), variable("out", [-1, 4])]
    made = model(ids, [operation("lookup_table", {"Ids": ["x"], "W": ["w"]}, {"Out": ["out"]})], feed="x w")
    assert kinds(made) == ["squeeze", "embedding"]
    plain = [variable("x", [2, 3, 4]), variable("out")]
    made = model(plain, [operation("flatten2", {"X": ["x"]}, {"Out": ["out"]}, ("axis", "int", 2))])
    assert [op.attributes for op in made.block.ops] == [
        {"start_axis": 2, "stop_axis": -1},
        {"start_axis": 0, "stop_axis": 1},
    ]
    made = model(plain, [operation("expand", {"X": ["x"]}, {"Out": ["out"]}, ("expand_times", "ints", [1, 2, 1]))])
    assert kinds(made) == ["tile"]
    made = model(plain, [operation("nearest_interp", {"X": ["x"]}, {"Out": ["out"]}, ("scale", "float", 2.0))])
    assert made.block.ops[0].name == "nearest_interp"
    assert made.block.ops[0].attributes["scale"] == [2.0, 2.0]
    made = model(plain, [operation("top_k", {"X": ["x"]}, {"Out": ["out"]}, ("k", "int", 3))])
    assert made.block.ops[-1].attributes == {"axis": -1, "largest": True, "sorted": True}
    assert made.block.ops[-1].outputs[1] is None


def test_constants_as_text() -> None:
    variables = [variable("x"), variable("out")]
    for text, expected in (("inf", "inf"), ("1e-5", "1e-05"), ("", "0.5")):
        attributes = [
            ("shape", "longs", [2]),
            ("str_value", "string", text),
            ("value", "float", 0.5),
            ("dtype", "int", 5),
        ]
        made = model(variables, [operation("fill_constant", {}, {"Out": ["out"]}, *attributes)])
        assert str(made.block.ops[0].attributes["value"]) == expected
    with pytest.raises(ValueError, match="'__import__' is not a number"):
        model(variables, [operation("fill_constant", {}, {"Out": ["out"]}, ("str_value", "string", "__import__"))])


def test_a_variable_that_is_written_again() -> None:
    variables = [variable("x"), variable("out")]
    step = operation("relu", {"X": ["x"]}, {"Out": ["x"]})
    made = model(variables, [step, step, operation("exp", {"X": ["x"]}, {"Out": ["out"]})])
    first, second, last = made.block.ops
    assert first.inputs[0] is made.inputs[0]
    assert second.inputs[0] is first.outputs[0]
    assert last.inputs[0] is second.outputs[0]
    assert len({value.name for value in (made.inputs[0], first.outputs[0], second.outputs[0])}) == 3


def _conditional(index: int, condition: str, *written: str) -> dict[str, Any]:
    return operation("conditional_block", {"Cond": [condition]}, {"Out": list(written)}, ("sub_block", "block", index))


def test_a_condition_without_otherwise_keeps_the_old_value() -> None:
    variables = [variable("x"), variable("c", [], kind=0), variable("out")]
    operations = [operation("relu", {"X": ["x"]}, {"Out": ["out"]}), _conditional(1, "c", "out")]
    made = model(variables, operations, ([], [operation("exp", {"X": ["x"]}, {"Out": ["out"]})]), feed="x c")
    relu, branch = made.block.ops
    assert branch.name == "if"
    assert branch.inputs == [made.inputs[1]]
    assert [op.name for op in branch.blocks[0].ops] == ["exp"]
    assert branch.blocks[0].results == branch.blocks[0].ops[0].outputs
    assert branch.blocks[1].results == relu.outputs
    assert made.outputs == branch.outputs


def test_a_condition_whose_other_branch_is_an_existing_value() -> None:
    variables = [variable("x"), variable("c", [], kind=0), variable("m", [], kind=2), variable("t"), variable("out")]
    operations = [
        _conditional(1, "c", "t"),
        operation("cast", {"X": ["c"]}, {"Out": ["m"]}, ("in_dtype", "int", 0), ("out_dtype", "int", 2)),
        operation("select_input", {"X": ["x", "t"], "Mask": ["m"]}, {"Out": ["out"]}),
    ]
    made = model(variables, operations, ([], [operation("exp", {"X": ["x"]}, {"Out": ["t"]})]), feed="x c")
    branch = made.block.ops[-1]
    assert (branch.name, branch.inputs) == ("if", [made.inputs[1]])
    assert branch.blocks[1].results == [made.inputs[0]]
    operations[2] = operation("select_input", {"X": ["t", "x"], "Mask": ["m"]}, {"Out": ["out"]})
    operations[0] = _conditional(1, "n", "t")
    operations.insert(0, operation("logical_not", {"X": ["c"]}, {"Out": ["n"]}))
    variables.append(variable("n", [], kind=0))
    made = model(variables, operations, ([], [operation("exp", {"X": ["x"]}, {"Out": ["t"]})]), feed="x c")
    branch = made.block.ops[-1]
    assert branch.inputs == made.block.ops[0].outputs
    assert [op.name for op in branch.blocks[0].ops] == ["exp"]


def test_branches_that_do_not_belong_together() -> None:
    variables = [variable(name, [], kind=0) for name in "cd"] + [variable(name) for name in ("x", "s", "t", "m", "out")]
    operations = [
        _conditional(1, "c", "t"),
        _conditional(2, "d", "s"),
        operation("select_input", {"X": ["s", "t"], "Mask": ["c"]}, {"Out": ["out"]}),
    ]
    blocks = [([], [operation("exp", {"X": ["x"]}, {"Out": [name]})]) for name in ("t", "s")]
    with pytest.raises(ValueError, match="not each other's negation"):
        model(variables, operations, *blocks, feed="x c d")
    with pytest.raises(ValueError, match="'t' has a value in one branch of a condition only"):
        model(variables, [operations[0], operation("exp", {"X": ["t"]}, {"Out": ["out"]})], blocks[0], feed="x c d")


@pytest.mark.parametrize("index", [0, 1, 7, -1])
def test_blocks_within_themselves(index: int) -> None:
    variables = [variable("x"), variable("c", [], kind=0), variable("out")]
    loop = operation("while", {"Condition": ["c"], "X": ["x"]}, {"Out": ["x"]}, ("sub_block", "block", 1))
    again = operation("while", {"Condition": ["c"], "X": ["x"]}, {"Out": ["x"]}, ("sub_block", "block", index))
    with pytest.raises(ValueError, match="does not exist or"):
        model(variables, [loop], ([], [again]), feed="x c")


def test_operations_that_are_not_known() -> None:
    with pytest.raises(ValueError, match=r"the operation 'run_program' of \.pdmodel files is not known"):
        model([variable("x")], [operation("run_program", {}, {})])
    with pytest.raises(ValueError, match="hard_swish with threshold 7"):
        model(
            [variable("x"), variable("out")],
            [operation("hard_swish", {"X": ["x"]}, {"Out": ["out"]}, ("threshold", "float", 7.0))],
        )
    with pytest.raises(ValueError, match="the variable 'nothing' is read before it has a value"):
        model([variable("x"), variable("out")], [operation("relu", {"X": ["nothing"]}, {"Out": ["out"]})])


def test_the_table() -> None:
    rows = table.rows()
    legacy = [row.legacy for row in rows if row.legacy]
    assert len(legacy) == len(set(legacy))
    written = [row.name for row in rows if row.both_ways]
    assert len(written) == len(set(written))
    assert len(known_operations()) > 350
    assert table.find("relu_") is table.find("relu")
    assert table.find("matmul") is not None
    assert table.by_name()["reshape"].legacy == "reshape2"
    conv = table.by_name()["conv2d"]
    assert [spec.default for spec in conv.attributes] == [[1, 1], [0, 0], "EXPLICIT", [1, 1], 1, "NCHW"]
