"""What can be seen of programs: text, blocks, checks, pictures, options."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.graph import capture
from proa.ir.editing import changed
from proa.ir.program import Instruction
from proa.ir.program import Program as Instructions
from proa.ir.verify import InvalidProgram, problems_of, verify

static = paddle.static
F = paddle.nn.functional

EAGER = paddle.ones([1])


def _program() -> Any:
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 1, 6, 6]), static.data("y", [None, 1], "int64")
        hidden = static.nn.conv2d(x, 2, 3, act="relu")
        hidden = F.dropout(static.nn.batch_norm(hidden), 0.2)
        logits = static.nn.fc(hidden, 4)
        logits.name = "logits"
        loss = F.cross_entropy(logits, y)
        bounded = static.nn.cond(loss > 1, lambda: loss * 2, lambda: loss)
        paddle.optimizer.Adam(0.1).minimize(bounded)
    return main, startup


def test_a_program_prints_readably() -> None:
    main, startup = _program()
    text = str(main)
    for part in (
        "data x: float32[-1, 1, 6, 6]",
        "parameter conv2d_0.w_0: float32[2, 1, 3, 3]",
        "logits: float32[-1, 4] = add(",
        "fc_0.w_0@GRAD: float32[32, 4]",
        "update fc_0.w_0",
        "block 1 { // inside block 0",
    ):
        assert part in text
    assert "1031520" not in text
    assert "fc_0.w_0: float32[32, 4] = XavierUniform" in str(startup)


def test_blocks_operators_and_variables() -> None:
    main, _ = _program()
    assert main.num_blocks >= 3
    block = main.global_block()
    assert block.has_var("logits")
    assert block.var("logits").shape == [-1, 4]
    assert block.var("logits").op.type == "add"
    assert block.var("logits").block.program is main
    assert isinstance(block.var("logits"), static.Variable)
    assert not isinstance(paddle.nn.initializer.Constant, static.Variable)
    assert [op.type for op in block.ops][:2] == ["conv", "add"] or block.ops[0].type == "conv"
    assert "x" in block.ops[0].input_arg_names
    assert block.ops[0].all_attrs()["stride"] == (1, 1)
    assert {p.name for p in main.all_parameters()} >= {"conv2d_0.w_0", "fc_0.w_0", "batch_norm_0.w_1"}
    assert "logits" in {tensor.name for tensor in main.list_vars()}
    assert isinstance(main.list_vars(), list)  # a list in Paddle, whose length programs ask for
    with pytest.raises(ValueError, match="'nothing'"):
        block.var("nothing")
    paddle.disable_static()
    assert isinstance(paddle.ones([1]).block, type(block))  # that of the default program, as in Paddle
    assert not hasattr(paddle.ones([1]), "op")
    assert isinstance(paddle.ones([1]), static.Variable)  # the name for tensors in either mode
    assert not isinstance(np.ones([1]), static.Variable)
    paddle.enable_static()
    assert not isinstance(EAGER, static.Variable)


def test_programs_and_their_clones_obey_the_rules() -> None:
    main, _ = _program()
    main.verify()
    main.clone().verify()
    main.clone(for_test=True).verify()


_FUNCTIONS = {
    "softmax": lambda x: F.softmax(x),
    "norms": lambda x: F.layer_norm(x, [4]) + x.norm(),
    "indexing": lambda x: x[1:, ::2] * x[0, 0],
    "sorting": lambda x: paddle.topk(x, 2)[0] + paddle.sort(x)[:, :2],
    "linear algebra": lambda x: x.t() @ x,
    "random": lambda x: F.dropout(x, 0.3) + paddle.rand(x.shape),
    "shapes": lambda x: paddle.concat([x.reshape([2, 6]), x.reshape([2, 6])]).transpose([1, 0]).unsqueeze(0),
    "branches": lambda x: static.nn.cond(x.sum() > 0, lambda: x * 2, lambda: x - 1),
    "loop": lambda x: static.nn.while_loop(lambda y: y.sum() < 9, lambda y: [y + 1], [x])[0],
    "gradient": lambda x: paddle.grad((x * x).sum(), x, create_graph=True)[0],
    "several": lambda x: paddle.split(x, 2, 1)[1] + paddle.unstack(x, 1)[0].unsqueeze(1),
    "casts": lambda x: (x.astype("int64") // 2).astype("float32") + x.astype("bool").astype("float32"),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_captured_functions_obey_the_rules(name: str) -> None:
    spec = static.InputSpec([3, 4], "float32", "x")
    capture(_FUNCTIONS[name], [spec]).verify()


def test_each_rule_is_checked() -> None:
    graph = capture(lambda x: (x * 2.0 + 1.0).sum(), [static.InputSpec([3, 4], "float32", "x")])
    good, scalars = graph.program, graph.scalars
    verify(good, scalars)
    first, second, *rest = good.instructions

    def problem(instructions: list[Instruction], numbers: Any = scalars, outputs: Any = good.outputs) -> str:
        found = problems_of(Instructions(good.inputs, instructions, outputs), numbers)
        assert found
        return found[0]

    assert "comes next" in problem([changed(first, index=5), second, *rest])
    assert "not made before" in problem([first, changed(second, operands=(7, *second.operands[1:])), *rest])
    wrong = first.outputs[0].with_shape((9, 9))
    assert "kind says" in problem([first, changed(second, kinds=(wrong, *second.kinds[1:])), *rest])
    assert "shape rule gives" in problem([changed(first, outputs=(wrong,))])
    assert "cannot be a key" in problem([changed(first, attributes=([1],))])
    assert "scalars" in problem(good.instructions, scalars[:-1])
    assert "expected" in problem(good.instructions, ["text", *scalars[1:]])
    assert "no value" in problem(good.instructions, outputs=(99,))
    with pytest.raises(InvalidProgram, match="comes next"):
        verify(Instructions(good.inputs, [changed(first, index=5)], ()))


def test_a_picture_is_svg_with_a_box_for_each_operation(tmp_path: Path) -> None:
    main, _ = _program()
    text = main.draw(str(tmp_path / "program.svg"))
    assert (tmp_path / "program.svg").read_text(encoding="utf-8") == text
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(box.get(key, "")) for key in ("x", "y", "width", "height"))
        for box in root.iter(f"{space}rect")
        if box.get("x")
    ]
    assert len(boxes) >= len(main.global_block().ops)
    for number, (x, y, width, height) in enumerate(boxes):
        for left, top, wide, high in boxes[number + 1 :]:
            assert x + width <= left or left + wide <= x or y + height <= top or top + high <= y
    words = {element.text for element in root.iter(f"{space}text")}
    assert {"conv", "adam_update", "x", "conv2d_0.w_0"} <= words
    graph = capture(lambda x: F.relu(x) < 3, [static.InputSpec([None, 4], "float32", "<x>")])
    assert "&lt;x&gt;" in graph.draw()


def test_options_are_accepted_and_change_nothing() -> None:
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main), static.name_scope("part"), static.device_guard("cpu"):
        out = static.data("x", [2]) + 1
    strategy = static.BuildStrategy()
    strategy.fuse_bn_act_ops = True
    compiled = static.CompiledProgram(main, build_strategy=strategy)
    static.ExecutionStrategy().num_threads = 2
    (value,) = static.Executor().run(compiled, {"x": np.ones(2, "float32")}, [out])
    assert value.tolist() == [2, 2]
    assert static.cpu_places(2) == [paddle.CPUPlace()] * 2
    with pytest.raises(TypeError, match="Program"):
        static.CompiledProgram(3)
    with pytest.raises(ValueError, match="device"), static.device_guard("toaster"):
        pass
    with pytest.raises(RuntimeError, match="IPU"):
        static.IpuStrategy()
