"""The model of shared memory, what the generator promises about memory programs, and threads that read."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest

from tests.fuzz import known, reading, runtime
from tests.fuzz.compare import check_expectations, compare, compare_runs
from tests.fuzz.execute import Outcome, execute, execute_all
from tests.fuzz.generator import generate, generate_memory
from tests.fuzz.known import KNOWN, OF_ANY_PROGRAM, explanation
from tests.fuzz.memory import strided
from tests.fuzz.memory.writer import GRID, LARGEST, Writer
from tests.fuzz.pool import ROOT
from tests.fuzz.program import Program
from tests.fuzz.runtime import Entry
from tests.fuzz.worker import MODEL, modelled


def numbers(*shape: int) -> strided.Tensor:
    return strided.to_tensor(np.arange(1.0, 1 + np.prod(shape)).reshape(shape))


def memory(seed: int) -> Program:
    return generate_memory(seed, "proa", random.Random(f"memory {seed}"))


# The model: what Paddle 3.3.1 was seen to do


def test_the_model_follows_a_number_that_is_written_over_itself():
    leaf = strided.to_tensor(np.array([3.0, 4.0, 5.0]), stop_gradient=False)
    x = leaf * 2.0
    x[0:] = strided.unbind(x[1:2], 0)[0]
    assert x.slopes()[leaf].tolist() == [[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("shows", "shares"),
    [
        (lambda x: x[1:3], True),
        (lambda x: x[::-1], True),
        (lambda x: x[:, ::-2], True),
        (lambda x: x[1, 2], True),
        (lambda x: x[:, None, 1], True),
        (lambda x: x.T, True),
        (lambda x: x.diagonal(1), True),
        (lambda x: x.unbind(1)[2], True),
        (lambda x: x.detach(), True),
        (lambda x: x.reshape([4, -1]), True),
        (lambda x: x.T.reshape([6, 2, 2]), True),
        (lambda x: x[:, 1].flatten(), True),
        (lambda x: x[:, 1].view([2, 2]), True),
        (lambda x: x[1:2].squeeze(0), True),
        (lambda x: x.T.reshape([24]), False),
        (lambda x: x[:, :2].flatten(), False),
        (lambda x: x.T.contiguous(), False),
        (lambda x: x.split(2, 1)[1], False),
        (lambda x: x.clone(), False),
    ],
)
def test_the_model_shares_memory_where_paddle_does(shows, shares):
    x = numbers(4, 6)
    before = x.numpy()
    shows(x).fill_(-7.0)
    assert bool((x.numpy() != before).any()) is shares


def test_the_model_reaches_a_base_through_a_view_that_is_gone():
    x = numbers(3, 2, 4)
    v = x[-1:]
    w = v[0, :]
    v *= 2.0  # a new tensor
    w.zero_()
    assert not x.numpy()[2].any()
    assert x.numpy()[:2].all()
    assert v.numpy().all()


def test_the_model_gives_memory_of_its_own_to_what_cannot_be_reshaped_in_place():
    x = numbers(2, 3)
    v = x.T
    v.flatten_()
    v.zero_()
    assert x.numpy().all()
    row = x[0]
    row.unsqueeze_(0)
    row.zero_()
    assert x.numpy().tolist() == [[0, 0, 0], [4, 5, 6]]


def test_gradients_of_the_model_follow_shared_memory():
    leaf = strided.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    x = leaf * 2.0
    part = x[1:]
    part.multiply_(x[:2].clone())  # x = 2a, 4ab, 4bc
    (x * x[::-1]).sum().backward()  # 16abc + 16 a2 b2
    a, b, c = 1.0, 2.0, 3.0
    wanted = [16 * b * c + 32 * a * b * b, 16 * a * c + 32 * a * a * b, 16 * a * b]
    assert leaf.grad is not None
    np.testing.assert_allclose(leaf.grad.numpy(), wanted)


def test_what_is_detached_or_not_recorded_has_no_gradient():
    leaf = strided.to_tensor([1.0, 2.0], stop_gradient=False)
    x = leaf * 3.0
    x.detach().zero_()
    with strided.no_grad():
        x.add_(numbers(2))
    (x * leaf.detach()).sum().backward()
    assert x.numpy().tolist() == [1, 2]
    assert leaf.grad is not None
    assert leaf.grad.numpy().tolist() == [3, 6]


@pytest.mark.parametrize(
    "refused",
    [
        lambda x: x.T.view([24]),
        lambda x: x[0, 0].view([1]),
        lambda x: x[0, 0].reshape([1]),
        lambda x: x.add_(numbers(2, 4, 6)),
        lambda x: x.set_value(numbers(6)),
        lambda x: x.split(4, 1),
        lambda x: x.T.flatten(1, 0),
        lambda x: strided.to_tensor([1.0], stop_gradient=False).zero_(),
    ],
)
def test_the_model_refuses_what_paddle_refuses(refused):
    with pytest.raises(strided.Refused):
        refused(numbers(4, 6))


# The writer


def test_a_statement_that_is_not_allowed_leaves_nothing_behind():
    writer = Writer(random.Random(1), 3)
    assert writer.write("x = paddle.to_tensor(given([2, 3], 5))", binds="x")
    before = [world["x"].numpy() for world in writer.worlds]
    assert not writer.write("x.zero_()\nx.unsqueeze_(0)\ny = x[7, 7]", binds="y")
    assert not writer.write("x.scale_(0.3)")  # not exact in float32
    assert not writer.write("x.scale_(1000.0)")
    assert writer.names == ["x"]
    for world, values in zip(writer.worlds, before, strict=True):
        assert "y" not in world
        np.testing.assert_array_equal(world["x"].numpy(), values)
        assert world["x"].shape == [2, 3]
    assert len(writer.lines) == 1


def test_worlds_have_the_numbers_of_their_repetitions():
    writer = Writer(random.Random(1), 6)
    writer.write("x = paddle.to_tensor(given([vary(2), 3], 5))", binds="x")
    values = [world["x"].numpy() for world in writer.worlds]
    assert len({array.tobytes() for array in values}) == 6
    assert len({array.shape for array in values}) > 1
    for array in values:
        assert np.abs(array).max() <= 2
        assert (array * 8 == np.rint(array * 8)).all()


def test_an_axis_that_only_some_worlds_have_is_refused():
    writer = Writer(random.Random(1), 6)
    writer.write("x = paddle.to_tensor(given([vary(3), 2], 5))", binds="x")
    writer.write("if float(x.sum()) > 0.0:\n    x = x.flatten()")
    assert {len(world["x"].shape) for world in writer.worlds} == {1, 2}
    assert not writer.attempt("y = x.sum(1)")
    assert not writer.attempt("y = paddle.concat([x, x], 1)")
    assert writer.attempt("y = x.sum(-1)")


REQUIRED = {
    "None in subscript", "add_", "arithmetic", "augmented assignment", "augmented setitem", "branch on value",
    "change of shared memory", "changing shapes", "chunk", "clip_", "contiguous", "copy", "copy_", "deletion",
    "detach", "diagonal", "early read", "fill_", "fill_diagonal_", "flatten", "flatten_", "function", "gradient",
    "loop", "masked setitem", "memory", "multiply_", "neg_", "negative step", "no_grad", "reshape",
    "reshape of strides", "reshape_", "row of an iteration", "scale_", "set_value", "setitem", "setitem by tensor",
    "setitem with None", "siblings of a tensor that is gone", "slice view", "split", "squeeze", "squeeze_",
    "subtract_", "transpose", "transpose_", "unbind", "unsqueeze", "unsqueeze_", "zero_",
}  # fmt: skip


def test_every_feature_of_memory_programs_appears():
    programs = [memory(seed) for seed in range(300)]
    found = set().union(*(program.features for program in programs))
    assert found >= REQUIRED, sorted(REQUIRED - found)
    marks = set().union(*(program.known for program in programs))
    assert marks <= set(KNOWN)
    for program in programs:
        compile(program.source, program.file_name, "exec")


def test_memory_programs_run_in_the_model_with_exact_numbers():
    for seed in range(40):
        program = memory(seed)
        for outcome in execute_all(modelled(program), MODEL):
            assert outcome.failure is None, (seed, outcome.failure)
            for entry in outcome.entries.values():
                if entry.value is not None and entry.value.dtype == np.float32 and ".grad" not in entry.key:
                    assert np.abs(entry.value).max(initial=0) <= LARGEST * 60, (seed, entry)
                    assert (entry.value * GRID == np.rint(entry.value * GRID)).all(), (seed, entry)


# Repetitions


def test_a_program_is_repeated_with_other_numbers():
    source = "from tests.fuzz.runtime import changing, record\nrecord('x', changing([0.5, 0.25, -1.0]))\n"
    outcomes = execute_all(Program(seed=-1, source=source, features=frozenset(), repetitions=6), "numpy")
    values = [np.asarray(outcome.entries["x#0"].value) for outcome in outcomes]
    assert len({array.tobytes() for array in values}) == 6
    for array in values:
        assert np.abs(array).max() <= 1.0
        assert np.allclose(array * 1000, np.rint(array * 1000), atol=1e-4)


def test_integers_and_truths_keep_their_kind():
    with runtime.repetition_is(2):
        assert runtime.changing([1, 2, 3]) == [2, 3, 1]
        assert runtime.changing([True, False]) == [True, False]
        assert runtime.changing([[True], [False], [False]]) == [[False], [False], [True]]


def test_a_difference_tells_its_repetition():
    program = Program(seed=-1, source="", features=frozenset())
    same, other = outcome_of(x=1.0), outcome_of(x=2.0)
    (difference,) = compare_runs(program, [same, same], [same, other], "one against two")
    assert "one against two, repetition 1" in difference.text
    assert difference.key == "x#0"


def outcome_of(**values) -> Outcome:
    entries = {f"{name}#0": Entry(f"{name}#0", np.asarray(value)) for name, value in values.items()}
    return Outcome(entries, None, 0.0)


# Refusals and known differences


def test_a_refused_gradient_is_one_difference():
    program = Program(seed=-1, source="", features=frozenset())
    refused, given = outcome_of(refused=True, x=1.0), outcome_of(refused=False, x=1.0)
    given.entries["y.grad#0"] = Entry("y.grad#0", np.asarray(2.0))
    (first,) = compare(program, refused, given)
    (second,) = compare(program, given, refused)
    assert first.kind == "refused by the reference"
    assert second.kind == "refused by the other run"
    assert explanation(frozenset(), first) is not None  # Paddle is the reference: it may refuse more
    assert explanation(frozenset(), second) is None


def test_known_differences_are_explained_to_people():
    text = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    columns = {line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")}
    rows = [entry.row for entry in (*KNOWN.values(), *OF_ANY_PROGRAM.values())]
    assert [row for row in rows if not any(column.startswith(row) for column in columns)] == []


def test_a_known_difference_covers_its_own_entries_only():
    gradient = compare(Program(-1, "", frozenset()), outcome_of(x=1.0), outcome_of(x=2.0))[0]
    marks = frozenset({"gradient of shared memory"})
    assert explanation(marks, gradient) is None
    assert known.is_comparable(marks)
    assert not known.is_comparable(frozenset({"set_value of a view"}))


# Threads that read


def test_reading_threads_see_the_block_and_end_with_it():
    state = {"value": 0}

    def read() -> np.ndarray:
        time.sleep(0.001)
        return np.asarray(state["value"])

    with reading.while_reading(read) as seen:
        for step in range(5):
            state["value"] = step
            time.sleep(0.02)
    found = [int(one) for one in seen[0]]
    assert found == sorted(set(found))
    assert len(found) > 2
    count = len(seen[0])
    time.sleep(0.02)
    assert len(seen[0]) == count


def test_an_error_of_a_reading_thread_comes_out():
    def read() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError), reading.while_reading(read):
        pass


def test_impossible_reads_are_told():
    history = [[np.zeros(2), np.ones(1)], [np.ones(2), np.full(1, 2.0)]]
    assert reading.are_from(history, [[np.ones(2), np.ones(1)]])
    assert not reading.are_from(history, [[np.array([0.0, 1.0]), np.ones(1)]])
    steps = [[np.full((1, 1), a), np.zeros(1), np.full((1, 1), b), np.zeros(1)] for a, b in ((1.0, 2.0), (3.0, 4.0))]
    batch = np.ones((1, 1))
    assert reading.are_outputs(steps, batch, [np.array([[np.tanh(1.0) * 4.0]])])
    assert not reading.are_outputs(steps, batch, [np.array([[np.tanh(2.0) * 4.0]])])
    outcome = Outcome({"expected: x#0": Entry("expected: x#0", np.asarray(False))}, None, 0.0)
    assert [one.kind for one in check_expectations(outcome, "auto")] == ["impossible read"]


def test_reader_programs_appear_and_run():
    program = next(one for one in map(generate, range(200)) if "readers" in one.features)
    assert re.search(r"^with while_reading\(evaluate", program.source, re.MULTILINE)
    outcome = execute(program, "proa", "auto")
    assert outcome.failure is None
    assert check_expectations(outcome, "auto") == []
