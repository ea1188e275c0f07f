"""What programs written for Paddle showed to differ: classes of errors, warnings, texts (seen with Paddle 3.3.1)."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn, profiler, signal, static
from proa.audio import features
from proa.text import datasets as texts
from proa.vision import datasets as pictures
from proa.vision import transforms

X = paddle.ones([1, 32])
LEAF = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
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
    "a dataset without a file": lambda: texts.Imdb(data_file=None, download=False),
    "Spectrogram": lambda: features.Spectrogram(power=-1.0),
    "audio.save": lambda: paddle.audio.save("never.wav", paddle.ones([1, 1, 8]), 8000),
    "len": lambda: len(paddle.to_tensor(1.0)),
    "iter": lambda: iter(paddle.to_tensor(1.0)),
    "grad, only_inputs": lambda: paddle.grad(X, X, only_inputs=False),
    "grad, outputs": lambda: paddle.grad("a", X),  # type: ignore[arg-type]
    "Model.prepare": lambda: paddle.Model(nn.ReLU()).prepare(metrics=[3]),
    "Resize": lambda: transforms.Resize("a")(np.zeros((2, 2, 3), "uint8")),  # type: ignore[arg-type]
    "Pad": lambda: transforms.Pad("a"),  # type: ignore[arg-type]
    "RandomErasing": lambda: transforms.RandomErasing(prob=2),
    "LayerDict": lambda: nn.LayerDict(3),  # type: ignore[arg-type]
    "ParameterDict": lambda: nn.ParameterDict(3),
    "ParameterDict, entry": lambda: nn.ParameterDict({"a": 3}),
    "ParameterList": lambda: nn.ParameterList([3]),  # type: ignore[list-item]
    "SpectralNorm": lambda: nn.SpectralNorm([2, 3], dim=5),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(0, 1, 1),
    "Conv2D without weight": lambda: nn.Conv2D(1, 1, 1, weight_attr=False),
    "Embedding, weight": lambda: nn.Embedding(2, 3, _weight=paddle.ones([3, 3])),
    "ClipGradByValue": lambda: nn.ClipGradByValue(-1.0),
    "Uniform": lambda: nn.initializer.Uniform(2.0, 1.0),
    "parameter group": lambda: paddle.optimizer.SGD(0.1, parameters=[{"a": 3}]),  # type: ignore[list-item]
    "fold": lambda: nn.functional.fold(paddle.ones([1, 4, 4]), [2, 2, 2], 2),  # type: ignore[arg-type]
    "batch_norm": lambda: nn.functional.batch_norm(paddle.ones([3]), paddle.ones([3]), paddle.ones([3])),
    "dice_loss": lambda: nn.functional.dice_loss(X, paddle.ones([2, 2, 2], dtype="int64")),
    "prelu": lambda: nn.functional.prelu(paddle.ones([1, 2, 4, 4]), paddle.ones([3])),
    "einsum": lambda: paddle.einsum("ijk->i", X),
    "einsum of nothing": lambda: paddle.einsum("ij,jk->ik"),
    "cdist": lambda: paddle.cdist(X, paddle.ones([2, 4])),
    "cdist, p": lambda: paddle.cdist(X, X, p=-1.0),
    "pdist": lambda: paddle.pdist(paddle.ones([1, 2, 4])),
    "householder_product": lambda: paddle.linalg.householder_product(X, paddle.ones([3])),
    "histogramdd": lambda: paddle.histogramdd(paddle.ones([3])),
    "narrow": lambda: paddle.narrow(X, 0, 5, 1),
    "fill_diagonal_tensor": lambda: paddle.ones([2, 3]).fill_diagonal_tensor(paddle.ones([9])),
    "masked_scatter": lambda: paddle.masked_scatter(X, X, X),
    "tensordot": lambda: paddle.tensordot(X, X, -1),
    "moveaxis": lambda: paddle.moveaxis(X, [0, 1], [0]),
    "multigammaln": lambda: paddle.multigammaln(X, 0),
    "backward, shape": lambda: LEAF.backward(paddle.ones([3])),
    "backward, type": lambda: LEAF.backward("a"),  # type: ignore[arg-type]
    "set_state_dict, type": lambda: nn.Linear(1, 1).set_state_dict({"weight": paddle.ones([1, 1], dtype="float64")}),
    "ReduceOnPlateau.step": lambda: paddle.optimizer.lr.ReduceOnPlateau(0.1).step(X),
    "index": lambda: range(3)[X],  # type: ignore[call-overload]
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


def test_texts_of_limits_and_of_older_layers() -> None:
    assert repr(paddle.finfo("float16")) == (
        "paddle.finfo(min=-65504, max=65504, eps=0.000976562, resolution=0.001, smallest_normal=6.10352e-05, "
        "tiny=6.10352e-05, bits=16, dtype=float16)"
    )
    assert repr(paddle.iinfo("int32")) == "paddle.iinfo(min=-2147483648, max=2147483647, bits=32, dtype=int32)"
    assert paddle.finfo("complex64").dtype == "float32"
    assert repr(nn.BatchNorm(3, momentum=0.8)) == "BatchNorm()"
    assert repr(nn.MaxUnPool1D(2, output_size=[1, 2, 3])) == "MaxUnPool1D(output_size=[1, 2, 3])"
    assert repr(nn.LPPool1D(2, 3)) == "LPPool1D(norm_type=2.0, kernel_size=3, stride=None, padding=0)"
    assert repr(nn.LPPool2D(2, 3)) == "LPPool2D(norm_type=2.0, kernel_size=3, stride=3, padding=0)"


def test_sizes_of_unpooling_are_those_of_the_call() -> None:
    maxima, places = nn.functional.max_pool2d(paddle.ones([1, 1, 4, 4]), 2, return_mask=True)
    assert nn.MaxUnPool2D(2)(maxima, places, output_size=[5, 5]).shape == [1, 1, 5, 5]


def test_a_negative_maxlen_is_the_longest_sequence() -> None:
    assert nn.functional.sequence_mask(paddle.to_tensor([1, 2]), maxlen=-1).tolist() == [[1, 0], [1, 1]]


def test_an_integer_that_int64_cannot_hold_is_refused() -> None:
    for kind in (OverflowError, ValueError):
        with pytest.raises(kind, match="does not fit"):
            paddle.to_tensor([2**63])
    assert paddle.to_tensor([2**63], dtype="uint64").tolist() == [2**63]


def test_a_copy_of_what_has_a_history_has_none() -> None:
    weight = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    copied = copy.deepcopy(weight * 2)
    assert copied.tolist() == [2.0, 4.0]
    assert (copied.is_leaf, copied.stop_gradient) == (True, False)
    copied.sum().backward()
    assert weight.grad is None
    assert copied.grad.tolist() == [1.0, 1.0]


def test_everything_public_comes_with_a_star() -> None:
    for module, names in {
        "jit": ["TranslatedLayer", "load", "save", "to_static"],
        "incubate": ["LookAhead", "ModelAverage", "segment_sum", "softmax_mask_fuse"],
        "utils": ["require_version", "run_check"],
        "nn.initializer": ["Bilinear", "Constant"],
        "device": ["FloatTensor", "get_device"],
    }.items():
        found: dict[str, Any] = {}
        exec(f"from proa.{module} import *", found)
        assert [name for name in names if name not in found] == []


def test_flags_and_versions_that_programs_ask_for() -> None:
    assert paddle.get_flags(["FLAGS_eager_delete_tensor_gb", "FLAGS_use_mkldnn"]) == {
        "FLAGS_eager_delete_tensor_gb": 0.0,
        "FLAGS_use_mkldnn": False,
    }
    for wrong in (lambda: paddle.get_flags(3), lambda: paddle.set_flags([1])):  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            wrong()
    version = paddle.version
    assert [version.tensorrt_version, version.hip_version, version.xpu_xre_version] == ["None", None, "False"]
    assert version.cuda_version == str(version.cuda)
    assert version.nccl_version == version.nccl()


def test_attributes_of_a_loader() -> None:
    data = paddle.io.TensorDataset([paddle.ones([4, 1])])
    loader = paddle.io.DataLoader(data, batch_size=2)
    assert [loader.auto_collate_batch, loader.dataset_kind, loader.use_shared_memory] == [True, 0, False]
    assert not paddle.io.DataLoader(data, batch_size=None).auto_collate_batch


def test_numbers_of_a_program_are_no_weights_of_the_loaded_layer(tmp_path: Any) -> None:
    class Loop(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            count = paddle.to_tensor(0)
            while count < 3:
                x = self.linear(x)
                count += 1
            return x

    layer = Loop()
    x = paddle.to_tensor([[1.0, 2.0]])
    paddle.jit.save(layer, str(tmp_path / "loop"), input_spec=[static.InputSpec([None, 2], "float32")])
    loaded = paddle.jit.load(str(tmp_path / "loop"))
    assert sorted(each.shape for each in loaded.state_dict().values()) == [[2], [2, 2]]
    np.testing.assert_allclose(loaded(x).numpy(), layer(x).numpy(), rtol=1e-6)


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


def test_accuracy_in_a_program_of_any_batch() -> None:
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main):
            scores, labels = static.data("scores", [-1, 3]), static.data("labels", [-1, 1], "int64")
            share = paddle.metric.accuracy(scores, labels, k=1)
        for rows, expected in ((4, 0.75), (2, 0.5)):
            given = {
                "scores": np.eye(3, dtype="float32")[[0, 1, 2, 2][:rows]],
                "labels": np.array([[0], [0], [2], [2]])[:rows],
            }
            (found,) = static.Executor().run(main, feed=given, fetch_list=[share])
            assert found == expected
    finally:
        paddle.disable_static()


def test_an_element_behind_the_end() -> None:
    for position in ((7,), (0, 5)):
        for kind in (ValueError, IndexError):
            with pytest.raises(kind, match="out of bounds"):
                paddle.ones([2, 3]).item(*position)


def test_what_wants_a_gradient_is_not_given_away() -> None:
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(LEAF)
    with pytest.raises(BufferError, match="detach"):
        paddle.from_dlpack(LEAF)
    assert paddle.from_dlpack(paddle.to_dlpack(LEAF)).tolist() == [1.0, 2.0]
    assert np.from_dlpack(LEAF.detach()).tolist() == [1.0, 2.0]


def test_a_path_that_is_none() -> None:
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="the name of a file"):
            paddle.save(X, 3)  # type: ignore[arg-type]


def test_sequences_of_layers() -> None:
    named = nn.Sequential(("a", nn.ReLU()), ("b", nn.Tanh()), ("c", nn.GELU()))
    assert list(named[1:]._sub_layers) == ["0", "1"]
    assert list(nn.Sequential(["a", nn.ReLU()])._sub_layers) == ["a"]  # one pair
    layers = nn.LayerList([nn.ReLU()])
    assert repr(layers + nn.LayerList([nn.Tanh()])) == repr(nn.LayerList([nn.ReLU(), nn.Tanh()]))
    same = layers
    layers += [nn.Tanh()]
    assert layers is same
    assert len(same) == 2
    for kind in (AssertionError, IndexError):
        with pytest.raises(kind):
            layers.insert(9, nn.ReLU())


def test_hooks_that_are_always_called() -> None:
    layer, seen = nn.Linear(2, 2), []
    layer.register_forward_post_hook(lambda layer, inputs, outputs: seen.append("skipped"))
    layer.register_forward_post_hook(lambda layer, inputs, outputs: seen.append(outputs), always_call=True)
    layer.register_forward_post_hook(
        lambda layer, inputs, kwargs, outputs: seen.append((inputs, kwargs)), with_kwargs=True, always_call=True
    )
    with pytest.raises(TypeError):
        layer("text")
    assert seen == [None, (("text",), {})]
    layer.register_forward_post_hook(lambda layer, inputs, outputs: 1 / 0, always_call=True, prepend=True)
    seen.clear()
    with pytest.raises(ZeroDivisionError):
        layer(paddle.ones([1, 2]))
    assert len(seen) == 2
    assert seen[0].shape == [1, 2]  # what there is of outputs
    layer.register_forward_post_hook(lambda layer, inputs, outputs: 1 / 0, always_call=True)
    with pytest.raises(TypeError), pytest.warns(UserWarning, match="ZeroDivisionError"):
        layer("text")


def test_buffers_that_are_not_saved_belong_to_the_state_of_programs() -> None:
    layer = nn.Sequential(nn.Linear(1, 1))
    layer[0].register_buffer("scratch", paddle.zeros([1]), persistable=False)
    assert list(layer.state_dict()) == ["0.weight", "0.bias"]
    assert list(layer.to_static_state_dict()) == ["0.weight", "0.bias", "0.scratch"]


def test_a_summary_of_a_recurrent_layer_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert paddle.summary(nn.LSTM(2, 3), (1, 4, 2)) == {"total_params": 84, "trainable_params": 84}
    assert "[[1, 4, 2]]      [[1, 4, 3], [[1, 1, 3], [1, 1, 3]]]       84" in capsys.readouterr().out


def test_whether_a_tensor_lies_on_a_mesh_is_known_before_meshes_are() -> None:
    code = """
import sys, proa as paddle
t = paddle.ones([2])
assert "proa.distributed.meshes.dtensor" not in sys.modules and t.is_dist() is False
mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
assert t.is_dist() is False
assert paddle.distributed.shard_tensor(t, mesh, [paddle.distributed.Replicate()]).is_dist() is True
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_diag_embed_under_its_former_name() -> None:
    given = np.arange(6, dtype="float32").reshape(2, 3)
    ours = paddle.nn.functional.diag_embed(paddle.to_tensor(given), 1)
    np.testing.assert_array_equal(ours.numpy(), np.stack([np.diag(row, 1) for row in given]))


def test_inner_tables_of_a_layer() -> None:
    layer = nn.Sequential(nn.Linear(1, 1))
    layer[0].register_buffer("kept", paddle.zeros([1]))
    layer[0].register_buffer("scratch", paddle.zeros([1]), persistable=False)
    layer.register_state_dict_hook(lambda state: {})
    found = layer._obtain_parameters_buffers()
    assert list(found) == ["0.weight", "0.bias", "0.kept"]
    assert found["0.weight"] is layer[0].weight
    assert list(layer[0]._obtain_parameters_buffers({"there": 1}, structured_name_prefix="p.")) == [
        "there", "p.weight", "p.bias", "p.kept",
    ]  # fmt: skip
    parameters = layer[0]._parameters
    parameters.move_to_end("weight")
    assert list(parameters) == ["bias", "weight"]
    parameters.move_to_end("weight", last=False)
    assert [name for name, _ in layer[0].named_parameters()] == ["weight", "bias"]
    assert layer[0].weight is parameters["weight"]
