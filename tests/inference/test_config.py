"""Config accepts what scripts set, and answers what they ask."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proa import inference


def test_paths() -> None:
    config = inference.Config("a.json", "a.pdiparams")
    assert (config.model_dir(), config.prog_file(), config.params_file()) == ("", "a.json", "a.pdiparams")
    config.set_prog_file("b.json")
    assert config.prog_file() == "b.json"
    config.set_model("folder")
    assert (config.model_dir(), config.prog_file()) == ("folder", "")
    with pytest.raises(TypeError, match="a folder, or a program's"):
        inference.Config(1)


def test_options_are_remembered() -> None:
    config = inference.Config("folder")
    assert config.ir_optim()
    assert not config.glog_info_disabled()
    assert not config.use_gpu()
    config.switch_ir_optim(False)
    config.disable_glog_info()
    config.enable_memory_optim()
    config.enable_mkldnn()
    config.set_mkldnn_cache_capacity(10)
    config.set_cpu_math_library_num_threads(3)
    config.switch_use_feed_fetch_ops(False)
    assert not config.ir_optim()
    assert config.glog_info_disabled()
    assert config.mkldnn_enabled()
    assert config.cpu_math_library_num_threads() == 3
    assert not config.use_feed_fetch_ops_enabled()
    copied = inference.Config(config)
    config.switch_ir_optim(True)
    assert not copied.ir_optim()
    with pytest.raises(ValueError, match="at least 1"):
        config.set_cpu_math_library_num_threads(0)


def test_engines_that_are_not_there_warn() -> None:
    config = inference.Config("folder")
    with pytest.warns(UserWarning, match="no TensorRT here"):
        config.enable_tensorrt_engine(workspace_size=1 << 20, precision_mode=inference.PrecisionType.Half)
    assert not config.tensorrt_engine_enabled()
    with pytest.warns(UserWarning, match="there is no gpu:99"):
        config.enable_use_gpu(100, 99)
    assert not config.use_gpu()
    assert config.memory_pool_init_size_mb() == 100


def test_summary_is_a_table() -> None:
    config = inference.Config("program.json", "weights.pdiparams")
    config.enable_memory_optim()
    lines = config.summary().splitlines()
    assert len({len(line) for line in lines}) == 1
    assert any("program.json" in line for line in lines)
    assert any("memory_optim" in line for line in lines)


def test_enumerations_have_paddles_numbers() -> None:
    assert {member.name: int(member) for member in inference.DataType} == {
        "FLOAT32": 0, "INT64": 1, "INT32": 2, "UINT8": 3, "INT8": 4, "FLOAT16": 5, "BOOL": 6, "FLOAT64": 7, "BFLOAT16": 8,
    }  # fmt: skip
    assert int(inference.PlaceType.CUSTOM) == 4
    assert int(inference.PrecisionType.Bfloat16) == 3
    assert inference.get_num_bytes_of_data_type(inference.DataType.INT64) == np.dtype("int64").itemsize
    assert inference.get_version().startswith("version: 3.3.1")
    assert inference.get_trt_compile_version() == (0, 0, 0) == inference.get_trt_runtime_version()


NAMES = Path(__file__).with_name("paddle_names.json")


def test_every_public_name_of_paddle_is_there() -> None:
    """The table was written from Paddle 3.3.1: `dir()` of the module and its classes."""
    table = json.loads(NAMES.read_text())
    left_out = {"InternalUtils", "wrapper"}  # TensorRT's and transformers' inner switches; a module of Paddle's own
    assert sorted(set(table.pop("module")) - set(dir(inference))) == sorted(left_out)
    for kind, names in table.items():
        made = getattr(inference, kind)
        instance = made() if kind in ("Config", "XpuConfig") else next(iter(made)) if kind.endswith("Type") else made
        assert [name for name in names if not hasattr(instance, name)] == [], kind


def test_the_switches_that_mean_something_are_obeyed() -> None:
    config = inference.Config("folder")
    assert config._settings().level is None
    config.set_optimization_level(9)
    config.set_onednn_cache_capacity(5)
    config.set_cpu_math_library_num_threads(4)
    config.exp_disable_mixed_precision_ops({"softmax", "conv2d"})
    config.enable_onednn_bfloat16()
    settings = config._settings()
    assert (settings.level, settings.shapes, settings.threads) == (2, 5, 4)
    assert (settings.precision, settings.but) == ("bfloat16", ("conv2d", "softmax"))
    assert config.onednn_enabled()
    config.switch_ir_optim(False)
    assert config._settings().level == 0
    for wrong in (-1, "many"):
        with pytest.raises(ValueError, match="at least 0"):
            config.set_optimization_level(wrong)
        with pytest.raises(ValueError, match="at least 0"):
            config.set_mkldnn_cache_capacity(wrong)
    with pytest.raises(ValueError, match=r"int8 say so themselves: they come from paddle\.quantization"):
        config.enable_openvino_engine(config.Int8)
