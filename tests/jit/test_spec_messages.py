"""The message for an argument that does not fit its InputSpec names the argument, or says that it has no name."""

from __future__ import annotations

import pytest

import proa as paddle
from proa.static import InputSpec


def message(spec: InputSpec) -> str:
    function = paddle.jit.to_static(lambda x: x + 1, input_spec=[spec])
    with pytest.raises(ValueError) as caught:
        function(paddle.zeros([2, 4]))
    return str(caught.value)


def test_a_named_spec():
    assert "the argument image must have the shape of its InputSpec, [2, 3]" in message(InputSpec([2, 3], name="image"))


def test_a_spec_without_a_name():
    found = message(InputSpec([2, 3]))
    assert "a tensor argument must have the shape of its InputSpec, [2, 3]" in found
    assert "  " not in found
