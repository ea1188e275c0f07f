"""The server and `proa chat` on the real engine and a small model: what comes out is what the model itself says."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import openai
import pytest

import proa as paddle
from proa import llm
from proa.llm.server import CannotServe, Server, Settings
from proa.llm.server.opening import named, open_model
from tests.llm.server.tiny import make, write_tokenizer

QUESTIONS = ["hello", "what is this?", "a", "tell me something long about the sea and the sky"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[openai.OpenAI]:
    def opened() -> Any:
        return open_model(str(folder), warm_up="none", rows=4, context=256, chunk=64, widening=64)

    with Server([opened], Settings(http_port=0)) as server:
        url = f"http://{server.http_address}/v1"
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0, timeout=100) as found:
            yield found


def _prompt(question: str) -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def _greedy(folder: Path, question: str, count: int) -> str:
    """What the model itself finds likeliest, token by token, without any cache."""
    from proa.llm.tokens import Tokenizer

    model, tokenizer = llm.load(folder), Tokenizer.from_folder(folder)
    tokens = tokenizer.encode(_prompt(question))
    start = len(tokens)
    with paddle.no_grad():
        while len(tokens) < start + count and tokens[-1] not in tokenizer.eos:
            tokens.append(int(model(paddle.to_tensor([tokens])).numpy()[0, -1].argmax()))
    return tokenizer.decode(tokens[start:])


def test_answers_are_the_models_own_alone_and_beside_others(folder: Path, client: openai.OpenAI) -> None:
    def ask(question: str) -> str:
        messages: Any = [{"role": "user", "content": question}]
        options: Any = {"model": "tiny", "messages": messages, "temperature": 0, "max_tokens": 12}
        if len(question) % 2:
            chunks = client.chat.completions.create(**options, stream=True)
            return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        return client.chat.completions.create(**options).choices[0].message.content or ""

    expected = {question: _greedy(folder, question, 12) for question in QUESTIONS}
    assert len(set(expected.values())) == len(QUESTIONS)
    assert {question: ask(question) for question in QUESTIONS} == expected
    with ThreadPoolExecutor(8) as threads:
        for _ in range(2):
            assert dict(zip(QUESTIONS * 4, threads.map(ask, QUESTIONS * 4))) == expected


def test_logprobs_are_the_models_own(folder: Path, client: openai.OpenAI) -> None:
    found = client.completions.create(model="tiny", prompt=[5, 6, 7], max_tokens=1, temperature=0, logprobs=3).choices[
        0
    ]
    with paddle.no_grad():
        logits = llm.load(folder)(paddle.to_tensor([[5, 6, 7]])).numpy()[0, -1].astype(np.float64)
    chances = logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
    assert found.logprobs is not None
    assert found.logprobs.token_logprobs is not None
    np.testing.assert_allclose(found.logprobs.token_logprobs[0], chances.max(), atol=1e-4)
    top = sorted(found.logprobs.top_logprobs[0].values(), reverse=True)  # type: ignore[index, union-attr]
    np.testing.assert_allclose(top, np.sort(chances)[::-1][: len(top)], atol=1e-4)


def test_schemas_and_forced_calls_are_kept_to(client: openai.OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "a person"}]
    schema = {
        "type": "object", "required": ["name", "age"], "additionalProperties": False,
        "properties": {"name": {"enum": ["Ann", "Bob"]}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    }  # fmt: skip
    for seed in range(3):
        wanted: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
        found = client.chat.completions.create(model="tiny", messages=messages, response_format=wanted, seed=seed)
        person = json.loads(found.choices[0].message.content or "")
        assert person["name"] in ("Ann", "Bob")
        assert 0 <= person["age"] <= 99
    tools: Any = [{"type": "function", "function": {"name": "meet", "parameters": schema}}]
    found = client.chat.completions.create(model="tiny", messages=messages, tools=tools, tool_choice="required", seed=1)
    (call,) = found.choices[0].message.tool_calls or ()
    assert (call.function.name, found.choices[0].finish_reason) == ("meet", "tool_calls")  # type: ignore[union-attr]
    assert json.loads(call.function.arguments)["name"] in ("Ann", "Bob")  # type: ignore[union-attr]
    wrong: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nonsense"}}}
    with pytest.raises(openai.BadRequestError, match="nonsense"):
        client.chat.completions.create(model="tiny", messages=messages, response_format=wrong)
    with pytest.raises(openai.BadRequestError, match="logit_bias"):
        client.chat.completions.create(model="tiny", messages=messages, logit_bias={"99999": 1})


def test_embeddings_do_not_depend_on_padding_and_company(folder: Path, client: openai.OpenAI) -> None:
    texts = ["hello", "a longer text than the others are", "x"]
    together = client.embeddings.create(model="tiny", input=texts).data
    model = llm.load(folder)
    for text, entry in zip(texts, together):
        alone = client.embeddings.create(model="tiny", input=text).data[0].embedding
        np.testing.assert_allclose(entry.embedding, alone, atol=1e-5)
        from proa.llm.tokens import Tokenizer

        tokens = Tokenizer.from_folder(folder).encode(text)
        with paddle.no_grad():
            mean = model.hidden(paddle.to_tensor([tokens])).numpy()[0].mean(0)
        np.testing.assert_allclose(entry.embedding, mean / np.linalg.norm(mean), atol=1e-5)


def test_an_encoder_is_served_for_embeddings_alone(tmp_path: Path) -> None:
    from proa.llm.encoder import Encoder
    from proa.llm.tokens import Tokenizer

    paddle.seed(5)
    sizes = {
        "vocab_size": 258,
        "hidden_size": 32,
        "layers": 2,
        "heads": 2,
        "intermediate_size": 64,
        "max_positions": 64,
    }
    kind = {"norm": "layer", "placement": "after", "positions": "learned", "gated": False, "activation": "gelu"}
    biases = {"attention_bias": True, "output_bias": True, "mlp_bias": True}
    model = Encoder(llm.Config("bert", token_types=2, head="", pooler=True, **sizes, **kind, **biases))
    model.eval()
    llm.save(model, tmp_path / "bert")
    write_tokenizer(tmp_path / "bert")
    tokens = Tokenizer.from_folder(tmp_path / "bert").encode("hello")
    with paddle.no_grad():
        mean = model.hidden(paddle.to_tensor([tokens])).numpy()[0].mean(0)
    with Server([lambda: open_model(str(tmp_path / "bert"))], Settings(http_port=0)) as server:
        options = {"base_url": f"http://{server.http_address}/v1", "api_key": "any", "max_retries": 0}
        with openai.OpenAI(**options) as client:
            found = client.embeddings.create(model="bert", input=["hello", "x" * 40])
            np.testing.assert_allclose(found.data[0].embedding, mean / np.linalg.norm(mean), atol=1e-5)
            with pytest.raises(openai.BadRequestError, match="writes no text"):
                client.completions.create(model="bert", prompt="hello")
            with pytest.raises(openai.BadRequestError, match="from 1 to 64 tokens"):
                client.embeddings.create(model="bert", input="x" * 65)
        assert httpx.get(f"http://{server.http_address}/metrics").status_code == 200


def test_names_and_paths() -> None:
    assert named("small=models/x") == ("small", "models/x")
    assert named("models/x") == (None, "models/x")
    assert named("a/b=c") == (None, "a/b=c")
    with pytest.raises(FileNotFoundError, match=r"\.gguf"):
        open_model("nowhere")


def test_models_that_cannot_be_opened(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    for opening in (lambda: open_model(str(tmp_path)), lambda: open_model("nowhere")):
        with pytest.raises(CannotServe):
            Server([opening], Settings(http_port=0)).start()
    twice = [lambda: open_model(str(folder), warm_up="none")] * 2
    with pytest.raises(CannotServe, match="two models are called tiny"):
        Server(twice, Settings(http_port=0)).start()


# ---- processes -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _process(*arguments: str, **environment: str) -> Iterator[tuple[Any, str]]:
    command = [sys.executable, "-m", "proa_command", "serve", *arguments, "--http-port", "0", "--log-format", "json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert process.stderr is not None
    try:
        for line in process.stderr:
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("message", "").startswith("ready"):
                yield process, entry["http"]
                return
        pytest.fail(f"the server ended with {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_sigterm_ends_answers_first(folder: Path) -> None:
    options = ("--no-warm-up", "--rows", "2", "--context", "256", "--log-requests")
    with _process("--llm", f"mine={folder}", *options, PROA_SERVE_TOKEN="sesame") as (process, address):
        url = f"http://{address}/v1/completions"
        headers = {"authorization": "Bearer sesame"}
        body = {"model": "mine", "prompt": [5, 6, 7], "max_tokens": 100, "temperature": 0, "stream": True}
        assert httpx.post(url, json=body).status_code == 401
        with httpx.stream("POST", url, json=body, headers=headers, timeout=100) as found:
            lines = found.iter_lines()
            next(lines)
            process.send_signal(signal.SIGTERM)
            rest = list(lines)
        assert rest[-2] == "data: [DONE]"
        assert process.wait(60) == 0
        log = [json.loads(line) for line in process.stderr if line.startswith("{")]
    (entry,) = [line for line in log if line.get("outcome") == "OK"]
    assert (entry["model"], entry["prompt_tokens"], entry["request_id"][:4]) == ("mine", 3, "req_")
    assert 0 < entry["first_token_milliseconds"] <= entry["milliseconds"]
    assert log[-1]["message"] == "stopped"


def test_chat_through_a_pipe(folder: Path) -> None:
    command = [sys.executable, "-m", "proa_command", "chat", str(folder), "--temperature", "0", "--max-tokens", "12"]
    command += ["--context", "256"]
    expected = _greedy(folder, "hello", 12)
    piped = subprocess.run(command, input="hello\n", capture_output=True, text=True, timeout=100)
    assert (piped.returncode, piped.stdout) == (0, expected + "\n"), piped.stderr


def test_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    from proa_command import main

    assert main(["chat", "/nowhere", "--prompt", "hello"]) == 1
    assert "proa chat: there is no /nowhere" in capsys.readouterr().err


@pytest.mark.slow
def test_a_terminal_is_talked_to(folder: Path) -> None:
    import pty

    command = [sys.executable, "-m", "proa_command", "chat", str(folder), "--max-tokens", "200", "--context", "256"]
    here, there = pty.openpty()
    process = subprocess.Popen(command, stdin=there, stdout=there, stderr=there, start_new_session=True)
    os.close(there)
    shown = bytearray()
    changed = threading.Condition()

    def read() -> None:
        with contextlib.suppress(OSError):  # a terminal that is closed
            while data := os.read(here, 4096):
                with changed:
                    shown.extend(data)
                    changed.notify_all()

    reading = threading.Thread(target=read, daemon=True)
    reading.start()

    def wait_for(text: bytes, count: int = 1) -> None:
        with changed:
            assert changed.wait_for(lambda: shown.count(text) >= count, 90), bytes(shown)

    try:
        wait_for(b"> ")
        os.write(here, b"/set max_tokens 5\n")
        wait_for(b"max_tokens 5")
        os.write(here, b"hello\n")
        wait_for(b"5 written")
        wait_for(b"> ", 3)
        os.kill(process.pid, signal.SIGINT)  # at the prompt: nothing is lost
        wait_for(b"(Ctrl-D leaves)")
        os.write(here, b"/exit\n")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        reading.join(5)
        os.close(here)


@pytest.mark.parametrize(("arguments", "text"), [
    ([], "name saved models"), (["x", "--llm", "y"], "name saved models"), (["--llm", "/nowhere"], "there is no /nowhere"),
    (["--llm", "x", "--engine", "xla"], "--engine means nothing"), (["x", "--context", "5"], "--context means nothing"),
    (["--llm", "x", "--http-port", "-1"], "over HTTP"), (["--llm", "x", "--adapter", "y"], "NAME=FOLDER"),
    (["x", "--adapter", "a=b"], "--adapter means nothing"),
])  # fmt: skip
def test_commands_that_cannot_be(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    from proa_command import main

    assert main(["serve", *arguments, "--http-port", "0"] if "-1" not in arguments else ["serve", *arguments]) == 1
    assert text in capsys.readouterr().err
