"""Programs that are compiled quickly first, and well once they have run often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.core.place import CPU, make_place
from proa.ir.recorder import LOCAL, flush_current
from proa.ir.tiers import compiler_options, lowering

ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)


def recorded() -> tuple[Any, list[Any], list[Any], Any]:
    flush_current()
    x = paddle.to_tensor(ARRAY)
    y = (x @ x.T) * 2.5
    segment = LOCAL.segment
    return segment.node.program((y._index,)), list(segment.inputs), list(segment.scalars), y


def test_a_program_that_runs_often_is_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "quick_options", lambda *_: {"xla_embed_ir_in_executable": True})
    monkeypatch.setattr(lowering, "_RUNS_TO_EARN", 3)
    monkeypatch.setattr(lowering, "_TIMES_TO_EARN", 0.0)
    program, inputs, scalars, _ = recorded()
    compiled = lowering.CompiledProgram(program, inputs, scalars, CPU, (), False)
    quick = compiled.executable
    expected = ARRAY @ ARRAY.T * 2.5
    for number in range(1, 8):
        np.testing.assert_allclose(np.asarray(compiled(inputs, scalars)[0]), expected, rtol=1e-6)
        assert (compiled.executable is quick) == (number < 3)
    assert compiled.improving is None


def test_heavy_programs_earn_it_sooner() -> None:
    def needed(size: int) -> int:
        flush_current()
        x = paddle.ones([size, size])
        y = x @ x
        program = LOCAL.segment.node.program((y._index,))
        return lowering._Improving(None, make_place("gpu", 0), program, {}).runs

    assert needed(4096) < needed(512) / 10
    assert needed(60000) == lowering._RUNS_TO_EARN


def test_a_better_program_that_cannot_be_made_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "quick_options", lambda *_: {"xla_embed_ir_in_executable": True})
    monkeypatch.setattr(lowering, "_RUNS_TO_EARN", 1)
    monkeypatch.setattr(lowering, "_TIMES_TO_EARN", 0.0)
    program, inputs, scalars, _ = recorded()
    compiled = lowering.CompiledProgram(program, inputs, scalars, CPU, (), False)
    quick = compiled.executable
    compiled.improving.lowered = None
    for _ in range(3):
        compiled(inputs, scalars)
    assert compiled.executable is quick
    assert np.asarray(compiled(inputs, scalars)[0]).shape == (2, 2)


def test_only_gpus_and_only_programs_with_products_are_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = make_place("gpu", 0)
    program = recorded()[0]
    assert compiler_options.quick_options(program, gpu, False) == compiler_options.QUICKLY
    assert compiler_options.quick_options(program, CPU, False) == {}
    assert compiler_options.quick_options(program, gpu, True) == {}  # several devices: all of them the same program
    light = type(program)(program.inputs, [i for i in program.instructions if not i.operation.contracts], ())
    assert compiler_options.quick_options(light, gpu, False) == {}
    paddle.set_flags({"FLAGS_quick_compile": False})
    try:
        assert compiler_options.quick_options(program, gpu, False) == {}
    finally:
        paddle.set_flags({"FLAGS_quick_compile": True})


def test_weights_stay_apart_where_few_rows_meet_them() -> None:
    def options(rows: int, kind: str = "gpu", sharded: bool = False) -> dict[str, Any]:
        flush_current()
        y = paddle.ones([rows, 64]) @ paddle.ones([64, 64])
        program = LOCAL.segment.node.program((y._index,))
        return compiler_options.standing_options(program, make_place(kind, 0), sharded)

    assert options(1) == compiler_options.WEIGHTS_APART
    assert options(64) == {}
    assert options(1, "cpu") == {}
    assert options(64, sharded=True) == compiler_options.OVERLAPPING
    assert options(1, sharded=True) == {**compiler_options.WEIGHTS_APART, **compiler_options.OVERLAPPING}
    assert options(64, "cpu", sharded=True) == {}


def test_xla_knows_the_options_of_many_devices() -> None:
    """Names of options come and go with its versions, and one that it does not know fails every program."""
    import jax

    lowered = jax.jit(lambda x: x + 1).lower(1.0)
    lowered.compile(compiler_options=compiler_options.OVERLAPPING)
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option"):
        lowered.compile(compiler_options={"xla_gpu_enable_something_else": True})
