"""`proa serve` as a process: its start, its end, its log, tokens and TLS."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from proa.serving import CannotServe, ModelSettings, Server, ServerSettings, version
from proa.serving.settings import read_tokens
from tests.serving.models import numbers, save_dense

TOKEN = {"authorization": "Bearer sesame"}
SLOW = """
import sys, time
from proa.serving import version
before = version._runner
def slow(predictor):
    run = before(predictor)
    def later(arrays):
        time.sleep({seconds})
        return run(arrays)
    return later
version._runner = slow
from proa_command import main
sys.exit(main(sys.argv[1:]))
"""


@contextlib.contextmanager
def _process(*arguments: str, seconds: float = 0.0, **environment: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A server whose models take at least `seconds`, and where it listens; killed if it is still there at the end."""
    command = [sys.executable, "-c", SLOW.format(seconds=seconds), "serve", *arguments]
    command += ["--http-port", "0", "--grpc-port", "0", "--log-format", "json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert process.stderr is not None
    try:
        for line in process.stderr:
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("message", "").startswith("ready"):
                yield process, entry
                return
        pytest.fail(f"the server ended with {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@contextlib.contextmanager
def _serving(path: str, seconds: float = 0.0, model: ModelSettings | None = None, **options: Any) -> Iterator[Server]:
    """The same in this process, which is quicker to start."""
    before = version._runner

    def slow(predictor: Any) -> Any:
        run = before(predictor)

        def later(arrays: Any) -> Any:
            time.sleep(seconds)
            return run(arrays)

        return later

    settings = ServerSettings(http_port=0, grpc_port=0, model=model or ModelSettings(max_batch_size=1), **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version, "_runner", slow)
        with Server([path], settings) as server:
            yield server


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    path = tmp_path_factory.mktemp("models") / "dense.proa"
    reference = save_dense(path)
    return str(path), reference


def _asked(address: str, x: np.ndarray, **options: Any) -> httpx.Response:
    scheme = options.pop("scheme", "http")
    entry = {"name": "x", "datatype": "FP32", "shape": list(x.shape), "data": x.ravel().tolist()}
    return httpx.post(f"{scheme}://{address}/v2/models/dense/infer", json={"inputs": [entry]}, timeout=60, **options)


def test_sigterm_answers_what_was_accepted(model: tuple[str, Any]) -> None:
    path, reference = model
    answers: dict[int, Any] = {}
    options = ("--max-batch-size", "1", "--log-requests")
    with _process(path, *options, seconds=0.3, PROA_SERVE_TOKEN="sesame") as (process, entry):
        address = entry["http"]
        assert _asked(address, numbers(1)).status_code == 401
        assert _asked(address, numbers(1)[:, :2], headers=TOKEN).status_code == 400

        def ask(seed: int) -> None:
            answers[seed] = _asked(address, numbers(1, seed), headers=TOKEN)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            shown = httpx.get(f"http://{address}/v2/models/stats", headers=TOKEN).json()["model_stats"][0]
            if shown["waiting"] >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert process.wait(20) == 0
        lines = [json.loads(line) for line in process.stderr if line.startswith("{")]
    logged = [(line["model"], line["outcome"]) for line in lines if "outcome" in line]
    assert logged == [("dense", "BAD_REQUEST")] + [("dense", "OK")] * 4
    assert all(line["milliseconds"] >= 0 for line in lines if "outcome" in line)
    for seed, answer in answers.items():
        assert answer.status_code == 200
        np.testing.assert_allclose(answer.json()["outputs"][0]["data"], reference(numbers(1, seed))[0], rtol=1e-5)
    with pytest.raises(httpx.TransportError):
        _asked(address, numbers(1))


def test_a_second_signal_leaves_at_once(model: tuple[str, Any]) -> None:
    with _process(model[0], seconds=0.5) as (process, entry):
        thread = threading.Thread(target=_asked_in_vain, args=(entry["http"],))
        thread.start()
        deadline = time.monotonic() + 20
        while (
            'proa_running_requests{model="dense",version="1"} 1.0'
            not in httpx.get(f"http://{entry['http']}/metrics").text
        ):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(5) == 1
        thread.join()


def _asked_in_vain(address: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        _asked(address, numbers(200))


def test_an_open_stream_does_not_keep_the_server(model: tuple[str, Any]) -> None:
    import tritonclient.grpc as library

    found: list[Any] = []
    with _serving(model[0]) as server:
        client = library.InferenceServerClient(server.grpc_address)
        client.start_stream(lambda result, error: found.append((result, error)))
        x = library.InferInput("x", [1, 4], "FP32")
        x.set_data_from_numpy(numbers(1))
        client.async_stream_infer("dense", [x])
        deadline = time.monotonic() + 20
        while not found and time.monotonic() < deadline:
            time.sleep(0.01)
        started = time.monotonic()
    assert time.monotonic() - started < 10
    assert found[0][1] is None
    client.stop_stream(cancel_requests=True)
    client.close()


def test_time_limit_and_full_queue(model: tuple[str, Any]) -> None:
    settings = ModelSettings(max_batch_size=1, timeout_ms=400, max_queue=1)
    with _serving(model[0], 0.6, settings) as server:
        address = server.http_address
        found: list[httpx.Response] = []
        threads = [
            threading.Thread(target=lambda: found.append(_asked(address, numbers(1)))) for _ in range(12)
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {answer.status_code for answer in found} == {503, 504}
        busy = next(answer for answer in found if answer.status_code == 503)
        assert busy.headers["retry-after"] == "1"
        assert "ask again later" in busy.json()["error"]
        metrics = httpx.get(f"http://{address}/metrics").text
        assert 'proa_requests_total{model="dense",outcome="TOO_LATE",protocol="http"}' in metrics


def test_tokens(model: tuple[str, Any], tmp_path: Path) -> None:
    import tritonclient.grpc
    import tritonclient.http

    (tmp_path / "tokens").write_text("# who may ask\nsesame\nother\n")
    with _serving(model[0], tokens=read_tokens(str(tmp_path / "tokens"))) as server:
        for library, address in ((tritonclient.http, server.http_address), (tritonclient.grpc, server.grpc_address)):
            with library.InferenceServerClient(address) as client:
                assert client.is_server_ready()  # health is for everybody
                x = library.InferInput("x", [1, 4], "FP32")
                x.set_data_from_numpy(numbers(1))
                for headers in (None, {"authorization": "Bearer wrong"}, {"authorization": "Basic sesame"}):
                    calls = [
                        functools.partial(client.infer, "dense", [x]),
                        functools.partial(client.unload_model, "dense"),
                        functools.partial(client.get_model_metadata, "dense"),
                    ]
                    for call in calls:
                        with pytest.raises(library.InferenceServerException, match=r"401|UNAUTHENTICATED"):
                            call(headers=headers)
                for token in ("sesame", "other"):
                    assert client.infer("dense", [x], headers={"authorization": f"Bearer {token}"}) is not None
        assert httpx.get(f"http://{server.http_address}/metrics").status_code == 401
        assert httpx.get(f"http://{server.http_address}/").status_code == 200
        metrics = httpx.get(f"http://{server.http_address}/metrics", headers={"authorization": "Bearer sesame"})
        assert metrics.status_code == 200


def test_tls(model: tuple[str, Any], tmp_path: Path) -> None:
    import tritonclient.grpc as library

    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate with")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate),
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    with _serving(model[0], certificate=str(certificate), private_key=str(key)) as server:
        x = numbers(2)
        trusted = ssl.create_default_context(cafile=str(certificate))
        assert _asked(server.http_address, x, scheme="https", verify=trusted).status_code == 200
        with pytest.raises(httpx.TransportError):
            _asked(server.http_address, x)
        with library.InferenceServerClient(server.grpc_address, ssl=True, root_certificates=str(certificate)) as client:
            given = library.InferInput("x", [2, 4], "FP32")
            given.set_data_from_numpy(x)
            np.testing.assert_allclose(client.infer("dense", [given]).as_numpy("output_0"), model[1](x), rtol=1e-5)


def test_what_cannot_start_says_why(model: tuple[str, Any], tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "model.proa").write_bytes(b"rubbish")
    (tmp_path / "none").mkdir()
    settings = ServerSettings(http_port=0, grpc_port=0)
    for name, text in (("nothing", "neither a folder"), ("bad", "bad/1: "), ("none", "there is no model in")):
        with pytest.raises(CannotServe, match=text):
            Server([str(tmp_path / name)], settings).start()
    with Server([str(tmp_path / "bad"), model[0]], replace(settings, keep_going=True)) as server:
        assert _asked(server.http_address or "", numbers(1)).status_code == 200
        found = httpx.get(f"http://{server.http_address}/v2/models/bad/ready")
        assert found.status_code == 503


def test_the_command_ends_with_an_error(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "proa_command", "serve", str(tmp_path / "nothing"), "--http-port", "0"]
    found = subprocess.run([*command, "--grpc-port", "0"], capture_output=True, text=True, timeout=100)
    assert found.returncode == 1
    assert "neither a folder nor a model" in found.stderr
    assert "Traceback" not in found.stderr


def test_settings_that_cannot_be() -> None:
    for settings, text in (
        (ServerSettings(http_port=None, grpc_port=None), "neither HTTP nor gRPC"),
        (ServerSettings(certificate="c"), "both"),
        (ServerSettings(certificate="/nothing", private_key="/nothing"), "no file"),
        (ServerSettings(max_request_mb=0), "max_request_mb"),
        (ServerSettings(tokens=("with space",)), "token"),
    ):
        with pytest.raises(ValueError, match=text):
            settings.checked()


def test_a_port_that_is_taken(model: tuple[str, Any]) -> None:
    with Server([model[0]], ServerSettings(http_port=0, grpc_port=0)) as server:
        http, grpc = (int(address.split(":")[1]) for address in (server.http_address, server.grpc_address))
        for settings in (
            ServerSettings(http_port=http, grpc_port=None),
            ServerSettings(http_port=None, grpc_port=grpc),
        ):
            with pytest.raises(CannotServe, match="cannot listen"):
                Server([model[0]], settings).start()


def test_open_servers_are_not_controlled_by_anybody(model: tuple[str, Any]) -> None:
    with Server([model[0]], ServerSettings(host="0.0.0.0", http_port=0, grpc_port=None)) as server:
        address = server.http_address.replace("0.0.0.0", "127.0.0.1")
        assert httpx.post(f"http://{address}/v2/repository/models/dense/unload").status_code == 403
        assert _asked(address, numbers(1)).status_code == 200
    assert ServerSettings().is_local
    assert not ServerSettings(host="0.0.0.0").may_control
    assert ServerSettings(host="0.0.0.0", tokens=("t",)).may_control
