"""The chat page, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx

from proa.llm.server import Server, Settings
from tests.llm.server.conftest import Running
from tests.llm.server.standin import served
from tests.serving.browser import page

MARKDOWN = """Sure, **this** is `code`:

```python
print("<b>")
```

1. one
2. two

<img src=x onerror="window.hacked = 1">"""


def _ask(shown: Any, text: str) -> None:
    shown.fill("#prompt", text)
    shown.press("#prompt", "Enter")


def _last(shown: Any) -> Any:
    return shown.locator(".message.assistant").last


def test_a_conversation(running: Running) -> None:
    with page() as shown:
        shown.set_viewport_size({"width": 1280, "height": 800})
        shown.goto(running.url)
        shown.wait_for_selector("#model option", state="attached")
        assert shown.is_disabled("#send")
        _ask(shown, f"say({MARKDOWN})yas")
        shown.wait_for_selector(".foot button")
        body = _last(shown).locator(".body")
        assert body.locator("strong").inner_text() == "this"
        assert body.locator("p code").inner_text() == "code"
        assert body.locator("pre").inner_text() == 'print("<b>")'
        assert body.locator("ol li").all_inner_texts() == ["one", "two"]
        assert body.locator("img").count() == 0  # what a model writes is text, never a part of the page
        assert shown.evaluate("window.hacked") is None
        assert "tokens/s" in _last(shown).locator(".foot").inner_text()

        shown.click("#open")
        shown.fill("#system", "be brief")
        shown.fill("#temperature", "0")
        shown.fill("#most", "7")
        _ask(shown, "and now?")
        shown.wait_for_selector(".message:nth-of-type(5) .foot button")
        assert "cut off" in _last(shown).inner_text()
        request = running.engine.requests[-1]
        assert bytes(request.prompt).decode().startswith("[system]be brief\n[user]say(")
        assert (request.sampling.temperature, request.sampling.max_tokens) == (0.0, 7)
        assert len(_last(shown).locator(".body").inner_text()) == 7

        shown.reload()  # the conversation is still there
        shown.wait_for_selector(".message:nth-of-type(5)")
        shown.click("#new")
        shown.wait_for_selector("#empty:not([hidden])")
        assert shown.locator(".message").count() == 0
        assert shown.problems == []


def _until(shown: Any, holds: Callable[[], bool]) -> None:
    """Waits for what the server does, which the page does not show."""
    for _ in range(500):
        if holds():
            return
        shown.wait_for_timeout(20)
    assert holds()


def test_stopping_an_answer_and_asking_again(running: Running) -> None:
    before = running.engine.num_cancelled
    with page() as shown:
        shown.goto(running.url)
        shown.wait_for_selector("#model option", state="attached")
        _ask(shown, "slow")
        while len(_last(shown).locator(".body").inner_text()) <= 3:
            shown.wait_for_timeout(20)
        shown.click("#stop")
        shown.wait_for_selector(".foot:has-text('stopped')")
        assert 3 < len(_last(shown).locator(".body").inner_text()) < 64
        shown.wait_for_selector("#send:not([hidden])")
        _until(shown, lambda: running.engine.num_cancelled == before + 1)
        num_requests = len(running.engine.requests)
        shown.click(".foot button:has-text('Try again')")
        shown.wait_for_selector("#stop:not([hidden])")
        _until(shown, lambda: len(running.engine.requests) == num_requests + 1)  # it is there before it is stopped
        shown.keyboard.press("Escape")
        shown.wait_for_selector("#send:not([hidden])")
        assert len(running.engine.requests) == num_requests + 1
        assert shown.locator(".message.user").count() == 1
        assert shown.problems == []


def test_errors_are_told_and_the_question_may_be_asked_again(running: Running) -> None:
    with page() as shown:
        shown.goto(running.url)
        shown.wait_for_selector("#model option", state="attached")
        _ask(shown, "x" * 3000)
        shown.wait_for_selector("#trouble:has-text('3007')")
        _ask(shown, "fail")
        shown.wait_for_selector("#trouble:has-text('the engine broke')")
        shown.click("#new")
        _ask(shown, "say(fine)yas")
        shown.wait_for_selector(".message.assistant:has-text('fine')")
        assert shown.is_hidden("#trouble")
        assert shown.problems == []


def test_nothing_is_wider_than_the_window(running: Running) -> None:
    with page() as shown:
        shown.goto(running.url)
        shown.wait_for_selector("#model option", state="attached")
        shown.click("#open")
        _ask(shown, f"say({'word' * 100}\n```\n{'code ' * 100}\n```)yas")
        shown.wait_for_selector(".foot button")
        for width in (1280, 390):
            shown.set_viewport_size({"width": width, "height": 700})
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
            assert shown.locator("#prompt").bounding_box()["y"] < 700


def test_the_page_asks_for_a_key() -> None:
    model = served()
    with Server([lambda: model], Settings(http_port=0, tokens=("sesame",))) as server, page() as shown:
        shown.goto(f"http://{server.http_address}/")
        shown.wait_for_selector("#trouble:has-text('API key')")
        shown.fill("#key", "sesame")
        shown.keyboard.press("Tab")
        shown.wait_for_selector("#model option", state="attached")
        _ask(shown, "say(hello)yas")
        shown.wait_for_selector(".message.assistant:has-text('hello')")
        assert shown.problems == []


def test_headers_of_the_page(running: Running) -> None:
    found = httpx.get(running.url)
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "http://" not in found.text
    assert "https://" not in found.text
