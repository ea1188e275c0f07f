"""`proa doctor --script`: what is said of a program's names."""

from __future__ import annotations

import json
import pathlib

import pytest

from proa.cli.script import examine
from proa_command import main

PROGRAM = """\
import paddle
import paddle.nn as nn
import numpy as np
from paddle.nn import functional as F
from paddle.nn.layer.norm import LayerNorm as Norm

def train(model):
    from paddle.nothing import x
    loss = F.cross_entropy(model(x), paddle.to_tensor([1]))
    paddle.no_such_function(loss.backward())
    paddle._C_ops.matmul_grad(1)
    state = paddle.load("a")
    again = paddle.load("b")
    return nn.Linear(1, 2), Norm(3), paddle.float32.name, np.no_such_function
"""


@pytest.fixture
def script(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path / "train.py"


def test_names_that_are_missing_raise_or_differ_are_told_with_their_line(script: pathlib.Path) -> None:
    findings, count = examine(script)
    found = {(one.line, one.name): one.verdict for one in findings}
    assert found[8, "paddle.nothing.x"] == "missing"
    assert found[10, "paddle.no_such_function"] == "missing"
    assert found[11, "paddle._C_ops.matmul_grad"] == "raises"
    assert found[12, "paddle.load"] == "differs"
    assert (13, "paddle.load") not in found  # said once
    assert not any(
        name.startswith(("paddle.nn", "paddle.float32", "numpy")) for _, name in found if found[_, name] != "differs"
    )
    assert count == 12
    advice = next(one.text for one in findings if one.verdict == "raises")
    assert "use paddle.matmul and its gradient" in advice


def test_the_command_prints_lines_and_fails_where_something_is_missing(
    script: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--script", str(script)]) == 1
    out = capsys.readouterr().out
    assert f"{script}:10: paddle.no_such_function missing: there is no paddle.no_such_function here" in out
    assert "12 names of paddle are used; 2 are missing, 1 raise" in out
    assert main(["doctor", "--script", str(script), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["names"] == 12
    script.write_text("import paddle\npaddle.ones([1])\n")
    assert main(["doctor", "--script", str(script)]) == 0


def test_a_folder_is_read_whole_and_what_is_not_python_is_said(script: pathlib.Path) -> None:
    (script.parent / "broken.py").write_text("def f(:\n")
    findings, _ = examine(script.parent)
    assert {pathlib.Path(one.path).name for one in findings} == {"train.py", "broken.py"}
    assert any("not Python" in one.text for one in findings)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        examine(script.parent / "nowhere.py")
