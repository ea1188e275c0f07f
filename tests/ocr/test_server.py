"""Pictures over HTTP: the application with a reader that answers at once, and the whole command with real weights."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from proa.ocr.page import Page
from proa.ocr.pictures import load_picture
from proa.ocr.server import AT_ONCE, make_app

from .pages import draw


class Slow:
    """A reader that waits until it is told to go on."""

    def __init__(self, go: threading.Event | None = None) -> None:
        self.go, self.started = go, threading.Semaphore(0)

    def read(self, body: bytes) -> Page:
        picture = load_picture(body)
        self.started.release()
        if self.go is not None:
            assert self.go.wait(60)
        return Page(picture, [])


def picture(size: tuple[int, int] = (8, 4)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size).save(file, "PNG")
    return file.getvalue()


def client(reader: Any, **limits: int) -> TestClient:
    return TestClient(make_app(reader, **limits))


def test_answers_and_refusals() -> None:
    with client(Slow(), largest=1000) as caller:
        assert caller.get("/health").json() == {"alive": True, "busy": 0}
        assert "Drop a picture" in caller.get("/").text
        good = caller.post("/read", content=picture())
        assert (good.status_code, good.json()["width"], good.json()["lines"]) == (200, 8, [])
        wrong = caller.post("/read", content=b"no picture")
        assert (wrong.status_code, "cannot be read" in wrong.json()["error"]) == (400, True)
        assert caller.post("/read").status_code == 400
        assert caller.post("/read", content=b"x" * 1001).status_code == 413
        assert caller.get("/read").status_code == 405
        assert caller.get("/health").json()["busy"] == 0  # what failed holds no place


def test_a_crowd_is_refused_and_the_others_are_answered() -> None:
    go = threading.Event()
    reader = Slow(go)
    with client(reader, waiting=1) as caller:
        answers: list[int] = []
        threads = [
            threading.Thread(target=lambda: answers.append(caller.post("/read", content=picture()).status_code))
            for _ in range(AT_ONCE + 1)
        ]
        for thread in threads:
            thread.start()
        for _ in range(AT_ONCE):
            assert reader.started.acquire(timeout=60)
        while caller.get("/health").json()["busy"] < AT_ONCE + 1:
            pass
        refused = caller.post("/read", content=picture())
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        go.set()
        for thread in threads:
            thread.join()
        assert answers == [200] * (AT_ONCE + 1)


def test_the_command_serves_and_ends(weights: Path) -> None:
    command = [sys.executable, "-m", "proa", "ocr", "--serve", "--port", "0", "--models", str(weights)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = line.split(" at ")[1].split(" ")[0]
            file = io.BytesIO()
            Image.fromarray(np.pad(draw(["served text"], size=30), ((20, 20), (20, 20), (0, 0)), mode="edge")).save(
                file, "PNG"
            )
            answer = httpx.post(f"{address}read", content=file.getvalue(), timeout=100)
            assert answer.json()["text"] == "served text"
            busy = subprocess.run(
                [*command[:6], address.rsplit(":", 1)[1].strip("/"), *command[7:]],
                capture_output=True, text=True, timeout=100, check=False,
            )  # fmt: skip
            assert busy.returncode == 1
            assert "proa ocr:" in busy.stderr
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        finally:
            process.kill()
    assert process.returncode in (0, -signal.SIGTERM)


def test_pictures_or_serving_but_not_both(capsys: pytest.CaptureFixture[str]) -> None:
    from proa_command import main

    for words in (["ocr"], ["ocr", "--serve", "a.png"]):
        assert main(words) == 1
        assert "--serve alone" in capsys.readouterr().err
