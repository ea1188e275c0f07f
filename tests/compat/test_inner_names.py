"""Names of Paddle's inner modules that programs lean on; expected values are those that Paddle 3.3.1 was seen to give."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn


def test_kinds_of_variables_have_paddles_numbers() -> None:
    kinds = paddle.base.core.VarDesc.VarType
    assert [int(kinds[name]) for name in ("BOOL", "FP32", "DENSE_TENSOR", "LOD_TENSOR", "BF16", "STRINGS")] == [
        0,
        5,
        7,
        7,
        22,
        26,
    ]
    assert paddle.framework.core.VarDesc is paddle.base.core.VarDesc
    assert paddle.ones([1], dtype=kinds.FP16).dtype == paddle.float16
    with pytest.raises(AttributeError, match="SELECTED_ROWS is no data type"):
        kinds.SELECTED_ROWS.dtype  # noqa: B018
    assert paddle.base.core.DataType.FLOAT16 is paddle.float16
    assert paddle.base.libpaddle is paddle.base.core


def test_questions_to_the_core() -> None:
    core = paddle.base.core
    assert core.eager.Tensor is paddle.Tensor
    assert core.size_of_dtype(paddle.float64) == 8
    assert isinstance(core.is_compiled_with_cuda(), bool)
    assert core.default_cpu_generator() is core.default_cuda_generator(0)
    assert core.device_memory_stat_current_value("Allocated", 0) >= 0
    with pytest.raises(RuntimeError, match="no device of kind 'nothing'"):
        core.get_custom_device_count("nothing")
    before = core._has_grad()
    core._set_has_grad(False)
    assert not core._has_grad()
    core._set_has_grad(before)
    seen: list[Any] = []
    core.eager.register_saved_tensors_hooks(lambda x: seen.append(x) or x, lambda x: x)
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * x
    core.eager.reset_saved_tensors_hooks()
    y.backward()
    assert seen
    assert float(x.grad) == 4.0
    with pytest.raises(NotImplementedError, match="compiled for Paddle's C\\+\\+ core"):
        core.eager._run_custom_op("my_op", x)


def test_modes_and_places() -> None:
    framework = paddle.base.framework
    assert paddle.framework.in_dynamic_mode()
    assert not framework.in_pir_mode()
    assert framework.in_dynamic_or_pir_mode()
    assert framework._dygraph_tracer()._has_grad
    assert paddle.framework._current_expected_place() == paddle.framework._current_expected_place_()
    assert paddle.device._convert_to_place("cpu") == paddle.CPUPlace()
    paddle.enable_static()
    try:
        assert framework.in_pir_mode()
        assert framework._dygraph_tracer() is None
        with paddle.base.dygraph.guard():
            assert paddle.in_dynamic_mode()
        with pytest.raises(RuntimeError, match=r"\(only_now\) works in dynamic mode only"):
            paddle.framework.dygraph_only(_only_now)()
    finally:
        paddle.disable_static()
    assert paddle.framework.dygraph_only(_only_now)() == 3
    flags = framework._global_flags()
    assert "FLAGS_check_nan_inf" in flags
    assert flags.get("FLAGS_nothing_of_that_name", 1) == 1


def _only_now() -> int:
    return 3


_only_now.__name__ = "only_now"


def test_checks_of_arguments_belong_to_static_programs() -> None:
    helpers = paddle.common_ops_import
    assert [helpers.convert_dtype(one) for one in (paddle.float32, np.int64, "bool", paddle.bfloat16)] == [
        "float32", "int64", "bool", "uint16",
    ]  # fmt: skip
    assert helpers.convert_np_dtype_to_dtype_(np.float32) is paddle.float32
    helpers.check_type(1, "x", str, "op")
    helpers.check_dtype("int32", "x", ["float32"], "op")
    paddle.enable_static()
    try:
        with pytest.raises(TypeError, match=r"\(op\) x must be .*str.*received int"):
            helpers.check_type(1, "x", str, "op")
        with pytest.raises(TypeError, match=r"\(op\) the data type of x must be one of \['float32'\]; received int32"):
            helpers.check_dtype("int32", "x", ["float32"], "op")
        with paddle.static.program_guard(paddle.static.Program()):
            helpers.check_variable_and_dtype(paddle.static.data("x", [1], "float32"), "x", ["float32"], "op")
    finally:
        paddle.disable_static()


def test_layer_helpers_make_parameters_and_append_no_operators() -> None:
    helper = paddle.common_ops_import.LayerHelper("my_op", act="relu", input=paddle.ones([2]))
    weight = helper.create_parameter(paddle.ParamAttr(name="of_helper"), [2, 3], "float32")
    assert (weight.name, weight.shape) == ("of_helper", [2, 3])
    assert helper.append_activation(paddle.to_tensor([-1.0])).numpy().tolist() == [0.0]
    assert helper.input_dtype() == paddle.float32
    with pytest.raises(NotImplementedError, match=r"append_op.*'conv2d'.*Call the public function"):
        helper.append_op(type="conv2d", inputs={})


def test_masks_become_numbers_to_add() -> None:
    convert = paddle.nn.layer.transformer._convert_attention_mask
    assert convert(None, "float32") is None
    for mask in (paddle.to_tensor([[True, False]]), paddle.to_tensor([[1, 0]])):
        assert convert(mask, paddle.float32).numpy().tolist() == [[0.0, -1e9]]
    assert convert(paddle.to_tensor([[1.0, 0.0]]), "float16").dtype == paddle.float16
    attributes = paddle.nn.layer.transformer._convert_param_attr_to_list(paddle.ParamAttr(name="w"), 2)
    assert [one.name for one in attributes] == ["w_0", "w_1"]
    assert paddle.nn.layer.transformer._convert_param_attr_to_list(False, 2) == [False, False]
    with pytest.raises(ValueError, match="3 attributes are wanted; received 2"):
        paddle.nn.layer.transformer._convert_param_attr_to_list([None, None], 3)


def test_tensors_are_filled_in_place() -> None:
    weight = nn.Linear(40, 30).weight
    init = paddle.nn.init
    assert init.constant_(weight, 2.0) is weight
    assert float(weight.min()) == float(weight.max()) == 2.0
    init.normal_(weight, 3.0, 0.1)
    assert abs(float(weight.mean()) - 3.0) < 0.02
    init.uniform_(weight, 1.0, 2.0)
    assert 1.0 <= float(weight.min()) < 1.1
    init.xavier_uniform_(weight)
    assert float(weight.abs().max()) <= (6 / 70) ** 0.5
    init.kaiming_uniform_(weight, a=5**0.5)
    assert float(weight.abs().max()) <= 40**-0.5 + 1e-6
    init.eye_(weight)
    np.testing.assert_array_equal(weight.numpy(), np.eye(40, 30, dtype="float32"))
    init.zeros_(weight)
    assert float(weight.abs().sum()) == 0.0


def test_inner_methods_of_tensors() -> None:
    x = paddle.to_tensor([1.0])
    assert x._md5sum() == "429d81ed2795e3c586906c6c335aa136" == hashlib.md5(np.float32(1).tobytes()).hexdigest()
    assert x._to(None, "float64").dtype == paddle.float64
    assert x.is_same(x)
    assert x._is_initialized()
    assert x._slice(0, 1).numpy().tolist() == [1.0]
    other = paddle.zeros([1])
    x._share_buffer_to(other)
    assert other.numpy().tolist() == [1.0]
    x._clear_data()
    assert not x._is_initialized()
    parameter = paddle.base.framework.EagerParamBase.from_tensor(other, name="taken", trainable=False)
    assert (parameter.name, parameter.stop_gradient, float(parameter)) == ("taken", True, 1.0)


def test_files_and_archives(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"abc")
    common = paddle.dataset.common
    assert common.md5file(tmp_path / "a.txt") == "900150983cd24fb0d6963f7d28e17f72"
    assert common.DATA_HOME.endswith("dataset")
    endpoints = paddle.utils.download._get_unique_endpoints(["a:1", "a:2", "b:1"])
    assert sorted(endpoint.split(":")[0] for endpoint in endpoints) == ["a", "b"]
    with pytest.raises(FileNotFoundError):
        common.md5file(tmp_path / "nothing")


def test_structures_are_walked() -> None:
    parse = paddle.framework.io._parse_every_object
    assert parse({"a": [1, (2, "x")]}, lambda one: isinstance(one, int), lambda one: one + 1) == {"a": [2, (3, "x")]}


def test_readers_of_readers() -> None:
    reader = paddle.reader
    count = lambda: iter(range(6))  # noqa: E731
    assert list(reader.buffered(count, 2)()) == list(range(6))
    assert sorted(reader.shuffle(count, 3)()) == list(range(6))
    assert list(reader.firstn(count, 2)()) == [0, 1]
    assert list(reader.compose(count, count)())[1] == (1, 1)
    with pytest.raises(reader.ComposeNotAligned):
        list(reader.compose(count, reader.firstn(count, 2))())

    def broken() -> Any:
        yield 1
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        list(reader.buffered(broken, 1)())


def test_detections_that_overlap_are_suppressed_as_paddle_does() -> None:
    random = np.random.default_rng(3)
    corners = random.uniform(0, 50, (2, 6, 2))
    boxes = np.concatenate([corners, corners + random.uniform(5, 30, (2, 6, 2))], -1).astype("float32")
    scores = random.uniform(0, 1, (2, 3, 6)).astype("float32")
    given = paddle.to_tensor(boxes), paddle.to_tensor(scores)
    out, index, counts = paddle._C_ops.multiclass_nms3(*given, None, 0.3, 4, 5, 0.4, True, 1.0, 0)
    assert index.numpy().reshape(-1).tolist() == [0, 4, 4, 2, 1, 7, 6, 7, 11, 10]
    assert counts.numpy().tolist() == [5, 5]
    assert out.numpy()[:, 0].tolist() == [1, 1, 2, 2, 2, 1, 1, 2, 2, 2]
    np.testing.assert_allclose(out.numpy()[:3, 1], [0.8711, 0.6129, 0.9211], atol=1e-4)
    named = ("score_threshold", 0.3, "nms_top_k", 4, "keep_top_k", 5, "nms_threshold", 0.4, "background_label", 0)
    again, *_ = paddle._legacy_C_ops.multiclass_nms3(*given, None, *named)
    np.testing.assert_array_equal(again.numpy(), out.numpy())
    flat = np.repeat(boxes.reshape(12, 1, 4), 3, axis=1), scores.transpose(0, 2, 1).reshape(12, 3)
    lengths = paddle.to_tensor([6, 6], dtype="int32")
    _, index, _ = paddle._C_ops.multiclass_nms3(
        paddle.to_tensor(flat[0]), paddle.to_tensor(flat[1]), lengths, 0.3, 4, 5, 0.4, True, 1.0, 0
    )
    assert index.numpy().reshape(-1).tolist() == [1, 13, 5, 8, 14, 19, 22, 23, 32, 35]
    nothing, index, counts = paddle._C_ops.multiclass_nms3(*given, None, 3.0, -1, -1, 0.6, False, 0.9, -1)
    assert (nothing.shape, index.shape, counts.numpy().tolist()) == ([0, 6], [0, 1], [0, 0])


def test_functions_translated_where_they_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    from proa.jit.sot import psdb, symbolic_translate  # type: ignore[import-not-found]

    seen = []

    @psdb.check_no_fallback
    def doubled(x: paddle.Tensor) -> paddle.Tensor:
        seen.append(psdb.in_sot())
        psdb.assert_true(x.shape[0] == 2)
        psdb.breakgraph()
        psdb.fallback(recursive=True)
        return x * 2 if x.sum() > 0 else x * 3

    translated = symbolic_translate(doubled, build_strategy=None)
    assert translated(paddle.to_tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert translated(paddle.to_tensor([-1.0, -2.0])).tolist() == [-3.0, -6.0]
    assert seen[0] is True
    assert psdb.in_sot() is False
    psdb.print("text", 1)
    assert capsys.readouterr().out == "[Dygraph] text 1\n"
