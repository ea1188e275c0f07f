"""The toolkit for Programs: numbered scalars, the one walk over a Program, and writing one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.ir.editing import Editor, changed, extracted
from proa.ir.program import DynamicScalar, Program, numbered
from proa.ir.recorder import LOCAL, flush_current
from proa.ir.tiers.interpreter import run_on_numpy
from proa.ir.tiers.lowering import CompiledProgram
from proa.ir.verify import problems_of, verify

PACKAGE = Path(paddle.__file__).parent
X = np.array([1.0, -2.0, 3.0], "float32")


def recorded(function: Any, *arrays: np.ndarray) -> tuple[Program, list[Any], list[Any]]:
    """What a function records, with the values of its inputs and scalars."""
    flush_current()
    result = function(*[paddle.to_tensor(array) for array in arrays])
    segment = LOCAL.segment
    return segment.node.program((result._index,)), list(segment.inputs), list(segment.scalars)


def run(program: Program, inputs: list[Any], scalars: list[Any]) -> np.ndarray:
    return run_on_numpy(program, inputs, scalars)[program.outputs[0]]


# ---- scalars -----------------------------------------------------------------------------------------------------------


def test_scalars_are_numbered_along_the_path() -> None:
    program, _, scalars = recorded(lambda x: (x * 2.5 + 3) * 0.5, X)
    assert scalars == [2.5, 3, 0.5]
    float32 = np.dtype("float32")
    assert program.scalars == [
        DynamicScalar(0, float, float32), DynamicScalar(1, int, float32), DynamicScalar(2, float, float32),
    ]  # fmt: skip
    assert program.num_scalars == 3
    assert "<float>" in str(program)
    verify(program, scalars)


def test_a_path_that_is_walked_again_has_the_same_numbers() -> None:
    first, _, _ = recorded(lambda x: x * 2.5 + 3.0, X)
    second, inputs, scalars = recorded(lambda x: x * 4.5 + 5.0, X)
    assert [i.operands for i in first.instructions] == [i.operands for i in second.instructions]
    np.testing.assert_array_equal(run(second, inputs, scalars), X * 4.5 + 5)


def test_a_slice_is_given_the_scalars_of_the_whole() -> None:
    def compute(x: Any) -> Any:
        kept = [x * 2.5, x + 7.0]  # the first is of no use to the result
        return kept[1] * 0.5

    program, inputs, scalars = recorded(compute, X)
    part = program.slice(program.outputs)
    assert len(part.instructions) == 2
    assert [scalar.number for scalar in part.scalars] == [1, 2]
    np.testing.assert_array_equal(run(part, inputs, scalars), (X + 7) * 0.5)
    compiled = CompiledProgram(part, inputs, scalars, LOCAL.place, (), False)
    np.testing.assert_allclose(np.asarray(compiled(inputs, scalars)[0]), (X + 7) * 0.5)


def test_an_executable_without_scalars_ignores_those_of_the_whole() -> None:
    program, inputs, scalars = recorded(lambda x: (x * 2.5, x + x)[1], X)
    part = program.slice(program.outputs)
    assert part.scalars == []
    compiled = CompiledProgram(part, inputs, scalars, LOCAL.place, (), False)
    np.testing.assert_array_equal(np.asarray(compiled(inputs, scalars)[0]), X + X)


def test_a_refused_call_takes_its_scalars_back() -> None:
    """Numbers go on where they were: what is recorded next meets its own."""
    flush_current()
    x = paddle.to_tensor(X)
    y = x * 2.0
    with pytest.raises(IndexError):
        paddle.to_tensor(X)[paddle.to_tensor([7])] + 9.0
    z = y + 5.0
    assert LOCAL.segment.node.program(()).num_scalars == len(LOCAL.segment.scalars)
    np.testing.assert_array_equal(z.numpy(), X * 2 + 5)


def test_types_become_the_next_scalars() -> None:
    float32, int64 = np.dtype("float32"), np.dtype("int64")
    known = DynamicScalar(0, float, float32)
    assert numbered((-1, known, int, None, 4), (float32, int64), 6) == (
        -1,
        known,
        DynamicScalar(6, int, int64),
        None,
        4,
    )
    assert numbered((), (), 3) == ()


def test_one_number_is_of_one_type() -> None:
    program, _, scalars = recorded(lambda x: x * 2.5 + 3, X)
    first, second = program.instructions
    shared = changed(second, operands=(second.operands[0], second.operands[1]._replace(number=0)))
    assert "taken as" in problems_of(Program(program.inputs, [first, shared], program.outputs), scalars)[0]


# ---- walking -----------------------------------------------------------------------------------------------------------


def test_evaluate_computes_whatever_a_call_gives() -> None:
    """With texts in the place of arrays it writes the formula."""
    program, _, scalars = recorded(lambda x, y: paddle.maximum(x * 2.5, y) + 3.0, X, X)

    def call(instruction: Any, arguments: list[Any]) -> tuple[str]:
        return (f"{instruction.operation.name}({', '.join(arguments)})",)

    values = program.evaluate(call, ["x", "y"], lambda operand: str(scalars[operand.number]))
    assert values[program.outputs[0]] == "add(maximum(multiply(x, 2.5), y), 3.0)"
    assert [value for number, value in enumerate(values) if number not in program.outputs] == [None, None]


def test_evaluate_may_keep_what_nobody_needs_any_more() -> None:
    """Operands that are inputs are found from the end of the list of values: all of them, in their order."""
    program, _, scalars = recorded(lambda x, y: (x - y) * x, X, X)

    def values() -> list[Any]:
        def call(instruction: Any, given: list[str]) -> tuple[str]:
            return (f"({instruction.operation.name} {' '.join(given)})",)

        return program.evaluate(call, ("x", "y"), str, keeps=True)

    assert scalars == []
    assert values() == ["(subtract x y)", "(multiply (subtract x y) x)"]
    assert values() == [None, "(multiply (subtract x y) x)"]  # the second time it is worth dropping them


def test_evaluate_gives_none_for_what_is_absent_and_keeps_all_outputs() -> None:
    flush_current()
    x, weight = paddle.ones([2, 3]), paddle.ones([3, 4])
    result = paddle.nn.functional.linear(x, weight)
    program = LOCAL.segment.node.program((x._index, result._index))
    seen: list[list[bool]] = []

    def call(instruction: Any, arguments: list[Any]) -> list[str]:
        seen.append([argument is None for argument in arguments])
        return [instruction.operation.name for _ in instruction.outputs]

    values = program.evaluate(call, [], lambda operand: operand)
    assert seen[-1] == [False, False, True]  # no bias
    assert (values[x._index], values[weight._index], values[result._index]) == ("ones", None, "linear")


def test_a_call_may_give_its_one_result_as_an_array() -> None:
    program, inputs, scalars = recorded(lambda x: paddle.tanh(x) * 2.0 + x, X)
    kernels = {"tanh": np.tanh, "multiply": np.multiply, "add": np.add}
    given = [lambda i, a: kernels[i.operation.name](*a), lambda i, a: [kernels[i.operation.name](*a)]]
    for call in given:
        values = program.evaluate(call, inputs, lambda operand: operand.dtype.type(scalars[operand.number]))
        np.testing.assert_allclose(values[program.outputs[0]], np.tanh(X) * 2 + X, rtol=1e-6)


def test_a_slice_keeps_a_call_for_any_of_its_results() -> None:
    def compute(x: Any) -> Any:
        first, second, third = paddle.split(x, 3)
        unused = first * 2.0  # noqa: F841
        return second - third

    program, inputs, scalars = recorded(compute, X)
    sliced = program.slice(program.outputs)
    assert [i.operation.name for i in sliced.instructions] == ["split", "subtract"]
    np.testing.assert_array_equal(run(sliced, inputs, scalars), X[1:2] - X[2:])
    last = program.slice((program.instructions[0].index + 2,))
    assert [i.operation.name for i in last.instructions] == ["split"]


def test_instructions_of_different_paths_share_what_they_were_called_with() -> None:
    first, _, _ = recorded(lambda x: x + x * x, X)
    second, _, _ = recorded(lambda x: (x - x) + x, X)
    kinds = [i.kinds for p in (first, second) for i in p.instructions if i.operation.name == "add"]
    assert len(kinds) == 2
    assert kinds[0] is kinds[1]


# ---- writing -----------------------------------------------------------------------------------------------------------


def test_an_editor_copies_adds_and_renumbers() -> None:
    program, inputs, scalars = recorded(lambda x: paddle.exp(x * 2.5), X)
    product, exponential = program.instructions
    editor = program.edit()
    made = editor.copy(product)
    shifted = editor.add(product.operation, [made.index, float])
    editor.copy(exponential, [shifted.index])
    written = editor.program(program.outputs)
    verify(written, [*scalars, 0.25])
    assert [scalar.number for scalar in written.scalars] == [0, 1]
    np.testing.assert_allclose(run(written, inputs, [*scalars, 0.25]), np.exp(X * 2.5 * 0.25), rtol=1e-6)


def test_what_is_copied_twice_means_the_later_one() -> None:
    program, inputs, scalars = recorded(lambda x: (x + 1.0) * 3.0, X)
    first, second = program.instructions
    editor = program.edit()
    editor.copy(first)
    again = editor.copy(first, [editor.numbers[0], *first.operands[1:]])
    last = editor.copy(second)
    assert last.operands[0] == again.index
    np.testing.assert_array_equal(run(editor.program(program.outputs), inputs, scalars), (X + 2) * 3)


def test_an_operand_that_was_not_written_is_refused() -> None:
    program, _, _ = recorded(lambda x: (x + 1.0) * 3.0, X)
    with pytest.raises(KeyError):
        program.edit().copy(program.instructions[1])
    with pytest.raises(KeyError):
        Editor([]).add(program.instructions[0].operation, [~0, float])


def test_equal_parts_are_equal_programs() -> None:
    def compute(x: Any) -> Any:
        for _ in range(2):
            x = x * 2.5 + 3.0
        return x

    program, inputs, scalars = recorded(compute, X)
    halves = [extracted(program.instructions[i : i + 2], [i + 1]) for i in (0, 2)]
    shown = {tuple((i.operation, i.operands, i.index) for i in part.instructions) for part, _, _ in halves}
    assert len(shown) == 1
    assert [(arguments, numbers) for _, arguments, numbers in halves] == [([~0], [0, 1]), ([1], [2, 3])]
    value = inputs[0]
    for part, _, numbers in halves:
        verify(part)
        value = run(part, [value], [scalars[number] for number in numbers])
    np.testing.assert_array_equal(value, (X * 2.5 + 3) * 2.5 + 3)


def test_inputs_that_are_asked_for_come_first_and_stay() -> None:
    program, _, _ = recorded(lambda x, y, z: y + x + z * 0, X, X * 2, X * 3)
    part, arguments, _ = extracted(program.instructions[:1], [0], [(~2, program.inputs[2])])
    assert arguments == [~2, ~0, ~1]
    np.testing.assert_array_equal(run(part, [None, X * 2, X], []), X * 3)


def test_a_part_that_an_instruction_does_not_have() -> None:
    program, _, _ = recorded(lambda x: x * 2.5, X)
    with pytest.raises(AssertionError, match="has no colour"):
        changed(program.instructions[0], colour="red")


# ---- the structure -----------------------------------------------------------------------------------------------------


def test_instructions_are_built_in_two_places_and_blocks_are_known_by_their_type() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    built = {path.name for path, text in sources.items() if re.search(r"(?<!class )\bInstruction\(", text)}
    assert built == {"editing.py", "segment.py"}
    assert not [path for path, text in sources.items() if re.search(r"hasattr\([^)]*\"(program|bound)\"\)", text)]


def test_gradients_are_switched_in_one_place() -> None:
    switching = re.compile(r"LOCAL\.grad_enabled = ")
    found = {path.name for path in PACKAGE.rglob("*.py") if switching.search(path.read_text(encoding="utf-8"))}
    assert found == {"thread_state.py"}


def test_files_of_the_intermediate_representation_stay_small() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in (PACKAGE / "ir").glob("*.py")}
    assert max(lengths.values()) <= 400, max(lengths, key=lambda name: lengths[name])
