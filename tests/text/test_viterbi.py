"""Viterbi decoding against all sequences tried one by one, and against what Paddle was seen to give."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import proa as paddle


def best(potentials: np.ndarray, transitions: np.ndarray, length: int, tagged: bool) -> tuple[float, list[int]]:
    tags = len(transitions)
    found: tuple[float, list[int]] = (-np.inf, [])
    for path in itertools.product(range(tags), repeat=length):
        score = sum(potentials[time, tag] for time, tag in enumerate(path))
        score += sum(transitions[a, b] for a, b in itertools.pairwise(path))
        if tagged:
            score += transitions[tags - 1, path[0]] + transitions[tags - 2, path[-1]]
        found = max(found, (float(score), list(path)), key=lambda pair: pair[0])
    return found


def decode(potentials: Any, transitions: Any, lengths: Any, *rest: Any) -> tuple[np.ndarray, np.ndarray]:
    scores, paths = paddle.text.viterbi_decode(
        *(paddle.to_tensor(x) for x in (potentials, transitions, lengths)), *rest
    )
    return scores.numpy(), paths.numpy()


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_against_all_sequences(tagged: bool, dtype: str) -> None:
    random = np.random.default_rng(5)
    potentials, transitions = random.normal(size=(4, 6, 4)).astype(dtype), random.normal(size=(4, 4)).astype(dtype)
    lengths = np.array([6, 3, 1, 5])
    for _ in range(4):  # cold, then compiled
        scores, paths = decode(potentials, transitions, lengths, tagged)
    assert paths.dtype == np.int64
    assert scores.dtype == dtype
    assert paths.shape == (4, 6)
    for row, length in enumerate(lengths):
        score, path = best(potentials[row].astype("float64"), transitions.astype("float64"), length, tagged)
        np.testing.assert_allclose(scores[row], score, rtol=1e-5)
        assert paths[row].tolist() == path + [0] * (6 - length)


def test_the_width_is_the_longest_length() -> None:
    random = np.random.default_rng(0)
    potentials, transitions = random.random((3, 5, 4), np.float32), random.random((4, 4), np.float32)
    assert decode(potentials, transitions, np.array([2, 1, 3]))[1].shape == (3, 3)
    scores, paths = decode(potentials, transitions, np.array([0, 0, 0]), False)
    assert paths.shape == (3, 0)
    np.testing.assert_allclose(scores, potentials[:, 0].max(axis=1))
    scores, paths = decode(potentials[:0], transitions, np.zeros(0, "int64"))
    assert (scores.shape, paths.shape) == ((0,), (0, 0))


def test_observed_values() -> None:
    """From PaddlePaddle 3.3.1, with numpy.random.RandomState(0)."""
    state = np.random.RandomState(0)
    potentials, transitions = state.rand(3, 5, 4).astype("float32"), state.rand(4, 4).astype("float32")
    scores, paths = decode(potentials, transitions, np.array([5, 3, 1]))
    np.testing.assert_allclose(scores, [8.341193, 5.374786, 2.4133542], rtol=1e-6)
    assert paths.tolist() == [[2, 2, 2, 0, 2], [0, 3, 0, 0, 0], [2, 0, 0, 0, 0]]
    assert decode(potentials, transitions, np.array([4, 4, 2]))[1].tolist() == [
        [2, 2, 2, 0],
        [0, 2, 3, 0],
        [2, 0, 0, 0],
    ]


def test_the_layer_is_the_function() -> None:
    state = np.random.RandomState(0)
    potentials, transitions = (paddle.to_tensor(state.rand(*shape)) for shape in ((3, 5, 4), (4, 4)))
    lengths = paddle.to_tensor([5, 4, 3])
    layer = paddle.text.ViterbiDecoder(transitions, include_bos_eos_tag=False)
    for one, other in zip(
        layer(potentials, lengths), paddle.text.viterbi_decode(potentials, transitions, lengths, False)
    ):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_bad_input() -> None:
    potentials, transitions = np.zeros((3, 5, 4), "float32"), np.zeros((4, 4), "float32")
    cases = [
        ((potentials[0], transitions, np.array([5])), r"potentials must be \[batch, time, tags\]"),
        ((potentials, transitions[:3, :3], np.array([5, 5, 5])), r"transition_params must be \[tags, tags\]"),
        ((potentials, transitions, np.array([5, 5])), "one for each sequence"),
        ((potentials, transitions, np.array([5.0, 5, 5])), "lengths must be integers"),
        ((potentials, transitions, np.array([9, 5, 5])), r"between 0 and 5; received lengths: \[9, 5, 5\]"),
        ((potentials, transitions, np.array([-1, 5, 5])), "between 0 and 5"),
    ]
    for arguments, words in cases:
        with pytest.raises(ValueError, match=words):
            decode(*arguments)
    with pytest.raises(TypeError, match="lengths must be a Tensor"):
        paddle.text.viterbi_decode(paddle.to_tensor(potentials), paddle.to_tensor(transitions), [5, 5, 5])
