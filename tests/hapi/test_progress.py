"""The progress bar: the text Paddle 3.3.1 was seen to write, in a terminal, in a notebook and in a file."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from proa.callbacks import Callback, ProgBarLogger
from proa.hapi import progress
from proa.hapi.progress import ProgressBar, format_duration, format_step_time, format_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000e+00"), (1.0, "1.0000"), (0.001, "1.0000e-03"), (0.00101, "0.0010"), (-1e-4, "-1.0000e-04"),
        (-3.0, "-3.0000"), (123456.0, "123456.0000"), (float("nan"), "nan"), (float("inf"), "inf"), (3, "3"),
        (np.float32(2.5), "2.5000"), (np.int64(3), "3"), (np.array(1.5), "1.5000"), (np.array([1.0, 2.0]), "[1. 2.]"),
        ([1.5, 2.5], "1.5000 2.5000"), ("text", "text"), (None, "None"), (True, "True"),
    ],
)  # fmt: skip
def test_values(value, text):
    assert format_value(value) == text


def test_times():
    assert [format_duration(s) for s in (0.4, 29.9, 238, 356, 3725)] == ["0s", "29s", "3:58", "5:56", "1:02:05"]
    assert [format_step_time(s) for s in (1.2, 0.8, 0.0123, 0.00034)] == [
        "1s/step", "800ms/step", "12ms/step", "340us/step",
    ]  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def narrow_clock(monkeypatch):
    """A clock that goes on by a second each time it is read."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(progress.time, "perf_counter", lambda: float(next(ticks)))


def test_a_terminal_has_one_line_that_is_rewritten(monkeypatch, narrow_clock):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    stream = Terminal()
    bar = ProgressBar(5, "bar", stream)
    for step in range(1, 5):
        bar.show(step, {"loss": [float(step)], "acc": 0.5})
    bar.show(5, {"loss": [9.0], "acc": 0.25}, finished=True)
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "\b" not in text
    assert text.count("\r") == 5
    first, *_, last = text[1:].rstrip("\n").split("\r")
    assert (
        first.rstrip() == "step 1/5 [=====>........................] - loss: 1.0000 - acc: 0.5000 - ETA: 4s - 1s/step"
    )
    assert last.rstrip() == "step 5/5 [==============================] - loss: 9.0000 - acc: 0.2500 - 1s/step"
    assert len(last) >= len(first)  # nothing of the longer line is left


def test_a_line_never_wraps(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    ProgressBar(10, "bar", stream).show(1, {f"metric_{n}": 0.5 for n in range(9)})
    assert len(stream.getvalue().lstrip("\r")) <= 59


@pytest.mark.parametrize("style", ["bar", "lines"])
def test_a_file_has_lines_without_control_characters(style):
    stream = io.StringIO()
    bar = ProgressBar(2000, style, stream)
    bar.show(1, {"loss": [1.5]})
    bar.show(2000, {"loss": [0.5]}, finished=True)
    first, second = stream.getvalue().splitlines()
    assert re.fullmatch(r"step    1/2000 - loss: 1\.5000 - \d+us/step", first)
    assert re.fullmatch(r"step 2000/2000 - loss: 0\.5000 - \d+us/step", second)
    assert not re.search(r"[\r\b\x1b]", stream.getvalue())


def test_notebooks_and_dumb_terminals(monkeypatch):
    class Output(io.StringIO):
        __module__ = "ipykernel.iostream"

    assert progress.can_rewrite(Output())
    monkeypatch.setenv("TERM", "dumb")
    assert not progress.can_rewrite(Terminal())


def run(log_freq, verbose, steps, announced):
    logger = ProgBarLogger(log_freq, verbose)
    logger.set_params({"epochs": 1, "steps": announced, "verbose": verbose, "metrics": ["loss"]})
    logger.on_train_begin()
    logger.on_epoch_begin(0)
    for step in range(steps):
        logger.on_train_batch_begin(step, {})
        logger.on_train_batch_end(step, {"loss": [float(step)], "batch_size": 2, "other": 1})
    logger.on_epoch_end(0, {"loss": [9.0]})
    logger.on_train_end()


def shown(capsys):
    text = capsys.readouterr().out.splitlines()
    assert text[0].startswith("The loss value printed in the log is the current step")
    assert text[1] == "Epoch 1/1"
    return [line.rpartition(" - ")[0] for line in text[2:]]


def test_the_logger_shows_every_nth_step_and_the_last(capsys):
    run(2, 2, 5, 5)
    assert shown(capsys) == ["step 2/5 - loss: 1.0000", "step 4/5 - loss: 3.0000", "step 5/5 - loss: 9.0000"]
    run(3, 1, 5, 5)
    assert shown(capsys) == ["step 3/5 - loss: 2.0000", "step 5/5 - loss: 9.0000"]
    run(2, 2, 3, None)
    assert shown(capsys) == ["step   2 - loss: 1.0000", "step   3 - loss: 9.0000"]
    run(2, 2, 2, 5)  # ended early: the last line is not said twice
    assert shown(capsys) == ["step 2/5 - loss: 1.0000"]
    run(1, 0, 2, 2)
    assert capsys.readouterr().out == ""


def test_timings(capsys):
    run(5, 3, 5, 5)
    (line,) = shown(capsys)
    number = r"\d+\.\d{5}"
    costs = rf"avg_reader_cost: {number} sec - avg_batch_cost: {number} sec - ips: {number} samples/sec"
    pattern = rf"step 5/5 - loss: 9\.0000 - {costs}"
    assert re.fullmatch(pattern, line)


def test_evaluation_and_prediction(make_model, batches, capsys):
    model = make_model()
    model.evaluate(batches(4, 2), log_freq=1, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Eval begin..."
    assert lines[-1] == "Eval samples: 4"
    assert len(lines) == 4
    assert lines[1].startswith("step 1/2 - loss: 1.2259 - acc: 0.0000e+00 - ")
    model.predict(batches(5, 2), verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Predict begin..."
    assert lines[-1] == "Predict samples: 5"
    assert [line.partition(" - ")[0] for line in lines[1:-1]] == ["step 2/3", "step 3/3"]


def test_the_logger_refuses():
    with pytest.raises(ValueError, match="log_freq"):
        ProgBarLogger(0)
    with pytest.raises(ValueError, match="verbose"):
        ProgBarLogger(1, 7)


@pytest.mark.parametrize("times", [["1s/step", "1s/step", "999ms/step"], ["999ms/step", "999ms/step", "1s/step"]])
def test_an_interrupted_line_is_ended(times, monkeypatch, make_model, batches):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")  # nothing is cut off
    remaining = iter(times)
    monkeypatch.setattr(progress, "format_step_time", lambda seconds: next(remaining))
    monkeypatch.setattr(progress, "format_duration", lambda seconds: "3s")
    stream = Terminal()
    monkeypatch.setattr("sys.stdout", stream)

    class Stops(Callback):
        def on_train_batch_end(self, step, logs=None):
            if step == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_model().fit(batches(20, 2), verbose=1, log_freq=1, callbacks=[Stops()])
    assert re.search(r"\r[^\r\n]*/step *\n\Z", stream.getvalue())  # blanks where the line before was longer
