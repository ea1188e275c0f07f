"""Passes over static programs: what XLA does anyway is accepted, the rest says what to use."""

from __future__ import annotations

import pytest

from proa import static
from proa.distributed.passes import PassContext, PassManager, new_pass


def test_passes_that_join_operations_leave_programs_as_they_are() -> None:
    main, startup = static.Program(), static.Program()
    before = str(main)
    manager = PassManager([new_pass("fuse_elewise_add_act"), new_pass("build_cinn", {"a": 1})])
    context = manager.apply([main], [startup])
    assert manager.names == ["fuse_elewise_add_act", "build_cinn"]
    assert [each.name for each in context.passes] == manager.names
    assert manager.passes[1].get_attr("a") == 1
    assert str(main) == before


def test_a_context_keeps_what_passes_leave() -> None:
    context = PassContext()
    context.set_attr("key", 3)
    assert (context.get_attr("key"), context.get_attr("other", 5)) == (3, 5)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("auto_parallel_amp", NotImplementedError, "auto_cast"),
        ("auto_parallel_gradient_merge_pass", NotImplementedError, "gradient_accumulation_steps"),
        ("pipeline_scheduler_1F1B", NotImplementedError, "PipelineLayer"),
        ("fuse_nothing", ValueError, "fuse_adamw"),
        (3, TypeError, "string"),
    ],
)
def test_other_passes_say_what_to_use(name, error, words) -> None:
    with pytest.raises(error, match=words):
        new_pass(name)
