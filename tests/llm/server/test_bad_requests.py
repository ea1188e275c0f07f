"""What cannot be answered: every refusal has OpenAI's shape, the right status, and leaves the server as it was."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
from typing import Any

import httpx
import openai
import pytest

from proa.llm.server import Server, Settings
from tests.llm.server.conftest import Running
from tests.llm.server.standin import expected_text, served

CHAT = {"model": "small", "messages": [{"role": "user", "content": "hello"}]}


def _post(running: Running, body: Any, path: str = "chat/completions", **options: Any) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body)
    return httpx.post(f"{running.url}/v1/{path}", content=content, timeout=30, **options)


def _checked(found: httpx.Response, status: int, text: str = "") -> dict[str, Any]:
    error = found.json()["error"]
    assert (found.status_code, sorted(error)) == (status, ["code", "message", "param", "type"]), found.text
    assert text in error["message"]
    assert found.headers["x-request-id"]
    return error


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a": ' * 2000, b"[" * 100_000, b'"text"', b"{'model': 'small'}",
])  # fmt: skip
def test_malformed_json(running: Running, body: bytes) -> None:
    _checked(_post(running, body), 400)


@pytest.mark.parametrize(("change", "param"), [
    ({"messages": None}, "messages"), ({"messages": []}, "messages"), ({"messages": "hello"}, "messages"),
    ({"messages": ["hello"]}, "messages[0]"), ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
    ({"messages": [{"content": "x"}]}, "messages[0].role"), ({"messages": [{"role": "user"}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
     "messages[0].content[0].type"),
    ({"messages": [{"role": "user", "content": "x", "colour": 1}]}, "messages[0].colour"),
    ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "messages"),
    ({"model": None}, "model"), ({"model": 3}, "model"),
    ({"temperature": -1}, "temperature"), ({"temperature": 3}, "temperature"), ({"temperature": "warm"}, "temperature"),
    ({"temperature": True}, "temperature"), ({"temperature": float("nan")}, "temperature"), ({"top_p": 2}, "top_p"),
    ({"max_tokens": 0}, "max_tokens"), ({"max_tokens": 1.5}, "max_tokens"), ({"max_tokens": 10**30}, "max_tokens"),
    ({"n": 0}, "n"), ({"n": 9}, "n"), ({"seed": 2**70}, "seed"), ({"stop": [""]}, "stop"), ({"stop": 3}, "stop"),
    ({"stop": ["x"] * 17}, "stop"), ({"logit_bias": {"x": 1}}, "logit_bias"), ({"logit_bias": {"1": 101}}, "logit_bias"),
    ({"logit_bias": [1]}, "logit_bias"), ({"logprobs": 1}, "logprobs"), ({"top_logprobs": 2}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"), ({"stream": "yes"}, "stream"),
    ({"stream_options": {"include_usage": True}}, "stream_options"), ({"modalities": ["audio"]}, "modalities"),
    ({"functions": [{"name": "x"}]}, "functions"), ({"colour": "red"}, "colour"), ({"user": "me"}, None),
])  # fmt: skip
def test_wrong_fields_are_named(running: Running, change: dict[str, Any], param: str | None) -> None:
    found = _post(running, {**CHAT, **change})
    if param is None:
        assert found.status_code == 200
        return
    error = _checked(found, 400, param.split("[")[0].split(".")[0])
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


@pytest.mark.parametrize(("change", "param"), [
    ({"prompt": None}, "prompt"), ({"prompt": []}, "prompt"), ({"prompt": [[]]}, "prompt"), ({"prompt": [1.5]}, "prompt"),
    ({"prompt": [-1]}, "prompt"), ({"prompt": [99999]}, "prompt"), ({"prompt": ["a"] * 9}, "prompt"),
    ({"prompt": ["a"] * 3, "n": 3}, "n"), ({"prompt": ""}, "prompt"), ({"suffix": "x"}, "suffix"),
    ({"best_of": 2}, "best_of"), ({"echo": True, "logprobs": 1}, "echo"), ({"logprobs": 21}, "logprobs"),
])  # fmt: skip
def test_wrong_fields_of_completions(running: Running, change: dict[str, Any], param: str) -> None:
    error = _checked(_post(running, {"model": "small", "prompt": "x", **change}, "completions"), 400)
    assert error["param"] == param


@pytest.mark.parametrize(("change", "param"), [
    ({"input": None}, "input"), ({"input": []}, "input"), ({"input": ""}, "input"), ({"input": "x" * 2049}, "input"),
    ({"encoding_format": "hex"}, "encoding_format"), ({"dimensions": 3}, "dimensions"),
])  # fmt: skip
def test_wrong_fields_of_embeddings(running: Running, change: dict[str, Any], param: str) -> None:
    assert _checked(_post(running, {"model": "small", "input": "x", **change}, "embeddings"), 400)["param"] == param


def test_prompts_that_are_too_long(running: Running) -> None:
    for length, status in ((2048 - 1 - len("[user]\n"), 200), (2048 - len("[user]\n"), 400)):
        found = _post(running, {**CHAT, "messages": [{"role": "user", "content": "x" * length}]})
        assert found.status_code == status
    error = _checked(found, 400, "2047 tokens")
    assert (error["param"], error["code"]) == ("messages", "context_length_exceeded")


def test_bodies_that_are_too_large(running: Running) -> None:
    large = json.dumps({**CHAT, "messages": [{"role": "user", "content": "x" * (1 << 20)}]}).encode()
    assert _checked(_post(running, large), 413)["code"] == "request_too_large"
    _checked(_post(running, gzip.compress(large), headers={"content-encoding": "gzip"}), 413)
    _checked(_post(running, b"x", headers={"content-encoding": "br"}), 415)
    packed = gzip.compress(json.dumps(CHAT).encode())
    assert _post(running, packed, headers={"content-encoding": "gzip"}).status_code == 200

    def pieces() -> Any:
        for _ in range(40):
            yield b" " * (1 << 16)

    _checked(httpx.post(f"{running.url}/v1/completions", content=pieces(), timeout=30), 413)


def test_unknown_models_paths_and_methods(running: Running, client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="there are: small") as caught:
        client.chat.completions.create(model="gpt-4", messages=[{"role": "user", "content": "x"}])
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    _checked(_post(running, {}, "audio/speech"), 404, "/v1/audio/speech")
    _checked(httpx.get(f"{running.url}/v1/chat/completions"), 405)


def test_pages_of_other_sites_are_refused(running: Running) -> None:
    _checked(_post(running, CHAT, headers={"origin": "http://example.org"}), 403)
    _checked(_post(running, CHAT, headers={"host": "example.org"}), 403)
    assert _post(running, CHAT, headers={"origin": running.url}).status_code == 200


def test_request_ids(running: Running) -> None:
    assert _post(running, CHAT, headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    for wrong in ("a b", "x" * 200, ""):
        found = _post(running, b"{", headers={"x-request-id": wrong}).headers["x-request-id"]
        assert found.startswith("req_")


def test_an_engine_that_fails(running: Running, client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "please fail"}]
    with pytest.raises(openai.InternalServerError, match="the engine broke"):
        client.chat.completions.create(model="small", messages=messages)
    chunks = client.chat.completions.create(model="small", messages=messages, stream=True)
    assert len("".join(next(chunks).choices[0].delta.content or "" for _ in range(4))) == 3
    with pytest.raises(openai.APIError, match="the engine broke"):
        next(chunks)
    assert _post(running, CHAT).status_code == 200


def _until(condition: Any, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True])
def test_callers_that_hang_up_are_forgotten(running: Running, stream: bool) -> None:
    before = running.engine.num_cancelled
    body = {**CHAT, "messages": [{"role": "user", "content": f"slow {stream}"}], "stream": stream, "n": 2}
    if stream:
        with httpx.stream("POST", f"{running.url}/v1/chat/completions", json=body, timeout=30) as found:
            next(found.iter_bytes())
    else:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{running.url}/v1/chat/completions", json=body, timeout=0.2)
    _until(lambda: running.engine.num_cancelled == before + 2)
    _until(lambda: running.engine.statistics()["running"] == 0)


def test_bodies_that_never_end(running: Running) -> None:
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: 100\r\n\r\n{{"
        connection.sendall(head.encode())
    assert _post(running, CHAT).status_code == 200


def test_a_flood_is_refused_and_what_was_accepted_is_answered(running: Running) -> None:
    async def ask(client: openai.AsyncOpenAI, number: int) -> str:
        messages: Any = [{"role": "user", "content": f"slow {number}"}]
        try:
            found = await client.chat.completions.create(model="small", messages=messages, temperature=0)
        except openai.RateLimitError as error:
            return f"{error.code}, {error.response.headers['retry-after']} s"
        assert found.choices[0].message.content == expected_text(f"[user]slow {number}\n")
        return "answered"

    async def flood() -> list[str]:
        async with openai.AsyncOpenAI(**running.options()) as client:
            return await asyncio.gather(*(ask(client, number) for number in range(64)))

    found = asyncio.run(flood())
    assert found.count("answered") >= 40
    assert set(found) == {"answered", "rate_limit_exceeded, 1 s"}
    assert asyncio.run(flood()).count("answered") >= 40  # the places are free again


def test_answers_that_take_too_long() -> None:
    model = served()
    with Server([lambda: model], Settings(http_port=0, timeout_seconds=0.3)) as server:
        body = {**CHAT, "messages": [{"role": "user", "content": "slow"}]}
        url = f"http://{server.http_address}/v1/chat/completions"
        error = _checked(httpx.post(url, json=body, timeout=30), 504)
        assert error["code"] == "timeout"
        with (
            pytest.raises(openai.APIError, match="took too long"),
            openai.OpenAI(base_url=url.removesuffix("/chat/completions"), api_key="x", max_retries=0) as client,
        ):
            list(client.chat.completions.create(**body, stream=True))
        _until(lambda: model.engine.num_cancelled == 2)


def test_api_keys() -> None:
    model = served()
    with Server([lambda: model], Settings(http_port=0, tokens=("sesame", "other"))) as server:
        url = f"http://{server.http_address}"
        for key in ("sesame", "other"):
            with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
                assert len(list(client.models.list())) == 2
        with openai.OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError) as caught:
                client.models.list()
            assert caught.value.code == "invalid_api_key"
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert httpx.get(f"{url}/health").status_code == 200
        assert httpx.get(f"{url}/").status_code == 200


def test_limits_of_the_server() -> None:
    model = served()
    with Server([lambda: model], Settings(http_port=0, max_prompt_tokens=20, max_tokens=5)) as server:
        url = f"http://{server.http_address}/v1/chat/completions"
        assert httpx.post(url, json=CHAT).json()["usage"]["completion_tokens"] == 5
        assert httpx.post(url, json={**CHAT, "max_tokens": 3}).json()["usage"]["completion_tokens"] == 3
        long = {**CHAT, "messages": [{"role": "user", "content": "x" * 20}]}
        _checked(httpx.post(url, json=long), 400, "20 tokens")


@pytest.mark.parametrize(
    "settings", [{"max_queue": 0}, {"max_tokens": 0}, {"timeout_seconds": 0}, {"certificate": "x"}]
)
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Server([], Settings(**settings))


def test_metrics_count_what_happened() -> None:
    model = served()
    with Server([lambda: model], Settings(http_port=0)) as server:
        url = f"http://{server.http_address}"
        assert httpx.post(f"{url}/v1/chat/completions", json={**CHAT, "temperature": 0}).status_code == 200
        httpx.post(f"{url}/v1/chat/completions", content=b"{")
        found = httpx.get(f"{url}/metrics")
        lines = dict(line.rsplit(" ", 1) for line in found.text.splitlines() if not line.startswith("#"))
        assert lines['proa_llm_requests_total{model="small",outcome="OK",path="chat"}'] == "1.0"
        assert lines['proa_llm_requests_total{model="",outcome="BAD_REQUEST",path="chat"}'] == "1.0"
        assert lines['proa_llm_prompt_tokens_total{model="small"}'] == str(float(len("[user]hello\n")))
        assert lines['proa_llm_written_tokens_total{model="small"}'] == "65.0"
        assert lines['proa_llm_time_to_first_token_seconds_count{model="small"}'] == "1.0"
        assert lines['proa_llm_time_between_tokens_seconds_count{model="small"}'] == "64.0"
        assert lines['proa_llm_engine_pages_free{model="small"}'] == "60.0"
        assert 0 < float(lines['proa_llm_time_to_first_token_seconds_sum{model="small"}']) < 10


def test_stopping_answers_what_was_accepted() -> None:
    model = served()
    server = Server([lambda: model], Settings(http_port=0)).start()
    url = f"http://{server.http_address}"
    answers: list[Any] = []
    body = {**CHAT, "messages": [{"role": "user", "content": "slow"}], "temperature": 0}

    def ask() -> None:
        answers.append(httpx.post(f"{url}/v1/chat/completions", json=body, timeout=30).json())

    asking = threading.Thread(target=ask)
    asking.start()
    _until(lambda: model.engine.statistics()["running"] == 1)
    server.stop()
    asking.join()
    assert answers[0]["choices"][0]["message"]["content"] == expected_text("[user]slow\n")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health")
