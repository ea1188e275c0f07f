"""Pages about the design name files and functions that are there; walks name them in the order in which they are called."""

from __future__ import annotations

import ast
import functools
import json
import re
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.nn import functional as F
from proa.static import InputSpec

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "proa"
PAGES = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs" / "design").glob("*.md"))]
_NAMED = re.compile(r"`([\w/]+\.py): ([\w.]+)`")
_FILE = re.compile(r"`((?:\w+/)+\w+\.py)`")


@functools.cache
def defined(file: Path) -> frozenset[str]:
    """Everything that a file defines, by its qualified name."""
    found: set[str] = set()

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(prefix + target.id for target in targets if isinstance(target, ast.Name))
            elif isinstance(node, ast.If):
                visit([*node.body, *node.orelse], prefix)

    visit(ast.parse(file.read_text("utf-8")).body, "")
    return frozenset(found)


def missing(text: str) -> list[str]:
    """What a page names and the package does not have."""
    absent = [file for file in _FILE.findall(text) if not any((base / file).is_file() for base in (PACKAGE, ROOT))]
    for file, name in _NAMED.findall(text):
        path = PACKAGE / file
        if not path.is_file() or name not in defined(path):
            absent.append(f"{file}: {name}")
    return absent


def steps(title: str) -> list[tuple[str, str]]:
    """The functions that a walk names, in order."""
    text = (ROOT / "docs" / "design" / "walks.md").read_text("utf-8")
    section = text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [(file, name) for file, name in _NAMED.findall(section)]


@pytest.mark.parametrize("page", [page for page in PAGES if page.name == "walks.md"], ids=lambda page: page.stem)
def test_walks_name_what_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert len(_NAMED.findall(text)) > 50
    assert missing(text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_files_that_are_there(page: Path) -> None:
    """A file is often named from the folder that its paragraph is about."""
    text = page.read_text("utf-8")
    known = {
        str(path.relative_to(ROOT)) for folder in ("proa", "tools", "tests") for path in (ROOT / folder).rglob("*.py")
    }
    absent = [file for file in _FILE.findall(text) if not any(f"/{path}".endswith(f"/{file}") for path in known)]
    assert absent == []


def test_what_is_not_there_is_found() -> None:
    assert missing("`nn/layer.py: Layer.__call__` and `nn/layer.py: Layer.forward_`") == ["nn/layer.py: Layer.forward_"]
    assert missing("`nn/nothing.py: f`, `nn/lair.py`") == ["nn/lair.py", "nn/nothing.py: f"]


# ---- in the order in which they are called ------------------------------------------------------


def calls(function: Callable[[], Any], wanted: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The calls of these functions, in all threads that are started meanwhile, in order. A class stands for its making."""
    found: list[tuple[str, str]] = []
    package = str(PACKAGE) + "/"

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            name = (code.co_filename.removeprefix(package), code.co_qualname.removesuffix(".__init__"))
            if name in wanted:
                found.append(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


def first_out_of_order(walk: list[tuple[str, str]], called: list[tuple[str, str]]) -> tuple[str, str] | None:
    """The first step that is not called after the one before it."""
    rest = iter(called)
    return next((step for step in walk if step not in rest), None)


def test_what_is_out_of_order_is_found() -> None:
    assert first_out_of_order([("a", "f"), ("b", "g")], [("a", "f"), ("a", "f"), ("b", "g")]) is None
    assert first_out_of_order([("b", "g"), ("a", "f")], [("a", "f"), ("b", "g")]) == ("a", "f")


def test_a_training_step_goes_this_way() -> None:
    # What is generated beforehand or run on XLA only is named on the way: it is not called again in this order.
    aside = {"_generate", "linear", "_trace", "Tensor.item"}
    walk = [step for step in steps("One training step") if step[1] not in aside]
    model = nn.Linear(7, 5)  # sizes that no other test has, so that the path is new
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    x, y = paddle.ones([11, 7]), paddle.to_tensor(np.arange(11) % 5)
    losses = []

    def step() -> None:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())

    assert len(walk) > 12
    assert first_out_of_order(walk, calls(step, set(walk))) is None
    assert losses[0] > 0


def test_saving_and_loading_go_this_way(tmp_path: Path) -> None:
    walk = steps("A model saved and loaded")
    model, x, results = nn.Linear(4, 2), paddle.ones([3, 4]), []

    def there_and_back() -> None:
        paddle.jit.save(model, str(tmp_path / "model"), [InputSpec([None, 4])])
        results.append(paddle.jit.load(str(tmp_path / "model"))(x).numpy())

    assert len(walk) > 15
    # Readers are found when a file is read, and again when it runs; a Builder is made before it is filled.
    called = calls(there_and_back, set(walk))
    swapped = ("formats/paddle/writing/linear.py", "linear"), ("formats/paddle/writing/builder.py", "Builder")
    assert set(swapped) <= set(called)
    in_order = [step for step in walk if step not in swapped]
    assert first_out_of_order(in_order, called) is None
    np.testing.assert_allclose(results[0], model(x).numpy(), 1e-6)


def test_a_request_goes_this_way(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    from proa.serving import ModelSettings, Server, ServerSettings

    walk = steps("A served request")
    model = nn.Linear(4, 2)
    model.eval()
    paddle.jit.save(model, str(tmp_path / "dense" / "1" / "model.proa"), [InputSpec([None, 4], name="x")])
    answers: list[Any] = []
    question = {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}

    def ask() -> None:
        settings = ServerSettings(http_port=0, grpc_port=None, poll_seconds=0, model=ModelSettings(max_batch_size=2))
        with Server([str(tmp_path)], settings) as server:
            address = f"http://{server.http_address}/v2/models/dense/infer"
            with urllib.request.urlopen(address, json.dumps(question).encode(), timeout=60) as response:
                answers.append(json.load(response))

    assert len(walk) > 10
    # The body is written after the numbers were counted, and the loop may settle a request before its worker has returned.
    counted = ("serving/metrics.py", "Metrics.answered")
    called = calls(ask, set(walk))
    assert counted in called
    assert first_out_of_order([step for step in walk if step != counted], called) is None
    expected = model(paddle.to_tensor([[1.0, 2.0, 3.0, 4.0]])).numpy().ravel()
    np.testing.assert_allclose(answers[0]["outputs"][0]["data"], expected, 1e-5)
