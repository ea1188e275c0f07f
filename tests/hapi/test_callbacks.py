"""Callbacks: when they act, and what Paddle 3.3.1 was seen to do in the same place."""

from __future__ import annotations

import os
import sys
import types

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.callbacks import (
    Callback,
    EarlyStopping,
    LRScheduler,
    ModelCheckpoint,
    ProgBarLogger,
    ReduceLROnPlateau,
    TensorBoard,
    VisualDL,
    WandbCallback,
)


def evaluations(callback, values, name="loss", model=None):
    """Lets a callback see evaluations with these results."""
    callback.set_model(model or types.SimpleNamespace(stop_training=False, save=lambda path: None))
    callback.set_params({})
    callback.on_train_begin()
    seen = []
    for value in values:
        callback.on_eval_end({name: [value] if name == "loss" else value})
        seen.append(callback.model.stop_training)
    return seen


@pytest.mark.parametrize(
    ("settings", "values", "stops"),
    [
        ({"patience": 1}, [3.0, 2.0, 2.0], [False, False, True]),
        ({"patience": 2}, [3.0, 3.1, 2.0, 2.0, 2.0], [False, False, False, False, True]),
        ({"patience": 1, "min_delta": 0.5}, [3.0, 2.8], [False, True]),
        ({"patience": 1, "baseline": 1.0}, [1.5], [True]),
        ({"patience": 0}, [1.0], [True]),  # as in Paddle
        ({"monitor": "acc", "patience": 1}, [0.1, 0.2, 0.2], [False, False, True]),
        ({"monitor": "acc", "patience": 1, "mode": "min"}, [0.3, 0.2, 0.4], [False, False, True]),
        ({"monitor": "score", "patience": 1, "mode": "max"}, [0.3, 0.4, 0.4], [False, False, True]),
    ],
)
def test_early_stopping(settings, values, stops):
    assert evaluations(EarlyStopping(verbose=0, **settings), values, settings.get("monitor", "loss")) == stops


def test_early_stopping_in_fit(make_model, batches, recorder, tmp_path, capsys):
    stopping = EarlyStopping("acc", patience=1, verbose=1)
    model = make_model()
    model.fit(batches(4, 2), batches(4, 2), epochs=6, verbose=0, save_dir=tmp_path, callbacks=[stopping, recorder])
    assert recorder.names().count("on_epoch_end") == 2
    assert model.stop_training
    assert stopping.best_value == 0.25
    assert stopping.stopped_epoch == 2
    text = capsys.readouterr().out
    assert f"Epoch 2: Early stopping.\nBest checkpoint has been saved at {tmp_path / 'best_model'}\n" in text
    assert sorted(os.listdir(tmp_path)) == ["0.pdparams", "1.pdparams", "best_model.pdparams", "final.pdparams"]
    recorder.calls.clear()
    model.fit(batches(4, 2), batches(4, 2), epochs=1, verbose=0)
    assert not model.stop_training  # every fit starts anew


def test_early_stopping_warns():
    with pytest.warns(UserWarning, match="mode huh is unknown"):
        EarlyStopping(mode="huh")
    with pytest.warns(UserWarning, match="should be loss or metric name"):
        assert evaluations(EarlyStopping("missing"), [1.0]) == [False]


def test_early_stopping_wants_an_evaluation(make_model, batches):
    with pytest.warns(UserWarning, match="needs validation data"):
        make_model().fit(batches(4, 2), verbose=0, callbacks=[EarlyStopping()])


def plateau(values, rate=0.1, name="loss", **settings):
    """The learning rates after each evaluation."""
    parameters = nn.Linear(1, 1).parameters()
    model = types.SimpleNamespace(stop_training=False, _optimizer=paddle.optimizer.SGD(rate, parameters=parameters))
    callback = ReduceLROnPlateau(monitor=name, verbose=0, **settings)
    callback.set_model(model)
    callback.on_train_begin()
    rates = []
    for value in values:
        callback.on_eval_end({name: value})
        rates.append(round(model._optimizer.get_lr(), 8))
    return rates


def test_reduce_on_plateau():
    # Observed in Paddle: patience 1 and a delta nothing reaches.
    assert plateau([1.0] * 4, patience=1, min_delta=10) == [0.1, 0.01, 0.001, 0.0001]
    assert plateau([0.25, 0.25, 0.25, 0.25, 0.5, 0.5], name="acc", patience=2, factor=0.5, cooldown=1) == [
        0.1, 0.1, 0.05, 0.05, 0.05, 0.05,
    ]  # fmt: skip
    assert plateau([1.0] * 9, patience=2, factor=0.5, cooldown=2) == [
        0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125,
    ]  # fmt: skip
    assert plateau([1.0] * 6, patience=1, min_lr=0.05) == [0.1, 0.05, 0.05, 0.05, 0.05, 0.05]
    assert plateau([3.0, 2.0, 1.0], patience=1) == [0.1, 0.1, 0.1]


def test_reduce_on_plateau_refuses_and_tells(capsys):
    with pytest.raises(ValueError, match="factor must be less than 1"):
        ReduceLROnPlateau(factor=1.0)
    callback = ReduceLROnPlateau(patience=1)
    optimizer = paddle.optimizer.SGD(0.5, parameters=nn.Linear(1, 1).parameters())
    evaluations(callback, [1.0, 1.0], model=types.SimpleNamespace(stop_training=False, _optimizer=optimizer))
    assert capsys.readouterr().out == "\nEpoch 2: ReduceLROnPlateau reducing learning rate to 0.05.\n"
    schedule = paddle.optimizer.lr.StepDecay(0.5, 1)
    scheduled = paddle.optimizer.SGD(schedule, parameters=nn.Linear(1, 1).parameters())
    with pytest.warns(UserWarning, match="follows a schedule"):
        evaluations(callback, [1.0, 1.0], model=types.SimpleNamespace(stop_training=False, _optimizer=scheduled))


@pytest.mark.parametrize(
    ("settings", "last_epoch", "rate"),
    [  # observed in Paddle for 2 epochs of 4 batches and StepDecay(0.1, 2, gamma=0.5)
        ({}, 8, 0.00625),
        ({"accumulate_grad_batches": 2}, 8, 0.00625),
        ({"callbacks": [LRScheduler(by_step=False, by_epoch=True)]}, 2, 0.05),
    ],
)
def test_schedules_are_stepped(make_network, batches, settings, last_epoch, rate):
    model = paddle.Model(make_network())
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2, gamma=0.5)
    model.prepare(paddle.optimizer.SGD(schedule, parameters=model.parameters()), nn.CrossEntropyLoss())
    model.fit(batches(4, 1), epochs=2, verbose=0, **settings)
    assert (schedule.last_epoch, schedule.last_lr) == (last_epoch, pytest.approx(rate))


def test_user_callbacks_come_before_the_schedule(make_network, batches):
    model = paddle.Model(make_network())
    schedule = paddle.optimizer.lr.StepDecay(0.1, 1, gamma=0.5)
    model.prepare(paddle.optimizer.SGD(schedule, parameters=model.parameters()), nn.CrossEntropyLoss())

    class Rates(Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_train_batch_end(self, step, logs=None):
            self.seen.append(schedule.last_lr)

    rates = Rates()
    model.fit(batches(4, 2), verbose=0, callbacks=rates)
    assert rates.seen == [0.1, 0.05]
    assert schedule.last_lr == 0.025
    with pytest.raises(ValueError, match="exclude each other"):
        LRScheduler(by_step=True, by_epoch=True)


def test_checkpoints_are_saved_when_asked_for(make_model, batches, tmp_path, capsys):
    make_model().fit(batches(4, 2), epochs=3, verbose=0, save_dir=tmp_path, save_freq=2)
    assert sorted(os.listdir(tmp_path)) == ["0.pdparams", "2.pdparams", "final.pdparams"]
    assert capsys.readouterr().out.splitlines() == [
        f"save checkpoint at {tmp_path / name}" for name in ("0", "2", "final")
    ]
    make_model().fit(batches(4, 2), verbose=0, callbacks=[ModelCheckpoint(1, tmp_path / "own")])
    assert sorted(os.listdir(tmp_path / "own")) == ["0.pdparams", "final.pdparams"]
    with pytest.raises(ValueError, match="save_freq"):
        ModelCheckpoint(0)


def test_logs_are_an_ordinary_dictionary(make_model, batches):
    import json
    import pickle

    class Uses(Callback):
        def on_train_batch_end(self, step, logs=None):
            assert isinstance(logs, dict)
            assert "loss" in logs
            assert set(logs) == {"loss", "acc", "step", "batch_size"}
            copies = [dict(logs), {**logs}, logs.copy(), json.loads(json.dumps(logs)), pickle.loads(pickle.dumps(logs))]
            assert all(type(copy) is dict and copy == logs for copy in copies)
            assert isinstance(logs["loss"][0], float)
            assert logs.get("nothing", 5) == 5
            assert repr(logs) == repr(dict(logs))
            assert list(logs.values()) == list(dict(logs).values())
            self.uses = getattr(self, "uses", 0) + 1

    callback = Uses()
    make_model().fit(batches(4, 2), verbose=0, callbacks=[callback])
    assert callback.uses == 2


def test_own_progress_bars_replace_the_default(make_model, batches, capsys):
    make_model().fit(batches(4, 2), verbose=2, callbacks=[ProgBarLogger(log_freq=1, verbose=0)])
    assert capsys.readouterr().out == ""


# ---- writers -------------------------------------------------------------------------------------------------------


class Curves:
    """What a writer wrote, by tag."""

    def __init__(self, log_dir=None):
        self.log_dir, self.values, self.closed = log_dir, {}, False
        Curves.last = self

    def add_scalar(self, tag, value, step):
        self.values.setdefault(tag, []).append((step, value))

    def close(self):
        self.closed = True


@pytest.mark.parametrize(
    ("package", "writer", "callback"),
    [("visualdl", "LogWriter", VisualDL), ("tensorboardX", "SummaryWriter", TensorBoard)],
)
def test_writers_of_curves(monkeypatch, make_model, batches, tmp_path, package, writer, callback):
    monkeypatch.setitem(sys.modules, package, types.SimpleNamespace(**{writer: Curves}))
    chosen = callback(str(tmp_path))
    make_model().fit(batches(10, 4), batches(4, 4), epochs=2, verbose=0, callbacks=[chosen])
    written = Curves.last
    assert written.log_dir == str(tmp_path)
    assert written.closed
    assert sorted(written.values) == ["eval/acc", "eval/loss", "train/acc", "train/loss"]
    steps, losses = zip(*written.values["train/loss"], strict=True)
    assert steps == (1, 2, 3, 4, 5, 6)
    np.testing.assert_allclose(losses, [1.1798, 1.1097, 1.0966, 1.1668, 1.1156, 1.0714], atol=1e-4)
    assert [step for step, _ in written.values["eval/loss"]] == [1, 2]


def test_tensorboard_writes_now_and_then(monkeypatch, make_model, batches, tmp_path):
    monkeypatch.setitem(sys.modules, "tensorboardX", types.SimpleNamespace(SummaryWriter=Curves))
    make_model().fit(batches(10, 2), verbose=0, callbacks=[TensorBoard(tmp_path, update_freq=2)])
    assert [step for step, _ in Curves.last.values["train/loss"]] == [2, 4]
    with pytest.raises(ValueError, match="update_freq"):
        TensorBoard(tmp_path, update_freq=0)


def test_tensorboard_event_files(make_model, batches, tmp_path):
    pytest.importorskip("tensorboardX")
    make_model().fit(batches(4, 2), verbose=0, callbacks=[TensorBoard(tmp_path)])
    (file,) = tmp_path.iterdir()
    assert b"train/loss" in file.read_bytes()
    assert b"train/acc" in file.read_bytes()


def test_wandb(monkeypatch, make_model, batches):
    class Run:
        def __init__(self):
            self.logged, self.finished, self.config = [], False, self

        def update(self, values, allow_val_change=False):
            self.settings = values

        def log(self, values):
            self.logged.append(values)

        def finish(self):
            self.finished = True

    run, arguments = Run(), {}
    fake = types.SimpleNamespace(run=None, init=lambda **given: arguments.update(given) or run)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    make_model().fit(batches(4, 2), batches(4, 4), verbose=0, callbacks=[WandbCallback(project="p", tags=["t"])])
    assert arguments["project"] == "p"
    assert arguments["tags"] == ["t"]
    assert run.finished
    assert run.settings == {"epochs": 1, "steps": 2}
    assert [entry.get("train/step") for entry in run.logged] == [1, 2, None]
    assert "eval/acc" in run.logged[-1]


@pytest.mark.parametrize("name", ["visualdl", "wandb", "tensorboardX"])
def test_missing_packages_are_named(monkeypatch, make_model, batches, tmp_path, name):
    for package in (name, "tensorboard.summary.writer.event_file_writer"):
        monkeypatch.setitem(sys.modules, package, None)
    uses = {
        "visualdl": lambda: make_model().fit(batches(4, 2), verbose=0, callbacks=[VisualDL(str(tmp_path))]),
        "wandb": WandbCallback,
        "tensorboardX": lambda: TensorBoard(tmp_path),
    }
    with pytest.raises(ImportError, match=rf"{name}.* is not installed; pip install {name}"):
        uses[name]()
