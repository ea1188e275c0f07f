"""One predictor, many threads: no answer is another's, and memory does not grow."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa import inference

from .soak import ALLOWED_GROWTH, soak

FIXTURES = Path(__file__).parents[1] / "formats" / "paddle" / "reading" / "fixtures"


@pytest.fixture
def predictor() -> inference.Predictor:
    return inference.create_predictor(inference.Config(str(FIXTURES / "json" / "picture")))


def in_thread(work) -> list:
    """What `work` gives, or raises, in a thread of its own."""
    found: list = []

    def call() -> None:
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return found


def given(scale: float = 1.0) -> np.ndarray:
    with np.load(FIXTURES / "json" / "picture.npz") as kept:
        return kept["in_0"] * np.float32(scale)


@pytest.mark.parametrize("family", ["pictures", "sequences"])
def test_answers_of_many_threads_on_one_predictor(family: str) -> None:
    outcome = soak(family, threads=8, requests=25, inputs=12)
    assert outcome.answers == 200
    assert outcome.wrong == []
    assert outcome.growth() <= 4 * ALLOWED_GROWTH  # short: what is compiled on the way is most of it


def test_threads_do_not_see_each_others_inputs(predictor: inference.Predictor) -> None:
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(given())
    predictor.run()
    mine = predictor.get_output_handle(predictor.get_output_names()[0])
    before = mine.copy_to_cpu()

    def other() -> np.ndarray:
        handle.copy_from_cpu(given(3))
        predictor.run()
        return mine.copy_to_cpu()

    [theirs] = in_thread(other)
    assert not np.allclose(before, theirs)
    np.testing.assert_array_equal(mine.copy_to_cpu(), before)
    predictor.run()
    np.testing.assert_array_equal(mine.copy_to_cpu(), before)
    np.testing.assert_array_equal(handle.copy_to_cpu(), given())


def test_feeding_in_one_thread_and_running_in_another(predictor: inference.Predictor) -> None:
    predictor.get_input_handle("x").copy_from_cpu(given())
    assert in_thread(predictor.run) == [None]
    output = predictor.get_output_handle(predictor.get_output_names()[0])
    [wanted, _] = predictor.run([paddle.to_tensor(given())])
    np.testing.assert_array_equal(output.copy_to_cpu(), wanted.numpy())


def test_a_thread_that_has_fed_one_of_two_inputs_gets_nobody_elses_other(tmp_path: Path) -> None:
    class Sum(paddle.nn.Layer):
        def forward(self, x: paddle.Tensor, y: paddle.Tensor) -> paddle.Tensor:
            return x + y

    specs = [paddle.static.InputSpec([None], "float32", name) for name in "xy"]
    paddle.jit.save(Sum(), str(tmp_path / "sum"), input_spec=specs)
    predictor = inference.create_predictor(inference.Config(str(tmp_path / "sum")))
    for name in "xy":
        predictor.get_input_handle(name).copy_from_cpu(np.ones(3, np.float32))

    def other() -> None:
        predictor.get_input_handle("x").copy_from_cpu(np.zeros(3, np.float32))
        predictor.run()

    [problem] = in_thread(other)
    assert isinstance(problem, RuntimeError)
    assert "an input has no data yet; received y" in str(problem)
