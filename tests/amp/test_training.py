"""Training in mixed precision: loss curves, `decorate`, master weights, saving, recompilation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import proa as paddle
from proa.ir import report

nn = paddle.nn


def numbers(*shape: int, k: int) -> np.ndarray:
    return (np.sin(np.arange(np.prod(shape)) * 0.37 * k + k) * 0.5).reshape(shape).astype(np.float32)


INPUTS = numbers(32, 8, k=3) * 2
LABELS = INPUTS[:, :4].argmax(1)

# Losses of the same network and numbers under PyTorch 2.13's bfloat16 autocast on a CPU (Paddle has none there).
REFERENCE = {
    "SGD": [1.36616, 1.32766, 1.29488, 1.26413, 1.2024, 1.1385, 1.06324, 0.98196, 0.89654, 0.80695,
            0.714, 0.62668, 0.54659, 0.47462, 0.41367, 0.36203, 0.32099, 0.28768, 0.26124, 0.23801],
    "AdamW": [1.36616, 1.33139, 1.30646, 1.27362, 1.23802, 1.19719, 1.15206, 1.1015, 1.04621, 0.98557,
              0.92054, 0.85408, 0.78349, 0.71297, 0.64682, 0.58138, 0.51789, 0.45859, 0.40593, 0.35948],
}  # fmt: skip


def network() -> nn.Sequential:
    layers = []
    for (rows, columns), k, b in (((8, 16), 1, 7), ((16, 16), 2, 8), ((16, 4), 5, 9)):
        layer = nn.Linear(rows, columns)
        layer.weight.set_value(numbers(rows, columns, k=k))
        layer.bias.set_value(numbers(columns, k=b))
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def optimiser(name: str, model: nn.Layer) -> paddle.optimizer.Optimizer:
    if name == "SGD":
        return paddle.optimizer.SGD(0.3, parameters=model.parameters())
    return paddle.optimizer.AdamW(0.01, parameters=model.parameters(), weight_decay=0.01)


def train(
    model: nn.Layer, optimizer: paddle.optimizer.Optimizer, level: str, steps: int = 20, scaler=None
) -> list[float]:
    x, y = paddle.to_tensor(INPUTS), paddle.to_tensor(LABELS)
    losses = []
    for _ in range(steps):
        with paddle.amp.auto_cast(level=level, dtype="bfloat16"):
            loss = nn.functional.cross_entropy(model(x), y)
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("name", REFERENCE)
def test_loss_curve_at_o1(name: str) -> None:
    model = network()
    losses = train(model, optimiser(name, model), "O1")
    # Two ways to round in bfloat16 drift apart by this much; float32 lies between them.
    np.testing.assert_allclose(losses, REFERENCE[name], atol=0.04)
    np.testing.assert_allclose(losses[:3], REFERENCE[name][:3], atol=3e-3)
    assert model[0].weight.dtype == paddle.float32


@pytest.mark.parametrize("scaled", [False, True])
def test_loss_curve_at_o2_with_master_weights(scaled: bool) -> None:
    model = network()
    model, optimizer = paddle.amp.decorate(model, optimiser("AdamW", model), level="O2", dtype="bfloat16")
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0, use_dynamic_loss_scaling=False) if scaled else None
    losses = train(model, optimizer, "O2", scaler=scaler)
    # The loss itself is a bfloat16 here.
    np.testing.assert_allclose(losses, REFERENCE["AdamW"], atol=0.04)
    assert model[0].weight.dtype == paddle.bfloat16
    masters = optimizer.state_dict()["master_weights"]
    name = model[0].weight.name
    assert masters[name].dtype == paddle.float32
    np.testing.assert_array_equal(
        masters[name].astype("bfloat16").astype("float32").numpy(), model[0].weight.astype("float32").numpy()
    )


def test_master_weights_keep_small_steps() -> None:
    # A step of 1e-4 on 1.0 is lost in bfloat16, whose next number is 1.0078.
    moved = {}
    for master in (True, False):
        layer = nn.Linear(1, 1, bias_attr=False)
        layer.weight.set_value(np.ones((1, 1), np.float32))
        optimizer = paddle.optimizer.SGD(1e-4, parameters=layer.parameters())
        paddle.amp.decorate(layer, optimizer, level="O2", dtype="bfloat16", master_weight=master)
        for _ in range(200):
            layer(paddle.ones([1, 1], "bfloat16")).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        moved[master] = float(layer.weight.astype("float32"))
    assert moved == {True: pytest.approx(0.98, abs=4e-3), False: 1.0}


class Mixed(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.batch = nn.BatchNorm1D(3)
        self.layer = nn.LayerNorm(3)
        self.register_buffer("table", paddle.ones([2]))
        self.register_buffer("count", paddle.ones([2], "int64"))
        self.inner = nn.Sequential(nn.Linear(3, 3))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.inner(self.layer(self.batch(self.linear(x))))


def dtypes(model: nn.Layer) -> dict[str, str]:
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: str(tensor.dtype).removeprefix("paddle.") for name, tensor in named}


def test_decorate_casts_all_but_batch_norms() -> None:
    model = Mixed()
    assert paddle.amp.decorate(model, level="O2", dtype="bfloat16") is model
    found = dtypes(model)
    wide = {name for name, dtype in found.items() if dtype == "float32"}
    assert wide == {"batch.weight", "batch.bias", "batch._mean", "batch._variance"}
    assert found["count"] == "int64"
    assert found["table"] == "bfloat16"
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        assert model(paddle.rand([5, 4])).dtype == paddle.bfloat16


@pytest.mark.parametrize(
    ("excluded", "wide"),
    [
        (lambda m: nn.Linear, {"linear.weight", "linear.bias", "inner.0.weight", "inner.0.bias"}),
        (lambda m: [m.inner], {"inner.0.weight", "inner.0.bias"}),
        (lambda m: [nn.LayerNorm, m.linear], {"layer.weight", "layer.bias", "linear.weight", "linear.bias"}),
    ],
)
def test_excluded_layers_stay_float32(excluded, wide: set[str]) -> None:
    model = Mixed()
    paddle.amp.decorate(model, level="O2", dtype="bfloat16", excluded_layers=excluded(model))
    found = {name for name, dtype in dtypes(model).items() if dtype == "float32" and not name.startswith("batch")}
    assert found == wide


def test_decorate_at_o1_changes_nothing() -> None:
    model = Mixed()
    before = dtypes(model)
    optimizer = optimiser("AdamW", model)
    assert paddle.amp.decorate(model, optimizer, dtype="bfloat16") == (model, optimizer)
    assert dtypes(model) == before
    assert not optimizer._multi_precision
    models, optimizers = paddle.amp.decorate([model], [optimizer], level="O2", dtype="bfloat16")
    assert (models, optimizers) == ([model], [optimizer])
    assert optimizer._multi_precision


def test_save_dtype_is_what_the_state_dictionary_has() -> None:
    model = Mixed()
    paddle.amp.decorate(model, level="O2", dtype="bfloat16", save_dtype="float32")
    state = model.state_dict()
    assert {str(v.dtype) for k, v in state.items() if k != "count"} == {"paddle.float32"}
    assert state["count"].dtype == paddle.int64
    assert model.linear.weight.dtype == paddle.bfloat16
    assert state["linear.weight"].name == model.linear.weight.name
    np.testing.assert_array_equal(state["linear.weight"].numpy(), model.linear.weight.astype("float32").numpy())


def test_master_grad_gives_float32_gradients() -> None:
    model = network()
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    paddle.amp.decorate(model, optimizer, level="O2", dtype="bfloat16", master_grad=True)
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = nn.functional.cross_entropy(model(paddle.to_tensor(INPUTS)), paddle.to_tensor(LABELS))
    loss.backward()
    assert {p.grad.dtype for p in model.parameters()} == {paddle.float32}
    optimizer.step()
    optimizer.clear_grad()
    assert {p.dtype for p in model.parameters()} == {paddle.bfloat16}


def test_a_model_moved_by_hand_trains_at_o2() -> None:
    model = network().bfloat16()
    assert model[0].weight.dtype == paddle.bfloat16
    optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters(), multi_precision=True)
    losses = train(model, optimizer, "O2")
    np.testing.assert_allclose(losses, REFERENCE["AdamW"], atol=0.04)
    model.to(dtype="float32")
    assert model(paddle.to_tensor(INPUTS)).dtype == paddle.float32


def test_a_step_is_compiled_once() -> None:
    model = network()
    optimizer = optimiser("AdamW", model)
    x, y = paddle.to_tensor(INPUTS[:17]), paddle.to_tensor(LABELS[:17])  # a shape that no other test has compiled

    def step() -> None:
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()

    for _ in range(2):  # the third sighting compiles
        step()
    compiles, hits = report.STATISTICS.compiles, report.STATISTICS.hits
    for _ in range(6):
        step()
    # Forward under the cast, backward and update: one program, run once for each step.
    assert report.STATISTICS.compiles - compiles == 1
    assert report.STATISTICS.hits - hits == 6


def test_bad_arguments() -> None:
    model = Mixed()
    for options, kind, words in (
        ({"level": "O3"}, ValueError, "level"),
        ({"level": "O2", "dtype": "float64"}, ValueError, "float16"),
        ({"level": "O2", "dtype": "bfloat16", "save_dtype": "int8"}, ValueError, "save_dtype"),
        ({"level": "O2", "dtype": "bfloat16", "excluded_layers": 3}, TypeError, "excluded_layers"),
        ({"level": "O2", "dtype": "bfloat16", "optimizers": 3}, TypeError, "optimizers"),
    ):
        with pytest.raises(kind, match=words):
            paddle.amp.decorate(model, **options)
    with pytest.raises(TypeError, match="models"):
        paddle.amp.decorate(3, level="O2", dtype="bfloat16")
    assert dtypes(model)["linear.weight"] == "float32"  # nothing was cast before the error


def test_float16_leaves_models_alone_on_a_cpu() -> None:
    model = Mixed()
    with pytest.warns(UserWarning, match="bfloat16"):
        paddle.amp.decorate(model, level="O2")
    assert dtypes(model)["linear.weight"] == "float32"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.amp.decorate(model)


def _train_in_float16() -> tuple[list[float], paddle.amp.GradScaler]:
    model = network()
    optimizer = optimiser("SGD", model)
    scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**16, incr_every_n_steps=5)
    x, y = paddle.to_tensor(INPUTS), paddle.to_tensor(LABELS)
    losses = []
    for _ in range(20):
        with paddle.amp.auto_cast():
            out = model(x)
            loss = nn.functional.cross_entropy(out, y)
        assert out.dtype == paddle.float16
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses, scaler


def test_float16_with_dynamic_scaling(monkeypatch: pytest.MonkeyPatch) -> None:
    # A CPU has float16 as well; it is only no good for speed.
    monkeypatch.setattr("proa.amp.casting.supports", lambda dtype, place: True)
    losses, scaler = _train_in_float16()
    assert scaler.is_enable()
    # The scale grows until gradients overflow; a step left out shifts the rest of the curve.
    assert scaler.state_dict()["scale"][0] >= 2.0**14
    np.testing.assert_allclose(losses[:5], REFERENCE["SGD"][:5], atol=0.03)
    assert losses[-1] < 0.4


@pytest.mark.gpu
def test_float16_with_dynamic_scaling_on_a_gpu() -> None:
    before = paddle.get_device()
    paddle.set_device("gpu")
    try:
        losses, scaler = _train_in_float16()
    finally:
        paddle.set_device(before)
    assert scaler.is_enable()
    assert losses[-1] < 0.4
