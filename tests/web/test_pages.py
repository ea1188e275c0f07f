"""Exported pages in a headless browser. `python -m tests.web` draws more."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.export.web.runtime import copy_runtime
from proa.export.web.site import export_site

from .browser import browser_problem, opened
from .digits import train_digits
from .drawings import DIGITS, draw

pytestmark = pytest.mark.skipif(browser_problem() is not None, reason=str(browser_problem()))


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> str:
    given = os.environ.get("PROA_ORT_WEB")
    if given:
        return given
    folder = tmp_path_factory.mktemp("runtime")
    try:
        copy_runtime(folder)
    except OSError as error:
        pytest.skip(f"ONNX Runtime Web is not here: {error}")
    return str(folder)


def test_drawn_digits_are_recognised(runtime: str, tmp_path: Path) -> None:
    train_digits(tmp_path / "digits.proa")
    site = tmp_path / "site"
    export_site(str(tmp_path / "digits.proa"), site, "draw", runtime=runtime)
    with opened(site) as page:
        assert {digit: draw(page, DIGITS[digit][0]) for digit in "0257"} == {digit: digit for digit in "0257"}
        page.click("#clear")
        assert page.locator("#answer").text_content() == ""


def test_any_model_gives_what_it_gives_here_and_says_what_is_wrong(runtime: str, tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    paddle.jit.save(model, str(tmp_path / "m.proa"), input_spec=[paddle.static.InputSpec([None, 3], "float32", "x")])
    site = tmp_path / "site"
    export_site(str(tmp_path / "m.proa"), site, runtime=runtime)
    values = [[0.5, -1.0, 2.0], [1.0, 2.0, 3.0]]
    with opened(site) as page:
        page.fill("#inputs", json.dumps({"x": values}))
        page.click("#run")
        page.wait_for_function("() => document.getElementById('results').textContent !== ''")
        [found] = json.loads(page.locator("#results").text_content()).values()
        assert np.allclose(found, model(paddle.to_tensor(values)).numpy(), atol=1e-6)
        for wrong, message in (("{", "JSON"), ('{"y": 1}', "no input x"), ('{"x": [[1, 2], [3]]}', "nested lists")):
            page.fill("#inputs", wrong)
            page.click("#run")
            page.wait_for_selector("#status.failed")
            assert message in page.locator("#status").text_content()
    (site / "model.onnx").unlink()
    with opened(site) as page:
        assert "model.onnx cannot be had: the server answers 404" in page.locator("#status").text_content()
    shutil.copyfile(site / "page.css", site / "model.onnx")
    with opened(site) as page:
        assert page.locator("#status.failed").count() == 1
