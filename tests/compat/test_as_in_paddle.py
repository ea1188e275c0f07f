"""What programs written for Paddle showed to differ: classes of errors, warnings, texts (seen with Paddle 3.3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn, profiler, signal, static
from proa.audio import features
from proa.text import datasets as texts
from proa.vision import datasets as pictures

X = paddle.ones([1, 32])
ASSERTED: dict[str, Callable[[], Any]] = {
    "n_fft": lambda: signal.stft(X, 64, center=False),
    "no n_fft": lambda: signal.stft(X, 0),
    "hop_length": lambda: signal.stft(X, 8, 0),
    "win_length": lambda: signal.stft(X, 8, win_length=16),
    "pad_mode": lambda: signal.stft(X, 8, pad_mode="other"),
    "window": lambda: signal.stft(X, 8, window=paddle.ones([5])),
    "rank": lambda: signal.stft(paddle.ones([1, 1, 32]), 8),
    "istft, hop_length": lambda: signal.istft(signal.stft(X, 8), 8, 0),
    "istft, n_fft": lambda: signal.istft(signal.stft(X, 8), 16),
    "istft, win_length": lambda: signal.istft(signal.stft(X, 8), 8, win_length=99),
    "Imdb": lambda: texts.Imdb(mode="other"),
    "Imikolov": lambda: texts.Imikolov(mode="other"),
    "Imikolov, data_type": lambda: texts.Imikolov(data_type="other"),
    "Movielens": lambda: texts.Movielens(mode="other"),
    "WMT14": lambda: texts.WMT14(mode="other"),
    "UCIHousing": lambda: texts.UCIHousing(mode="other"),
    "MNIST": lambda: pictures.MNIST(mode="other"),
    "Cifar10": lambda: pictures.Cifar10(mode="other"),
    "Flowers": lambda: pictures.Flowers(mode="other"),
    "MFCC": lambda: features.MFCC(n_mfcc=99, n_mels=8),
    "make_scheduler": lambda: profiler.make_scheduler(closed=-1, ready=1, record=2),
}


@pytest.mark.parametrize("name", ASSERTED)
def test_what_paddle_asserts(name: str) -> None:
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind):
            ASSERTED[name]()


def test_a_negative_number_of_rows_is_of_the_wrong_type() -> None:
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="negative"):
            paddle.eye(-1)


def test_what_a_state_dictionary_lacks_is_said() -> None:
    layer = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="weight is not in the state dictionary") as caught:
        assert layer.set_state_dict({}) == (["weight", "bias"], [])
    assert len(caught) == 2
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"weight has the shape \[3, 3\] in the state dictionary and \[2, 2\]"):
        layer.set_state_dict({"weight": paddle.ones([3, 3]), "bias": paddle.ones([2])})


def test_texts_of_layers_with_parts_and_words_of_their_own() -> None:
    assert repr(nn.LSTM(2, 3)) == "LSTM(2, 3\n  (0): RNN(\n    (cell): LSTMCell(2, 3)\n  )\n)"

    class Named(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.act = nn.ReLU()

        def extra_repr(self) -> str:
            return "a=1\nb=2"

    assert repr(Named()) == "Named(\n  a=1\n  b=2\n\n  (act): ReLU()\n)"


def test_a_smaller_last_batch_of_pictures() -> None:
    paddle.enable_static()
    try:
        main, startup, executor = static.Program(), static.Program(), static.Executor()
        with static.program_guard(main, startup):
            ones = nn.initializer.Constant(1.0)
            made = static.nn.fc(static.data("x", [4, 2, 3, 3]), 2, weight_attr=ones)
        executor.run(startup)
        for rows in (4, 3):
            (found,) = executor.run(main, feed={"x": np.ones((rows, 2, 3, 3), "float32")}, fetch_list=[made])
            np.testing.assert_array_equal(found, np.full((rows, 2), 18.0))
    finally:
        paddle.disable_static()
