"""Signatures that are worked out late say what `inspect` says of the functions as they are written."""

from __future__ import annotations

import inspect
import os
import pathlib
import pickle
import subprocess
import sys
from functools import partial

import pytest

import proa as paddle
from proa.eager.declare import PUBLIC
from proa.eager.signatures import DeferredSignature, parameter_names, parameters_with_defaults


def one(x, y=2, *, z, w=None):
    return x


def rest(x, *more, y=1, **named):
    return x


@pytest.mark.parametrize("function", [one, rest, lambda: None, partial(one, 1), max, str.join, DeferredSignature])
def test_names_and_defaults_are_those_of_inspect(function):
    try:
        expected = list(inspect.signature(function).parameters.values())
    except ValueError:  # a function in C without a signature
        with pytest.raises(ValueError):
            parameter_names(function)
        return
    assert parameter_names(function) == [p.name for p in expected]
    assert [(name, default) for name, has, default in parameters_with_defaults(function) if has] == [
        (p.name, p.default) for p in expected if p.default is not p.empty
    ]


def test_every_public_function_knows_its_names_before_anybody_looks():
    checked = 0
    for name, function in PUBLIC.items():
        if inspect.isfunction(function):
            names = parameter_names(function)
            found = list(inspect.signature(function).parameters)
            assert [n for n in names if n != "out"] == [n for n in found if n != "out"], name
            checked += 1
    assert checked > 800


def test_a_signature_is_made_once_and_only_when_it_is_looked_at():
    made = []

    def make():
        made.append(1)
        return inspect.signature(one)

    signature = DeferredSignature(["x", "y", "z", "w"], make)
    assert not made
    assert str(signature) == "(x, y=2, *, z, w=None)"
    assert signature == inspect.signature(one)
    assert signature.bind(1, z=3).arguments == {"x": 1, "z": 3}
    assert signature.return_annotation is inspect.Signature.empty
    assert str(signature.replace(parameters=[])) == "()"
    assert pickle.loads(pickle.dumps(signature)) == signature
    assert len(made) == 1


def test_signatures_that_users_see():
    assert inspect.signature(paddle.reshape) == inspect.signature(paddle.reshape.__wrapped__)
    assert list(inspect.signature(paddle.sqrt).parameters) == ["x", "name", "out"]
    assert "out" not in inspect.signature(paddle.sqrt_).parameters
    with pytest.raises(TypeError, match="missing a required argument"):
        inspect.signature(paddle.multiply).bind()


def test_import_leaves_alone_what_it_does_not_need():
    code = (
        "import sys, numpy; before = set(sys.modules); import proa; "
        "print(*sorted({'jax', 'scipy', 'importlib.metadata', 'email', 'html', 'numpy.random', 'linecache', 'socket', "
        "'multiprocessing', 'asyncio', 'argparse'} & (set(sys.modules) - before)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(paddle.__file__).parents[1])}
    answer = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"], capture_output=True, text=True,
        timeout=60, check=True, env=environment,
    )  # fmt: skip
    assert answer.stdout.split() == []
