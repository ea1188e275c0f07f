"""`python -m tests.llm.server.soak MODEL`: 2,000 requests at random over 64 connections, many of them misbehaving.

What has to hold: every greedy answer is that of a lone request, every refusal is the one it must be, the server is alive at
the end, its memory no larger than at the beginning (the first fifth left out), and it ends in order. MODEL is a folder or a
.gguf file.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

QUESTIONS = (
    "What is the capital of France?", "Name three colours.", "Why is the sky blue?", "What is 2 + 2?", "Write a haiku.",
    "Who wrote Hamlet?", "What do bees make?", "Count to five.", "What is water made of?", "Translate 'dog' to French.",
    "Tell me about the moon.", "What is a prime number?",
)  # fmt: skip
SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["name", "age"],
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
}  # fmt: skip
# Bodies of 9 MB come and go in several threads, and the allocator keeps more or less of them.
NOISE_MB = 40


def memory_mb(process: Any) -> float:
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


class Caller:
    """Sends requests of all kinds, and knows what must come back."""

    def __init__(self, client: httpx.AsyncClient, model: str, length: int, alone: dict[str, str], seed: int) -> None:
        self._client, self._model, self._length, self._alone = client, model, length, alone
        self._random = random.Random(seed)
        self.tally: collections.Counter[str] = collections.Counter()
        self.problems: list[str] = []
        self.started = time.perf_counter()

    async def one(self) -> None:
        kinds = (
            (self.whole, 30), (self.stream, 30), (self.two, 4), (self.schema, 4), (self.abort, 14), (self.oversize, 6),
            (self.malformed, 6), (self.huge, 2), (self.unknown, 2), (self.hang_up, 2),
        )  # fmt: skip
        (kind,) = self._random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        try:
            await kind()
            self.tally[kind.__name__] += 1
        except Exception as error:
            seconds = time.perf_counter() - self.started
            self.problems.append(f"{kind.__name__} at {seconds:.1f} s: {type(error).__name__}: {str(error)[:2000]}")
            print(self.problems[-1], flush=True)

    def _wish(self, **more: Any) -> tuple[str, dict[str, Any]]:
        question = self._random.choice(QUESTIONS)
        return question, {
            "model": self._model, "messages": [{"role": "user", "content": question}], "temperature": 0,
            "max_tokens": self._length, **more,
        }  # fmt: skip

    async def _post(self, body: Any, path: str = "chat/completions") -> httpx.Response:
        """Asks again when there are too many, as clients do."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        while True:
            found = await self._client.post(f"/v1/{path}", content=content)
            if found.status_code != 429:
                return found
            self.tally["too many"] += 1
            await asyncio.sleep(self._random.uniform(0.2, 1.0))

    def _expect(self, found: Any, wanted: Any, of: str = "") -> None:
        if found != wanted:
            raise AssertionError(f"{found!r} instead of {wanted!r}{of and ': '}{of}")

    async def _choices(self, wish: dict[str, Any]) -> list[dict[str, Any]]:
        """What a whole answer has to choose from; everything that came where it is no answer."""
        found = await self._post(wish)
        if found.status_code != 200:
            raise AssertionError(f"status {found.status_code}: {found.text} to {wish}")
        return found.json()["choices"]

    async def whole(self) -> None:
        question, wish = self._wish()
        (choice,) = await self._choices(wish)
        self._expect(choice["message"]["content"], self._alone[question], f"{question} {choice}")

    async def two(self) -> None:
        question, wish = self._wish(n=2)
        choices = await self._choices(wish)
        wanted = [self._alone[question]] * 2
        self._expect([choice["message"]["content"] for choice in choices], wanted, f"{question} {choices}")

    async def stream(self) -> None:
        question, wish = self._wish(stream=True)
        async with self._client.stream("POST", "/v1/chat/completions", json=wish) as found:
            if found.status_code == 429:
                self.tally["too many"] += 1
                return
            lines = [line async for line in found.aiter_lines() if line]
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        pieces = [event["choices"][0]["delta"].get("content") or "" for event in events if "choices" in event]
        came = f"{question} status {found.status_code}, {lines}"
        self._expect(("".join(pieces), lines[-1:]), (self._alone[question], ["data: [DONE]"]), came)

    async def schema(self) -> None:
        wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
        _, wish = self._wish(response_format=wanted, temperature=1.0, max_tokens=200, seed=self._random.randrange(1000))
        (choice,) = await self._choices(wish)
        self._expect(choice["finish_reason"], "stop", f"{wish} {choice}")
        self._expect(sorted(json.loads(choice["message"]["content"])), ["age", "name"])

    async def abort(self) -> None:
        _, wish = self._wish(stream=True, max_tokens=2000)
        async with self._client.stream("POST", "/v1/chat/completions", json=wish) as found:
            wanted = self._random.randrange(1, 8)
            async for line in found.aiter_lines():
                wanted -= line.startswith("data: ")
                if wanted <= 0:
                    return

    async def oversize(self) -> None:
        wish = {"model": self._model, "prompt": "word " * self._random.randrange(20_000, 60_000), "max_tokens": 4}
        found = await self._post(wish, "completions")
        self._expect((found.status_code, found.json()["error"]["code"]), (400, "context_length_exceeded"))

    async def malformed(self) -> None:
        _, wish = self._wish()
        text = json.dumps(wish).encode()
        wrong = [
            text[: self._random.randrange(len(text))],
            json.dumps({**wish, "n": -1}).encode(),
            b"\xff" + text,
            b"[]",
        ]
        self._expect((await self._post(self._random.choice(wrong))).status_code, 400)

    async def huge(self) -> None:
        self._expect((await self._post(b" " * (9 << 20))).status_code, 413)

    async def unknown(self) -> None:
        _, wish = self._wish(model="other")
        self._expect((await self._post(wish)).status_code, 404)

    async def hang_up(self) -> None:
        """Sends half of a request and goes away."""
        host, port = self._client.base_url.host, self._client.base_url.port
        _, writer = await asyncio.open_connection(host, port)
        writer.write(f"POST /v1/completions HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: 999\r\n\r\n{{".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()


async def answers_alone(client: httpx.AsyncClient, model: str, length: int) -> dict[str, str]:
    """What each question is answered when nobody else asks."""
    found = {}
    for question in QUESTIONS:
        wish = {
            "model": model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": length,
        }
        answer = await client.post("/v1/chat/completions", json=wish)
        found[question] = answer.json()["choices"][0]["message"]["content"]
    return found


async def call(address: str, process: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    num_requests, num_connections, length = arguments.requests, arguments.connections, arguments.length
    limits = httpx.Limits(max_connections=num_connections + 1)
    async with httpx.AsyncClient(base_url=f"http://{address}", timeout=900, limits=limits) as client:
        model = (await client.get("/v1/models")).json()["data"][0]["id"]
        alone = await answers_alone(client, model, length)
        caller = Caller(client, model, length, alone, arguments.seed)
        started_requests = finished_requests = 0
        memory = [memory_mb(process)]
        started = time.perf_counter()

        async def work() -> None:
            nonlocal started_requests, finished_requests
            while started_requests < num_requests:
                started_requests += 1
                await caller.one()
                finished_requests += 1
                if finished_requests % max(1, num_requests // 10) == 0:
                    memory.append(memory_mb(process))
                    told = (
                        f"{memory[-1]:.0f} MB, {len(caller.problems)} problems, {time.perf_counter() - started:.0f} s"
                    )
                    print(f"{finished_requests} requests, {told}", flush=True)

        await asyncio.gather(*(work() for _ in range(num_connections)))
        seconds = time.perf_counter() - started
        again = await answers_alone(client, model, length)
        metrics = (await client.get("/metrics")).text
    if again != alone:
        other = {question: (alone[question], text) for question, text in again.items() if text != alone[question]}
        caller.problems.append(f"after all of this a lone request is answered otherwise than before: {other}")
    lines = [line for line in metrics.splitlines() if "engine_" in line and not line.startswith("#")]
    return {
        "requests": num_requests, "connections": num_connections, "seconds": round(seconds, 1), **caller.tally,
        "memory_mb": [round(each) for each in memory], "problems": caller.problems[:20],
        "num_problems": len(caller.problems), "engine": lines,
    }  # fmt: skip


def soak(arguments: argparse.Namespace) -> dict[str, Any]:
    """What happened, as numbers and lists."""
    command = [
        sys.executable,
        "-m",
        "proa_command",
        "serve",
        "--llm",
        arguments.model,
        "--http-port",
        "0",
        "--log-format",
        "json",
    ]
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen([*command, *arguments.option], stderr=log)
        try:
            address = _address(process, Path(log.name))
            found = asyncio.run(call(address, process, arguments))
            found["alive"] = process.poll() is None
            process.send_signal(signal.SIGTERM)
            found["exit_status"] = process.wait(60)
        finally:
            process.kill()
            process.wait()
        lines = [json.loads(line) for line in Path(log.name).read_text().splitlines() if line.startswith("{")]
    memory = found["memory_mb"]
    found["grown_mb"] = statistics.median(memory[-3:]) - statistics.median(memory[2:5])
    found["errors_logged"] = [line["message"] for line in lines if line["level"] == "ERROR"][:10]
    found["load"] = round(os.getloadavg()[0], 1)
    good = not found["num_problems"] and found["alive"] and found["exit_status"] == 0 and not found["errors_logged"]
    found["good"] = good and found["grown_mb"] < NOISE_MB
    return found


def _address(process: Any, log: Path) -> str:
    """Where the server listens, once it is ready."""
    while process.poll() is None:
        for line in log.read_text().splitlines():
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("message", "").startswith("ready"):
                return entry["http"]
        time.sleep(0.1)
    raise RuntimeError(f"the server ended with {process.wait()}: {log.read_text()[-2000:]}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.llm.server.soak", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="of proa serve, such as --option=--rows=16")
    parser.add_argument("--length", type=int, default=12, help="tokens of an answer")
    found = soak(parser.parse_args())
    print(json.dumps(found, indent=1))
    return 0 if found["good"] else 1


if __name__ == "__main__":
    sys.exit(main())
