"""paddle.Model: one batch, whole datasets, and what Paddle 3.3.1 was seen to give for the same weights and data."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.static import InputSpec


def test_fit_gives_paddles_losses_and_calls(make_model, batches, recorder):
    model = make_model([paddle.metric.Accuracy(topk=(1, 2))])
    assert model.fit(batches(10, 4), batches(4, 4), epochs=2, verbose=0, callbacks=[recorder]) is None
    epoch = ["on_epoch_begin", *["on_train_batch_begin", "on_train_batch_end"] * 3, "on_epoch_end"]
    evaluation = ["on_eval_begin", "on_eval_batch_begin", "on_eval_batch_end", "on_eval_end"]
    assert recorder.names() == ["on_train_begin", *(epoch + evaluation) * 2, "on_train_end"]
    assert recorder.losses() == [1.1798, 1.1097, 1.0966, 1.1668, 1.1156, 1.0714]

    by_name = {name: (number, logs) for name, number, logs in recorder.calls}
    assert by_name["on_train_begin"] == (None, None)
    assert by_name["on_epoch_begin"] == (1, None)
    number, logs = by_name["on_train_batch_end"]
    assert list(logs) == ["loss", "acc_top1", "acc_top2", "step", "batch_size"]
    assert number == logs["step"] == 2
    assert (logs["acc_top1"], logs["acc_top2"], logs["batch_size"]) == (0.2, 0.6, 2)
    assert by_name["on_eval_begin"][1] == {"steps": 1, "metrics": ["loss", "acc_top1", "acc_top2"]}
    assert by_name["on_eval_end"][1]["loss"] == pytest.approx([1.1547391], abs=1e-6)
    assert recorder.calls[2][1:] == (0, {})  # nothing is known before the first batch
    assert recorder.calls[4][2] == recorder.calls[3][2]  # then what the batch before gave
    assert recorder.params == {
        "batch_size": None, "epochs": 2, "steps": 3, "verbose": 0, "metrics": ["loss", "acc_top1", "acc_top2"],
    }  # fmt: skip
    assert recorder.model is model


def test_evaluate_and_predict(make_model, batches, recorder):
    model = make_model()
    model.fit(batches(10, 4), epochs=2, verbose=0)
    result = model.evaluate(batches(4, 2), verbose=0)
    assert list(result) == ["loss", "acc"]
    assert result["loss"] == pytest.approx([1.0984739], abs=1e-6)
    assert result["acc"] == 0.25
    assert model.evaluate(batches(4, 2), verbose=0, num_iters=1)["acc"] == 0.0

    outputs = model.predict(batches(5, 2), verbose=0, callbacks=[recorder])
    assert isinstance(outputs, list)
    assert isinstance(outputs[0], tuple)
    assert [array.shape for array in outputs[0]] == [(2, 3), (2, 3), (1, 3)]
    stacked = model.predict(batches(5, 2), verbose=0, stack_outputs=True)
    np.testing.assert_allclose(stacked[0], np.concatenate(outputs[0]), rtol=1e-5)
    np.testing.assert_allclose(stacked[0], model.predict_batch([batches(5, 5).x])[0], rtol=1e-5)
    batch = ["on_predict_batch_begin", "on_predict_batch_end"]
    assert recorder.names() == ["on_predict_begin", *batch * 3, "on_predict_end"]
    assert recorder.calls[-1][2] == {"step": 2, "batch_size": 1}
    assert model.predict([], verbose=0) == []
    assert model.evaluate([], verbose=0) == {}


def test_one_batch(make_model, batches):
    model, data = make_model(), batches(4, 4)
    losses, accuracy = model.train_batch([data.x], [data.y])
    assert isinstance(losses[0], np.ndarray)
    assert losses[0].shape == ()
    assert accuracy == [0.25]
    np.testing.assert_allclose(losses[0], 1.179764, rtol=1e-6)  # observed in Paddle
    tensors = paddle.to_tensor(data.x), paddle.to_tensor(data.y)
    np.testing.assert_allclose(model.eval_batch(*tensors)[0][0], 1.1647836, rtol=1e-6)
    assert not model.network.training
    assert model.mode == "eval"
    without = make_model(metrics=None)
    assert without.train_batch(*tensors)[0] == pytest.approx(1.179764, abs=1e-6)
    assert without.network.training
    model.prepare(None, None, paddle.metric.Accuracy())
    assert model.eval_batch([data.x], [data.y]) == [0.25]
    assert model.evaluate(data, verbose=0) == {"acc": 0.25}
    model.prepare()
    assert model.eval_batch([data.x], [data.y]) == []


def test_gradients_are_accumulated_without_update(make_model, batches):
    model, data = make_model(metrics=None), batches(8, 4)
    reference = make_model(metrics=None)
    for _ in range(2):  # the sum of the gradients of both halves, and one update
        (first, first_label), (second, second_label) = data
        model.train_batch([first], [first_label], update=False)
        model.train_batch([second], [second_label])
        loss = 0.0
        for x, y in data:
            loss = loss + nn.functional.cross_entropy(reference.network(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        reference._optimizer.step()
        reference._optimizer.clear_grad()
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("settings", "losses", "sums"),
    [  # observed in Paddle: the loss of every step, the sums of the parameters at the end
        ({}, [1.2259, 1.1415, 1.0902, 1.1520, 1.1170], [-0.7396256, -0.5899861]),
        ({"accumulate_grad_batches": 2}, [1.2259, 1.1336, 1.0913, 1.1320, 1.1127], [-0.7607449, -0.6033463]),
        ({"accumulate_grad_batches": 7}, [1.2259, 1.1336, 1.0581, 1.1583, 1.0822], [-0.7543319, -0.5994866]),
        (
            {"accumulate_grad_batches": 3, "epochs": 2},
            [1.2259, 1.1336, 1.0581, 1.1485, 1.1028, 1.1957, 1.1150, 1.0938, 1.1181, 1.0932], [-0.7675790, -0.6027849],
        ),
    ],
)  # fmt: skip
def test_accumulated_batches(make_model, batches, recorder, settings, losses, sums):
    model = make_model(metrics=None)
    model.fit(batches(10, 2), verbose=0, callbacks=[recorder], **settings)
    assert recorder.losses() == losses
    np.testing.assert_allclose([p.numpy().sum() for p in model.parameters()][:2], sums, atol=1e-5)


def test_num_iters_counts_over_epochs(make_model, batches, recorder):
    make_model().fit(batches(10, 2), num_iters=7, epochs=3, verbose=0, callbacks=recorder)
    assert recorder.names().count("on_train_batch_end") == 7
    assert recorder.names().count("on_epoch_end") == 2
    assert recorder.params["epochs"] == 2
    assert recorder.params["steps"] == 5
    assert recorder.losses()[-2:] == [1.1956, 1.1250]
    recorder.calls.clear()
    make_model().fit(batches(10, 2), num_iters=2, verbose=0, callbacks=recorder)
    assert recorder.params["steps"] == 2
    assert recorder.names().count("on_train_batch_end") == 2


def test_evaluation_every_other_epoch(make_model, batches, recorder):
    make_model().fit(batches(4, 2), batches(4, 4), epochs=4, eval_freq=2, verbose=0, callbacks=[recorder])
    assert recorder.names().count("on_eval_end") == 2


def test_a_generator_is_gone_through_once(make_model, batches, recorder):
    with pytest.warns(UserWarning, match="no batches in epoch 2"):
        make_model().fit(iter(batches(6, 2)), epochs=2, verbose=0, callbacks=[recorder])
    assert recorder.params["steps"] is None
    assert recorder.names().count("on_train_batch_end") == 3


class Two(nn.Layer):
    """Two inputs, two outputs."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, first, second):
        return self.linear(first), self.linear(second) * 2


def two_losses(first, second, label, other):
    entropy = nn.functional.cross_entropy
    return [entropy(first, label), entropy(second, other)]


@pytest.mark.parametrize("form", [list, tuple, lambda losses: dict(zip("ab", losses, strict=True))])
def test_several_inputs_labels_and_losses(batches, recorder, form):
    model = paddle.Model(Two())
    model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), lambda *values: form(two_losses(*values)))
    data = [(x, x, y, y) for x, y in batches(4, 2)]
    before = model.eval_batch([data[0][0]] * 2, [data[0][2]] * 2)
    assert len(before) == 2
    assert before[0] != before[1]
    model.fit(data, verbose=0, callbacks=[recorder])
    first = next(logs for name, _, logs in recorder.calls if name == "on_train_batch_end")
    assert first["loss"] == pytest.approx([float(loss) for loss in before], abs=1e-6)
    outputs = model.predict(data, verbose=0, stack_outputs=True)
    assert [array.shape for array in outputs] == [(4, 3), (4, 3)]
    np.testing.assert_allclose(outputs[1], 2 * outputs[0], rtol=1e-6)


class Labelled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x, extra=None):
        return {"out": self.linear(x if extra is None else x + extra)}


def test_input_specs_say_where_labels_begin(batches):
    model = paddle.Model(Labelled(), [InputSpec([None, 4], "float32", "x")], [InputSpec([None, 1], "int64", "y")])
    model.prepare(
        paddle.optimizer.SGD(0.1, parameters=model.parameters()),
        lambda output, label: nn.functional.cross_entropy(output["out"], label),
    )
    model.fit(({"x": x, "y": y} for x, y in batches(4, 2)), verbose=0)
    outputs = model.predict(batches(4, 2), verbose=0, stack_outputs=True)
    assert outputs[0]["out"].shape == (4, 3)


class Counted(paddle.metric.Metric):
    """A metric of several values that wants arrays."""

    def __init__(self):
        super().__init__()
        self.updates, self.resets = 0, 0

    def name(self):
        return ["updates", "twice"]

    def compute(self, *values):
        assert all(isinstance(value, paddle.Tensor) for value in values)
        return values

    def update(self, *values):
        assert all(isinstance(value, np.ndarray) for value in values)
        self.updates += 1
        return self.updates

    def accumulate(self):
        return [self.updates, 2.0 * self.updates]

    def reset(self):
        self.updates, self.resets = 0, self.resets + 1


def test_own_metrics_get_arrays(make_model, batches, recorder):
    metric = Counted()
    model = make_model([metric, paddle.metric.Accuracy()])
    model.fit(batches(4, 2), verbose=0, callbacks=[recorder])
    last = recorder.calls[-1][2]
    assert (last["updates"], last["twice"], last["acc"]) == (2, 4.0, 0.25)
    assert metric.updates == 0
    assert model.train_batch([batches(4, 4).x], [batches(4, 4).y])[1] == [1, 0.25]


def test_values_are_read_only_when_somebody_looks(make_model, batches, monkeypatch):
    reads = []
    item = paddle.Tensor.item
    monkeypatch.setattr(paddle.Tensor, "item", lambda self, *a: reads.append(1) or item(self, *a))
    make_model().fit(batches(20, 2), verbose=0)
    assert len(reads) == 1  # at the end of the epoch

    class Curious(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            if step == 3:
                logs.get("loss")

    make_model().fit(batches(20, 2), verbose=0, callbacks=[Curious()])
    assert len(reads) == 3


def test_a_hot_step_is_one_program(batches):
    network = nn.Sequential(nn.Linear(4, 11), nn.ReLU(), nn.Linear(11, 3))  # of a size that no other test has
    model, data = paddle.Model(network), batches(16, 4)
    model.prepare(
        paddle.optimizer.Adam(parameters=model.parameters()), nn.CrossEntropyLoss(), paddle.metric.Accuracy((1, 2))
    )
    model.fit(data, epochs=3, verbose=0)
    paddle.jit.reset_statistics()
    model.fit(data, epochs=5, verbose=0)
    text = str(paddle.jit.explain())
    assert "20 run(s) of compiled programs; 0 cold run(s)" in text, text


def test_layers_are_in_the_mode_of_the_loop(make_model, batches):
    model = make_model()
    seen = []
    model.network[1].register_forward_post_hook(lambda layer, x, y: seen.append(layer.training))
    model.fit(batches(2, 2), batches(2, 2), verbose=0)
    model.predict(batches(2, 2), verbose=0)
    assert seen == [True, False, False]


def test_mixed_precision_options_are_checked(make_model):
    assert make_model(amp_configs="O0")._precision.is_plain
    with pytest.raises(ValueError, match="'O0', 'O1' or 'O2'"):
        make_model(amp_configs="O7")
    with pytest.raises(ValueError, match=r"no option \['foo'\]"):
        make_model(amp_configs={"level": "O1", "foo": 1})
    with pytest.raises(TypeError, match="a level or a dictionary"):
        make_model(amp_configs=3)


def test_mixed_precision_trains(make_model, batches, recorder):
    model = make_model(amp_configs={"level": "O1", "dtype": "bfloat16"})
    model.fit(batches(10, 4), epochs=2, verbose=0, callbacks=[recorder])
    np.testing.assert_allclose(recorder.losses(), [1.1798, 1.1097, 1.0966, 1.1668, 1.1156, 1.0714], atol=0.02)
    assert model.predict_batch([batches(2, 2).x])[0].dtype.name == "bfloat16"


def test_bad_arguments(make_model, batches):
    model = make_model()
    with pytest.raises(TypeError, match="network must be a Layer"):
        paddle.Model("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be InputSpecs"):
        paddle.Model(model.network, [1])
    with pytest.raises(TypeError, match="loss must be a Layer or a function"):
        model.prepare(None, "loss")
    with pytest.raises(TypeError, match="metrics must be Metrics"):
        model.prepare(None, None, "acc")
    with pytest.raises(TypeError, match="optimizer must be an Optimizer"):
        model.prepare("sgd")
    with pytest.raises(TypeError, match="callbacks must be Callbacks"):
        model.fit(batches(4, 2), verbose=0, callbacks=["x"])
    for name, value in {"epochs": 0, "eval_freq": 0, "num_iters": 0, "accumulate_grad_batches": 0}.items():
        with pytest.raises(ValueError, match=f"{name} must be a positive integer"):
            model.fit(batches(4, 2), verbose=0, **{name: value})
    with pytest.raises(ValueError, match="num_iters must be a positive integer"):
        model.evaluate(batches(4, 2), verbose=0, num_iters=0)
    with pytest.raises(ValueError, match="log_freq"):
        model.fit(batches(4, 2), log_freq=0)
    with pytest.raises(ValueError, match="no train_data"):
        model.fit()
    with pytest.raises(ValueError, match="has no batches"):
        model.fit([])
    for data in ("abc", 3):
        with pytest.raises(TypeError, match="a Dataset, a DataLoader or an iterable"):
            model.fit(data)
    with pytest.raises(TypeError, match="made of tensors and arrays"):
        model.train_batch([object()], [batches(2, 2).y])
    with pytest.raises(RuntimeError, match=r"call model.prepare\(optimizer, loss\) first"):
        paddle.Model(model.network).fit(batches(4, 2))


def test_bad_losses_and_networks(make_network, batches):
    model = paddle.Model(make_network())
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    x, y = next(iter(batches(4, 4)))
    model.prepare(optimizer, nn.CrossEntropyLoss(reduction="none"))
    with pytest.raises(ValueError, match="must be a single number"):
        model.train_batch([x], [y])
    model.prepare(optimizer, lambda output, label: 3.0)
    with pytest.raises(TypeError, match="must give a Tensor"):
        model.train_batch([x], [y])

    class Any(nn.Layer):
        def forward(self, *inputs):
            return inputs[0]

    anything = paddle.Model(Any())
    with pytest.raises(ValueError, match="where the labels begin"):
        anything.predict(batches(4, 2), verbose=0)


def test_outputs_that_cannot_be_stacked(batches):
    class Sum(nn.Layer):
        def forward(self, x):
            return x.sum()

    model = paddle.Model(Sum())
    assert len(model.predict(batches(4, 2), verbose=0)[0]) == 2
    with pytest.raises(ValueError, match="cannot be stacked"):
        model.predict(batches(4, 2), verbose=0, stack_outputs=True)


def test_a_mode_that_is_none_is_refused() -> None:
    model = paddle.Model(paddle.nn.Dropout(0.5))
    with pytest.raises(ValueError, match="mode must be 'train', 'eval' or 'test'; received mode: 'nonsense'"):
        model.set_mode("nonsense")
    assert model.network.training
