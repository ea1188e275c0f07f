"""The page at `/`, in a real browser."""

from __future__ import annotations

import re

import numpy as np
import pytest

from proa.serving import Server, ServerSettings
from tests.serving.browser import page
from tests.serving.conftest import Served
from tests.serving.models import numbers


def _results(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split("\n")[1].split(",")])


def test_the_page_shows_and_tries_models(served: Served) -> None:
    x = numbers(2, seed=5)
    with page() as shown:
        shown.goto(f"http://{served.http}/")
        shown.wait_for_selector("#models tr:nth-child(5)")
        rows = [row.inner_text() for row in shown.query_selector_all("#models tr")]
        assert [re.split(r"\s+", row)[:3] for row in rows] == [
            ["dense", "1", "READY"], ["dense", "2", "READY"], ["mixing", "1", "READY"], ["two", "1", "READY"],
            ["types", "1", "READY"],
        ]  # fmt: skip
        assert "depend on each other" in rows[2]

        shown.select_option("#model", "dense/1")
        shown.wait_for_selector("#input-x")
        shown.fill(".sizes", "2, 4")
        shown.fill("#input-x", str(x.tolist()))
        shown.click("#run")
        shown.wait_for_selector("#result:not([hidden])")
        assert "Answered after" in shown.inner_text("#told")
        text = shown.inner_text("#result")
        assert text.startswith("output_0: FP32 [2,3]")
        np.testing.assert_allclose(_results(text), served.dense["1"](x).ravel(), rtol=1e-5)

        shown.fill("#input-x", "1, 2, three")
        shown.click("#run")
        shown.wait_for_selector("#told:has-text('three is no number')")
        shown.fill("#input-x", "1, 2, 3")
        shown.click("#run")
        shown.wait_for_selector("#told:has-text('not [2, 4]')")

        shown.select_option("#model", "two/1")
        shown.wait_for_selector("#input-flags")
        shown.fill("#input-words", "1 2 3 4 5")
        shown.fill("#input-flags", "true, false, 1, 0, 1")
        shown.click("#run")
        shown.wait_for_selector("#result:not([hidden])")
        expected = served.two(np.array([[1, 2, 3, 4, 5]]), np.array([[1, 0, 1, 0, 1]], bool))
        np.testing.assert_allclose(_results(shown.inner_text("#result")), expected[0].ravel(), rtol=1e-5)
        assert shown.problems == []


def test_the_page_asks_for_a_token(served: Served) -> None:
    settings = ServerSettings(http_port=0, grpc_port=None, tokens=("sesame",))
    with Server([str(served.folder / "two")], settings) as server, page() as shown:
        shown.goto(f"http://{server.http_address}/")
        shown.wait_for_selector("#asking:not([hidden])")
        assert shown.inner_text("#models") == ""
        shown.fill("#token", "sesame")
        shown.keyboard.press("Tab")
        shown.wait_for_selector("#models tr")
        assert "two" in shown.inner_text("#models")
        assert shown.problems == []


@pytest.mark.parametrize("name", ["content-security-policy", "cache-control"])
def test_headers_of_the_page(served: Served, name: str) -> None:
    import httpx

    found = httpx.get(f"http://{served.http}/")
    assert found.headers[name]
    assert "http://" not in found.text
    assert "https://" not in found.text
