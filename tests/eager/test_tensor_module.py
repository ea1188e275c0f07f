"""`paddle.tensor` is a function, and the place where programs look for tensor functions."""

from __future__ import annotations

import importlib

import pytest

import proa as paddle


def test_it_makes_tensors() -> None:
    assert paddle.tensor([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_it_holds_the_tensor_functions() -> None:
    # As PaddleNLP makes its causal masks.
    mask = paddle.tensor.triu(paddle.ones([2, 2]), 1)
    assert mask.tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert paddle.tensor.qr is paddle.linalg.qr


@pytest.mark.parametrize(
    ("part", "name"),
    [("creation", "to_tensor"), ("manipulation", "reshape"), ("math", "add"), ("linalg", "matmul"), ("search", "argmax"),
     ("logic", "equal"), ("random", "randint"), ("stat", "mean")],
)  # fmt: skip
def test_its_parts_can_be_imported(part: str, name: str) -> None:
    module = importlib.import_module(f"proa.tensor.{part}")
    assert getattr(module, name) is getattr(paddle, name)
    assert getattr(paddle.tensor, part) is module
