"""save and load: round trips, Paddle's own files, refusal of code, whole files or none."""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import shutil
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa.core import flags

nn = paddle.nn
DATA = Path(__file__).parent / "data"  # written by Paddle 3.3.1

# What the golden files hold, as Paddle printed it.
WEIGHT = [[0.2040941, 0.3048181, 0.4053838], [0.1170525, 0.1916097, 0.2898708]]
AFTER_ONE_MORE_STEP = [0.2122857, 0.3134155, 0.4142169, 0.1079799, 0.1816631, 0.2798094]


def assert_same(left, right):
    if isinstance(left, paddle.Tensor):
        assert isinstance(right, paddle.Tensor)
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left.numpy(), right.numpy())
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, (list, tuple)):
        assert type(left) is type(right)
        assert len(left) == len(right)
        for a, b in zip(left, right):
            assert_same(a, b)
    elif isinstance(left, np.ndarray):
        np.testing.assert_array_equal(left, right)
    else:
        assert left == right


@pytest.mark.parametrize(
    "content",
    [
        {"a": [1, 2.5, "s", None, True, (1, "x")], "b": {"c": b"bytes"}},
        [1, 2],
        "text",
        3.5,
        {1, 2},
        {"n": np.arange(4), "s": np.float32(2.5)},
    ],
    ids=lambda content: type(content).__name__,
)
def test_plain_content_comes_back(tmp_path, content):
    paddle.save(content, tmp_path / "file")
    assert_same(content, paddle.load(tmp_path / "file"))


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64"],
)
@pytest.mark.parametrize("shape", [[2, 3], [], [0, 2]])
def test_tensors_of_all_types_come_back(tmp_path, dtype, shape):
    tensor = paddle.ones(shape, dtype="float32").astype(dtype)
    for content in (tensor, {"t": tensor}, {"deep": [tensor, (tensor, 1)], "n": 2}):
        paddle.save(content, tmp_path / "file")
        assert_same(content, paddle.load(tmp_path / "file"))


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_state_dictionary_round_trip(tmp_path, protocol):
    layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4))
    paddle.save(layer.state_dict(), tmp_path / "m.pdparams", protocol=protocol)
    state = paddle.load(tmp_path / "m.pdparams")
    assert list(state) == ["0.weight", "0.bias", "1.weight", "1.bias", "1._mean", "1._variance"]
    assert state["0.weight"].name == layer[0].weight.name
    assert state["0.weight"].stop_gradient
    other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4))
    assert other.set_state_dict(state) == ([], [])
    np.testing.assert_array_equal(other[0].weight.numpy(), layer[0].weight.numpy())


def test_options_of_load(tmp_path):
    layer = nn.Linear(2, 2)
    paddle.save(layer.state_dict(), tmp_path / "m")
    arrays = paddle.load(tmp_path / "m", return_numpy=True)
    assert isinstance(arrays["weight"], np.ndarray)
    table = paddle.load(tmp_path / "m", keep_name_table=True)["StructuredToParameterName@@"]
    assert table == {"weight": layer.weight.name, "bias": layer.bias.name}
    with pytest.raises(ValueError, match="no option"):
        paddle.load(tmp_path / "m", wrong=1)


def test_streams():
    stream = io.BytesIO()
    paddle.save({"x": paddle.ones([2])}, stream)
    stream.seek(0)
    assert paddle.load(stream)["x"].tolist() == [1.0, 1.0]


# ---- Paddle's files ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["model.pdparams", "protocol2.pdparams"])
def test_paddles_state_dictionary_is_read(name):
    state = paddle.load(DATA / name)
    np.testing.assert_allclose(state["0.weight"].numpy(), WEIGHT, rtol=1e-6)
    assert state["0.weight"].name == "linear_0.w_0"
    assert state["1._mean"].name == "batch_norm1d_0.w_1"


def test_paddles_nested_file_is_read():
    content = paddle.load(DATA / "nested.pd")
    assert isinstance(content["model"], OrderedDict)
    np.testing.assert_allclose(content["model"]["0.weight"].numpy(), WEIGHT, rtol=1e-6)
    assert (content["epoch"], content["best"], content["tags"]) == (3, 0.5, ["a", (1, 2)])
    assert content["none"] is None
    assert content["half"].dtype == paddle.bfloat16
    assert content["half"].astype("float32").tolist() == [1.5, 1.5]
    assert isinstance(content["array"], np.ndarray)


def test_training_goes_on_from_paddles_checkpoint():
    from proa.eager.naming import guard

    with guard():
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(schedule, parameters=net.parameters())
    assert net.set_state_dict(paddle.load(DATA / "model.pdparams")) == ([], [])
    optimizer.set_state_dict(paddle.load(DATA / "model.pdopt"))
    assert optimizer.get_lr() == pytest.approx(0.01)
    x = paddle.to_tensor(np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]], "float32"))
    scale = paddle.to_tensor(np.array([1.0, 2.0, 3.0], "float32"))
    ((net(x) * scale) ** 3).sum().backward()
    optimizer.step()
    np.testing.assert_allclose(net[0].weight.numpy().ravel(), AFTER_ONE_MORE_STEP, atol=2e-6)


def test_the_format_is_paddles():
    """The bytes of a state dictionary unpickle to plain arrays and the table of names."""
    layer = nn.Linear(2, 2)
    stream = io.BytesIO()
    paddle.save(layer.state_dict(), stream)
    raw = pickle.loads(stream.getvalue())
    assert set(raw) == {"weight", "bias", "StructuredToParameterName@@"}
    assert type(raw["weight"]) is np.ndarray
    stream = io.BytesIO()
    tensor = paddle.ones([2])
    paddle.save([tensor], stream)
    (entry,) = pickle.loads(stream.getvalue())
    assert type(entry) is tuple
    assert entry[0] == tensor.name
    assert type(entry[1]) is np.ndarray


# ---- safety --------------------------------------------------------------------------------------


class Malicious:
    def __reduce__(self):
        return os.system, ("exit 1",)


class Sneaky:
    def __reduce__(self):
        return eval, ("1 + 1",)


@pytest.mark.parametrize(
    ("content", "asked"),
    [(Malicious(), "system"), ({"w": Sneaky()}, "builtins.eval"), (Path("x"), "pathlib")],
    ids=["system", "eval", "object"],
)
def test_code_in_a_file_is_refused_by_name(tmp_path, content, asked):
    (tmp_path / "bad").write_bytes(pickle.dumps(content))
    with pytest.raises(pickle.UnpicklingError, match=asked):
        paddle.load(tmp_path / "bad")


def test_arrays_of_objects_are_refused(tmp_path):
    (tmp_path / "bad").write_bytes(pickle.dumps(np.array([{}, []], dtype=object)))
    with pytest.raises(pickle.UnpicklingError, match="data type"):
        paddle.load(tmp_path / "bad")


def _arguments():
    return Arguments(learning_rate=0.1, weights=np.arange(3.0), inner=Arguments(learning_rate=1.0))


@dataclasses.dataclass
class Arguments:
    """What a trainer saves beside its model."""

    learning_rate: float
    weights: object = None
    inner: object = None


def test_objects_are_written_and_read_back_at_the_users_word(tmp_path, monkeypatch):
    saved = {"arguments": _arguments(), "w": paddle.to_tensor([1.0, 2.0]), "epoch": 3, "kinds": {Path("a")}}
    paddle.save(saved, tmp_path / "x")
    with pytest.raises(pickle.UnpicklingError, match=r"Arguments.*allow_objects=True.*PROA_ALLOW_OBJECTS=1"):
        paddle.load(tmp_path / "x")
    with pytest.raises(pickle.UnpicklingError, match="pathlib"):
        paddle.load(tmp_path / "x", allow_objects=[Arguments])
    monkeypatch.setattr(flags._FLAGS["FLAGS_allow_objects"], "value", True)
    for options in ({"allow_objects": True}, {}):
        found = paddle.load(tmp_path / "x", **options)
        assert isinstance(found["arguments"], Arguments)
        assert found["arguments"].inner.learning_rate == 1.0
        np.testing.assert_array_equal(found["arguments"].weights, np.arange(3.0))
        assert isinstance(found["w"], paddle.Tensor)
        assert found["w"].numpy().tolist() == [1.0, 2.0]
        assert found["epoch"] == 3
        assert found["kinds"] == {Path("a")}
    with pytest.raises(pickle.UnpicklingError, match="Arguments"):
        paddle.load(tmp_path / "x", allow_objects=False)


def test_named_classes_alone_are_read(tmp_path):
    paddle.save(_arguments(), tmp_path / "x")
    found = paddle.load(tmp_path / "x", allow_objects=[Arguments])
    assert found.learning_rate == 0.1
    assert isinstance(found.weights, np.ndarray)
    paddle.save({"w": paddle.ones([2]), "b": paddle.zeros([1])}, tmp_path / "y")
    state = paddle.load(tmp_path / "y", allow_objects=[Arguments])
    assert isinstance(state["w"], paddle.Tensor)
    (tmp_path / "bad").write_bytes(pickle.dumps(Malicious()))
    with pytest.raises(pickle.UnpicklingError, match="system"):
        paddle.load(tmp_path / "bad", allow_objects=[Arguments])
    with pytest.raises(TypeError, match="allow_objects must be True, False or a list"):
        paddle.load(tmp_path / "x", allow_objects="yes")


def test_objects_saved_in_the_background_are_those_of_now(tmp_path):
    arguments = _arguments()
    paddle.async_save(arguments, tmp_path / "x")
    arguments.learning_rate = 9.0
    paddle.clear_async_save_task_queue()
    assert paddle.load(tmp_path / "x", allow_objects=True).learning_rate == 0.1


def test_objects_that_pickle_refuses_are_not_saved(tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        paddle.save({"f": lambda: 0}, tmp_path / "x")
    with pytest.raises(ValueError, match="state_dict"):
        paddle.save(nn.Linear(1, 1), tmp_path / "x")
    with pytest.raises(TypeError, match="Python objects"):
        paddle.save(np.array([{}], dtype=object), tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x80\x04", b"\x80\x04\x95\xff"])
def test_damaged_files_are_named(tmp_path, content):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        paddle.load(tmp_path / "bad")


def test_truncated_file(tmp_path):
    paddle.save({"w": paddle.ones([100])}, tmp_path / "whole")
    (tmp_path / "half").write_bytes((tmp_path / "whole").read_bytes()[:200])
    with pytest.raises(ValueError, match="damaged"):
        paddle.load(tmp_path / "half")


def test_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        paddle.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        paddle.load(tmp_path)
    for bad in ("", str(tmp_path) + "/"):
        with pytest.raises(ValueError, match="file name"):
            paddle.save(1, bad)
    with pytest.raises(ValueError, match="protocol"):
        paddle.save(1, tmp_path / "x", protocol=5)
    paddle.save(1, tmp_path / "new" / "folder" / "x")
    assert paddle.load(tmp_path / "new" / "folder" / "x") == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch, error):
    target = tmp_path / "file"
    paddle.save({"v": 1}, target)

    def fail(content, file, protocol):
        file.write(b"half of it")
        raise error

    monkeypatch.setattr(pickle, "dump", fail)
    with pytest.raises(error):
        paddle.save({"v": 2}, target)
    monkeypatch.undo()
    assert paddle.load(target) == {"v": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_link_is_followed(tmp_path):
    paddle.save(1, tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    paddle.save(2, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert paddle.load(tmp_path / "real") == 2


def test_big_arrays_in_slices_are_joined(tmp_path):
    """Paddle's older protocols cut arrays above 1 GiB; the pieces are named in a table."""
    content = {
        "w@@.0": np.arange(3.0), "w@@.1": np.arange(3.0, 6.0), "StructuredToParameterName@@": {},
        "UnpackBigParamInfor@@": {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}},
    }  # fmt: skip
    (tmp_path / "big").write_bytes(pickle.dumps(content))
    assert paddle.load(tmp_path / "big")["w"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_golden_files_survive_a_copy(tmp_path):
    shutil.copy(DATA / "model.pdopt", tmp_path)
    state = paddle.load(tmp_path / "model.pdopt")
    paddle.save(state, tmp_path / "again")
    assert_same(state, paddle.load(tmp_path / "again"))
