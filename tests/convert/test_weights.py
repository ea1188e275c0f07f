"""Weights of PyTorch models: files read without torch, and matched with layers of ours."""

from __future__ import annotations

import os
import pickle
import zipfile

import ml_dtypes
import numpy as np
import pytest

import proa as paddle
from proa.convert import load_torch_weights, read_torch_weights
from proa.framework import safetensors

DATA = os.path.join(os.path.dirname(__file__), "data")
GOLDEN = os.path.join(DATA, "state.pt")  # written by torch 2.13


def test_a_file_of_torch_is_read_without_torch():
    found = read_torch_weights(GOLDEN)
    numbers = np.arange(24, dtype="float32")
    expected = {
        "model.linear.weight": numbers.reshape(4, 6), "model.linear.bias": numbers[:4],
        "model.turned": numbers.reshape(4, 6).T, "model.part": numbers[5:11],
        "model.bf16": np.array([1.5, -2], ml_dtypes.bfloat16), "model.half": np.array([0.25], "float16"),
        "model.count": np.array(7), "model.flags": np.array([True, False]), "model.empty": np.zeros((0, 3), "float32"),
        "model.f8": np.array([1, 2], ml_dtypes.float8_e4m3fn), "model.parameter": np.array([3, 4], "float32"),
    }  # fmt: skip
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        np.testing.assert_array_equal(found[name], array)


def test_a_file_that_would_run_something_is_refused(tmp_path):
    """Its pickle calls os.system; torch.load without weights_only would have run that."""
    mark = "/tmp/proa-evil"
    assert not os.path.exists(mark)
    with pytest.raises(ValueError, match=r"it asks for posix\.system"):
        read_torch_weights(os.path.join(DATA, "evil.pt"))
    assert not os.path.exists(mark)


def rewritten(path, change):
    """The golden file with some of its entries changed."""
    with zipfile.ZipFile(GOLDEN) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = change(name, source.read(name))
            if content is not None:
                target.writestr(name, content)
    return path


@pytest.mark.parametrize("damage", ["missing", "short", "no pickle", "text"])
def test_damaged_files_are_refused(tmp_path, damage):
    path = tmp_path / "state.pt"
    if damage == "text":
        path.write_text("no weights")
    else:
        changes = {
            "missing": lambda name, content: None if name.endswith("data/0") else content,
            "short": lambda name, content: content[:40] if name.endswith("data/0") else content,
            "no pickle": lambda name, content: None if name.endswith("data.pkl") else content,
        }
        rewritten(path, changes[damage])
    with pytest.raises(ValueError, match="convert"):
        read_torch_weights(path)


def test_every_truncated_file_is_an_error(tmp_path):
    with open(GOLDEN, "rb") as file:
        data = file.read()
    path = tmp_path / "state.pt"
    for length in range(0, len(data) - 1, 101):
        path.write_bytes(data[:length])
        with pytest.raises(ValueError, match="convert"):
            read_torch_weights(path)


def test_a_compressed_entry_is_refused(tmp_path):
    path = tmp_path / "state.pt"
    with zipfile.ZipFile(GOLDEN) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    with pytest.raises(ValueError, match="is compressed"):
        read_torch_weights(path)


def test_a_tensor_that_reaches_out_of_its_storage_is_refused(tmp_path):
    """The pickle says 4 by 6 of 24 numbers; with strides of 60 the last one lies far behind them."""
    with zipfile.ZipFile(GOLDEN) as source:
        pickled = source.read(next(name for name in source.namelist() if name.endswith("data.pkl")))
    at = pickled.index(b"K\x04K\x06\x86") + 5
    assert b"K\x06K\x01\x86" in pickled[at : at + 10]
    wrong = pickled[:at] + pickled[at : at + 10].replace(b"K\x06K\x01\x86", b"K\x3cK\x01\x86") + pickled[at + 10 :]
    path = rewritten(tmp_path / "state.pt", lambda name, content: wrong if name.endswith("data.pkl") else content)
    with pytest.raises(ValueError, match="reaches to element 185 of 24"):
        read_torch_weights(path)


def test_safetensors(tmp_path):
    arrays = {"a.weight": np.arange(6, dtype="float32").reshape(2, 3), "b": np.array([1.5], ml_dtypes.bfloat16)}
    path = tmp_path / "w.safetensors"
    with open(path, "wb") as file:
        safetensors.write(file, arrays)
    found = read_torch_weights(path)
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


# ---- matching --------------------------------------------------------------------------------------------------------


class Net(paddle.nn.Layer):
    def __init__(self, names=("body", "norm", "head")):
        super().__init__()
        for name, layer in zip(
            names, (paddle.nn.Conv2D(3, 4, 3), paddle.nn.BatchNorm2D(4), paddle.nn.Linear(4, 4)), strict=True
        ):
            setattr(self, name, layer)
        self.order = names

    def forward(self, x):
        body, norm, head = (getattr(self, name) for name in self.order)
        return head(norm(body(x)).mean([2, 3]))


def torch_state():
    generator = np.random.default_rng(0)

    def numbers(*shape):
        return generator.normal(size=shape).astype("float32")

    return {
        "body.weight": numbers(4, 3, 3, 3), "body.bias": numbers(4), "norm.weight": numbers(4), "norm.bias": numbers(4),
        "norm.running_mean": numbers(4), "norm.running_var": np.abs(numbers(4)) + 0.5,
        "norm.num_batches_tracked": np.array(3), "head.weight": numbers(4, 4), "head.bias": numbers(4),
    }  # fmt: skip


def reference(state, x):
    """The same network in NumPy, with torch's shapes of weights."""
    from scipy.signal import correlate

    made = np.stack([
        np.stack([sum(correlate(one[c], kernel[c], "valid") for c in range(3)) for kernel in state["body.weight"]])
        for one in x
    ]) + state["body.bias"][:, None, None]  # fmt: skip
    scale = state["norm.weight"] / np.sqrt(state["norm.running_var"] + 1e-5)
    made = (made - state["norm.running_mean"][:, None, None]) * scale[:, None, None] + state["norm.bias"][:, None, None]
    return made.mean((2, 3)) @ state["head.weight"].T + state["head.bias"]


@pytest.mark.parametrize("names", [("body", "norm", "head"), ("convolution", "statistics", "classifier")])
def test_weights_are_matched_by_name_or_by_structure(names):
    """The weight of the Linear is square, so that only its layer says that it must be turned."""
    state, net = torch_state(), Net(names)
    net.eval()
    report = load_torch_weights(net, state)
    assert report.is_complete
    assert len(report.matched) == 8
    x = np.random.default_rng(1).normal(size=(2, 3, 6, 6)).astype("float32")
    np.testing.assert_allclose(net(paddle.to_tensor(x)).numpy(), reference(state, x), rtol=1e-4, atol=1e-5)


def test_what_does_not_match_is_named_and_nothing_is_changed():
    state, net = torch_state(), Net()
    before = {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()}
    state["head.weight"] = np.zeros((5, 4), "float32")
    state["extra.weight"] = state.pop("norm.bias")
    with pytest.raises(ValueError, match="not the same") as caught:
        load_torch_weights(net, state)
    for part in ("norm.bias", "extra.weight", r"head.weight [4, 4], head.weight [4, 5]"):
        assert part in str(caught.value)
    for name, tensor in net.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), before[name])
    report = load_torch_weights(net, state, strict=False)
    assert (report.missing, report.unused) == (["norm.bias"], ["extra.weight"])
    np.testing.assert_array_equal(net.body.weight.numpy(), state["body.weight"])


def test_the_projections_of_an_attention_are_separated():
    layer = paddle.nn.MultiHeadAttention(4, 2)
    generator = np.random.default_rng(0)
    state = {
        "in_proj_weight": generator.normal(size=(12, 4)).astype("float32"), "in_proj_bias": np.arange(12, dtype="float32"),
        "out_proj.weight": generator.normal(size=(4, 4)).astype("float32"), "out_proj.bias": np.zeros(4, "float32"),
    }  # fmt: skip
    assert load_torch_weights(layer, state).is_complete
    np.testing.assert_array_equal(layer.k_proj.weight.numpy(), state["in_proj_weight"][4:8].T)
    np.testing.assert_array_equal(layer.v_proj.bias.numpy(), [8, 9, 10, 11])


def test_a_file_of_an_old_torch_is_refused(tmp_path):
    """A pickle by itself (torch before 1.6) is refused with what to do."""
    path = tmp_path / "old.pt"
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="save it again with a newer torch"):
        read_torch_weights(path)
    with pytest.raises(FileNotFoundError):
        read_torch_weights(tmp_path / "missing.pt")
