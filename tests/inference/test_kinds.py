"""The enumerations of `paddle.inference`, as users print and compare them."""

from __future__ import annotations

import pytest

from proa import inference


@pytest.mark.parametrize(
    ("member", "text", "value"),
    [
        (inference.DataType.FLOAT32, "PaddleDType.FLOAT32", 0),
        (inference.PlaceType.CPU, "PaddlePlace.CPU", 0),
        (inference.PrecisionType.Half, "Precision.Half", 2),
    ],
)
def test_members_are_printed_as_in_paddle(member: inference.DataType, text: str, value: int) -> None:
    assert str(member) == text
    assert repr(member) == f"<{text}: {value}>"
    assert member == value
    assert f"{member}" == text
