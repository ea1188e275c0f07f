"""What is malformed, too large or not offered is refused with the right status, and harms nobody else."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import time
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from proa.serving.http_body import HEADER_LENGTH
from tests.serving.conftest import Served
from tests.serving.models import numbers

INFER = "/v2/models/dense/infer"
GOOD: dict[str, Any] = {"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}


@pytest.fixture
def caller(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://{served.http}", timeout=30) as found:
        yield found


def _still_right(served: Served, caller: httpx.Client) -> None:
    x = numbers(1)
    found = caller.post(INFER, json={"inputs": [{**GOOD, "data": x.tolist()}]})
    assert found.status_code == 200
    np.testing.assert_allclose(found.json()["outputs"][0]["data"], served.dense["2"](x)[0], rtol=1e-5)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"[1]", "JSON object"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        ({}, "inputs must be a list"),
        ({"inputs": [1]}, "inputs must be a list of objects"),
        ({"inputs": []}, "the input x is missing"),
        ({"inputs": [GOOD, GOOD]}, "name of its own"),
        ({"inputs": [GOOD | {"name": "y"}]}, "no input 'y'"),
        ({"inputs": [GOOD | {"name": 3}]}, "name of its own"),
        ({"inputs": [GOOD | {"datatype": "INT64"}]}, "must be FP32"),
        ({"inputs": [GOOD | {"datatype": None}]}, "must be FP32"),
        ({"inputs": [GOOD | {"shape": [1, 5]}]}, "not [1, 5]"),
        ({"inputs": [GOOD | {"shape": [4]}]}, "must have the shape [-1, 4]"),
        ({"inputs": [GOOD | {"shape": [-1, 4]}]}, "at least 0"),
        ({"inputs": [GOOD | {"shape": [1.0, 4]}]}, "whole numbers"),
        ({"inputs": [GOOD | {"shape": "14"}]}, "list of sizes"),
        ({"inputs": [GOOD | {"shape": [True, 4]}]}, "whole numbers"),
        ({"inputs": [GOOD | {"shape": [0, 1 << 60], "data": []}]}, "must have the shape"),
        ({"inputs": [GOOD | {"data": [1, 2, 3]}]}, "not [1, 4]"),
        ({"inputs": [GOOD | {"data": ["1", "2", "3", "4"]}]}, "must be numbers"),
        ({"inputs": [GOOD | {"data": [1, 2, None, 4]}]}, "must be numbers"),
        ({"inputs": [GOOD | {"data": [[1, 2], [3]]}]}, "no tensor"),
        ({"inputs": [GOOD | {"data": 4}]}, "must be a list"),
        ({"inputs": [GOOD | {"data": [1e300, 1, 1, 1]}]}, "does not fit FP32"),
        ({"inputs": [{k: v for k, v in GOOD.items() if k != "data"}]}, "neither data nor binary_data_size"),
        ({"inputs": [GOOD | {"parameters": {"binary_data_size": 16}}]}, "0 bytes are left"),
        ({"inputs": [GOOD | {"parameters": {"binary_data_size": -1}}]}, "0 bytes are left"),
        ({"inputs": [GOOD | {"parameters": 3}]}, "parameters must be an object"),
        ({"inputs": [GOOD], "outputs": [{"name": "nothing"}]}, "no output 'nothing'"),
        ({"inputs": [GOOD], "outputs": 3}, "outputs must be a list"),
        ({"inputs": [GOOD], "id": 3}, "id must be a text"),
    ],
)
def test_malformed(served: Served, caller: httpx.Client, body: Any, text: str) -> None:
    found = caller.post(INFER, content=body if isinstance(body, bytes) else json.dumps(body))
    assert found.status_code == 400
    assert text in found.json()["error"]
    _still_right(served, caller)


@pytest.mark.parametrize(
    ("length", "behind", "text"),
    [
        ("99999", b"", "the body has"),
        ("abc", b"", "the body has"),
        ("-1", b"", "the body has"),
        ("²", b"", "the body has"),
        (None, b"\0" * 15, "15 bytes are left"),
        (None, b"\0" * 17, "belong to no input"),
    ],
)
def test_malformed_bytes(served: Served, caller: httpx.Client, length: str | None, behind: bytes, text: str) -> None:
    entry = {k: v for k, v in GOOD.items() if k != "data"} | {"parameters": {"binary_data_size": 16}}
    head = json.dumps({"inputs": [entry]}).encode()
    sent = (str(len(head)) if length is None else length).encode("latin-1")
    found = caller.post(INFER, content=head + behind, headers=[(HEADER_LENGTH.encode(), sent)])
    assert found.status_code == 400
    assert text in found.json()["error"]
    _still_right(served, caller)


def test_integers_must_fit(served: Served, caller: httpx.Client) -> None:
    flags = {"name": "flags", "datatype": "BOOL", "shape": [1, 5], "data": [1, 0, 1, 0, 1]}
    words = {"name": "words", "datatype": "INT64", "shape": [1, 5], "data": [1, 2, 3, 4, 5]}
    assert caller.post("/v2/models/two/infer", json={"inputs": [words, flags]}).status_code == 200
    for bad in ([1, 2, 3, 4, 1 << 64], [1, 2, 3, 4, 0.5], [1, 2, 3, 4, -(1 << 63) - 1]):
        found = caller.post("/v2/models/two/infer", json={"inputs": [words | {"data": bad}, flags]})
        assert found.status_code == 400, bad
    found = caller.post("/v2/models/two/infer", json={"inputs": [words, flags | {"data": [0, 1, 2, 0, 0]}]})
    assert found.status_code == 400
    assert "does not fit BOOL" in found.json()["error"]


def test_rows_must_agree(caller: httpx.Client) -> None:
    flags = {"name": "flags", "datatype": "BOOL", "shape": [1, 5], "data": [1, 0, 1, 0, 1]}
    words = {"name": "words", "datatype": "INT64", "shape": [2, 5], "data": list(range(10))}
    found = caller.post("/v2/models/two/infer", json={"inputs": [words, flags]})
    assert found.status_code == 400
    assert "same number of rows" in found.json()["error"]


def test_an_index_out_of_range_spoils_its_own_request_only(served: Served) -> None:
    import tritonclient.http as library

    flags = np.ones((1, 5), bool)

    def inputs(word: int) -> list[Any]:
        found = []
        for name, array, datatype in (("words", np.full((1, 5), word), "INT64"), ("flags", flags, "BOOL")):
            found.append(library.InferInput(name, [1, 5], datatype))
            found[-1].set_data_from_numpy(array)
        return found

    with library.InferenceServerClient(served.http, concurrency=12) as client:
        asked = [(word, client.async_infer("two", inputs(word))) for word in [1, 77, 2, 3, -50, 4] * 4]
        for word, answer in asked:
            if 0 <= word < 10:
                expected = served.two(np.full((1, 5), word), flags)[0]
                np.testing.assert_allclose(answer.get_result().as_numpy("output_0"), expected, rtol=1e-5)
            else:
                with pytest.raises(library.InferenceServerException, match=r"\[400\]"):
                    answer.get_result()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v2/models/absent/infer", 404),
        ("POST", "/v2/models/dense/versions/9/infer", 404),
        ("POST", "/v2/models/../../etc/infer", 404),
        ("GET", INFER, 405),
        ("GET", "/nothing", 404),
        ("GET", "/v2/models/absent", 404),
        ("GET", "/v2/models/absent/stats", 404),
        ("POST", "/v2/repository/models/absent/load", 404),
        ("POST", "/v2/repository/models/absent/unload", 404),
        ("POST", "/v2/repository/models/%2e%2e/load", 404),
    ],
)
def test_what_is_not_there(served: Served, caller: httpx.Client, method: str, path: str, status: int) -> None:
    found = caller.request(method, path, json={"inputs": [GOOD]} if method == "POST" and "infer" in path else None)
    assert found.status_code == status
    assert found.json()["error"]


@pytest.mark.parametrize(
    "entry",
    [
        {"inputs": [GOOD | {"parameters": {"shared_memory_region": "r"}}]},
        {"inputs": [GOOD], "outputs": [{"name": "output_0", "parameters": {"classification": 2}}]},
        {"inputs": [GOOD], "parameters": {"sequence_id": 7}},
    ],
)
def test_what_is_not_offered_is_said(caller: httpx.Client, entry: dict[str, Any]) -> None:
    found = caller.post(INFER, json=entry)
    assert found.status_code == 501
    assert "does not offer" in found.json()["error"]


def test_files_of_a_load_request_are_not_taken(caller: httpx.Client) -> None:
    body = {"parameters": {"config": "{}", "file:1/model.proa": "AAAA"}}
    assert caller.post("/v2/repository/models/dense/load", json=body).status_code == 501


def test_too_large(served: Served, caller: httpx.Client) -> None:
    big = b"x" * (2 << 20)
    found = caller.post(INFER, content=big)
    assert found.status_code == 413
    assert "1048576 bytes" in found.json()["error"]
    found = caller.post(INFER, content=(big[n : n + 65536] for n in range(0, len(big), 65536)))  # of unknown length
    assert found.status_code == 413
    for encoding, packed in (("gzip", gzip.compress(big)), ("deflate", zlib.compress(big))):
        found = caller.post(INFER, content=packed, headers={"content-encoding": encoding})
        assert found.status_code == 413, encoding
    _still_right(served, caller)


def test_too_large_over_grpc(served: Served) -> None:
    import grpc
    import tritonclient.grpc as library

    x = numbers(100_000)
    given = library.InferInput("x", list(x.shape), "FP32")
    given.set_data_from_numpy(x)
    with library.InferenceServerClient(served.grpc) as client:
        with pytest.raises(library.InferenceServerException, match="RESOURCE_EXHAUSTED"):
            client.infer("dense", [given])
        assert client.is_server_ready()
    with grpc.insecure_channel(served.grpc) as channel:
        method = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.RpcError) as caught:
            method(b"\xff\xff\xff\xff")
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("encoding", "body", "status"),
    [("br", b"x", 415), ("gzip", b"no gzip", 400), ("gzip", gzip.compress(b"{}" * 500)[:-20], 400)],
    ids=["unknown", "no gzip", "cut short"],  # the time is in such bytes, and every process must find the same tests
)
def test_bad_encodings(caller: httpx.Client, encoding: str, body: bytes, status: int) -> None:
    assert caller.post(INFER, content=body, headers={"content-encoding": encoding}).status_code == status


def test_pages_of_other_sites_are_refused(served: Served, caller: httpx.Client) -> None:
    path = "/v2/repository/models/dense/unload"
    assert caller.post(path, headers={"origin": "http://evil.example"}).status_code == 403
    assert caller.post(path, headers={"host": "evil.example"}).status_code == 403
    assert caller.post(INFER, json={"inputs": [GOOD]}, headers={"origin": f"http://{served.http}"}).status_code == 200


def test_bytes_that_are_no_http(served: Served, caller: httpx.Client) -> None:
    host, port = served.http.split(":")
    for sent in (b"\0" * 1000, b"POST / HTTP/9.9\r\n\r\n", b"GET " + b"/" * 100_000, b"\x16\x03\x01\x02\x00"):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    _still_right(served, caller)


def test_headers_without_end(served: Served, caller: httpx.Client) -> None:
    host, port = served.http.split(":")
    for start in (b"GET /", b"GET / HTTP/1.1\r\nhost: localhost\r\nx: "):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            sent = 0
            with contextlib.suppress(ConnectionError):
                connection.sendall(start)
                while sent < 20 << 20:
                    connection.sendall(b"x" * 65536)
                    sent += 65536
            assert sent < 20 << 20  # the server has hung up
    _still_right(served, caller)


def test_callers_who_go_away(served: Served, caller: httpx.Client) -> None:
    host, port = served.http.split(":")
    head = f"POST {INFER} HTTP/1.1\r\nhost: {served.http}\r\ncontent-length: 5000\r\n\r\n".encode()
    body = json.dumps({"inputs": [GOOD]}).ljust(5000).encode()
    for sent in (head[:20], head, head + body[:100], head + body):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(sent)
    _still_right(served, caller)
    deadline = time.monotonic() + 10
    while served.server.repository.find("dense").scheduler.depth and time.monotonic() < deadline:
        time.sleep(0.01)
    assert served.server.repository.find("dense").scheduler.depth == 0
