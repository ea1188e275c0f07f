"""tritonclient, unchanged, over HTTP and gRPC."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.serving.conftest import Served
from tests.serving.models import numbers


def _input(library: Any, name: str, array: np.ndarray, datatype: str, **options: Any) -> Any:
    found = library.InferInput(name, list(array.shape), datatype)
    found.set_data_from_numpy(array, **options)
    return found


def _close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_health_and_metadata(served: Served, client: Any, protocol: str) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("dense")
    assert client.is_model_ready("dense", "1")
    assert not client.is_model_ready("dense", "7")
    assert not client.is_model_ready("absent")
    as_json = {} if protocol == "http" else {"as_json": True}
    assert client.get_server_metadata(**as_json)["name"] == "proa"
    found = client.get_model_metadata("two", **as_json)
    assert [(entry["name"], entry["datatype"], list(map(int, entry["shape"]))) for entry in found["inputs"]] == [
        ("words", "INT64", [-1, 5]),
        ("flags", "BOOL", [-1, 5]),
    ]
    assert [entry["datatype"] for entry in found["outputs"]] == ["FP32", "INT64"]
    assert client.get_model_metadata("dense", **as_json)["versions"] == ["1", "2"]
    config = client.get_model_config("dense", **as_json)
    config = config if protocol == "http" else config["config"]
    assert config["max_batch_size"] == 4
    assert config["input"][0]["data_type"] == "TYPE_FP32"
    assert list(map(int, config["input"][0]["dims"])) == [4]


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 11, 0])
@pytest.mark.parametrize("version", ["", "1", "2"])
def test_results(served: Served, client: Any, library: Any, rows: int, version: str) -> None:
    x = numbers(rows, seed=rows)
    found = client.infer("dense", [_input(library, "x", x, "FP32")], model_version=version, request_id="r7")
    response = found.get_response()
    answered = response["id"] if isinstance(response, dict) else response.id
    assert answered == "r7"
    assert found.as_numpy("output_0").shape == (rows, 3)
    _close(found.as_numpy("output_0"), served.dense[version or "2"](x))


def test_two_inputs_in_any_order_and_one_output(served: Served, client: Any, library: Any) -> None:
    words = np.random.default_rng(3).integers(0, 10, (6, 5))
    flags = np.random.default_rng(4).integers(0, 2, (6, 5)).astype(bool)
    inputs = [_input(library, "flags", flags, "BOOL"), _input(library, "words", words, "INT64")]
    found = client.infer("two", inputs)
    expected = served.two(words, flags)
    _close(found.as_numpy("output_0"), expected[0])
    np.testing.assert_array_equal(found.as_numpy("output_1"), expected[1])
    only = client.infer("two", inputs, outputs=[library.InferRequestedOutput("output_1")])
    assert only.as_numpy("output_0") is None
    np.testing.assert_array_equal(only.as_numpy("output_1"), expected[1])


def test_rows_that_depend_on_each_other_are_not_put_together(served: Served, client: Any, library: Any) -> None:
    assert "depend on each other" in next(
        e["reason"] for e in served.server.repository.index() if e["name"] == "mixing"
    )
    for rows in (1, 3, 7):
        x = numbers(rows, seed=rows)
        _close(client.infer("mixing", [_input(library, "x", x, "FP32")]).as_numpy("output_0"), served.mixing(x))


def test_other_types(client: Any, library: Any) -> None:
    half = np.array([[1.5, -2.25, 1e-7], [60000, 0.1, -0.0]], np.float16)
    brain = np.array([[1.5, -2.25, 1e30], [3, 0.1, -0.0]], ml_dtypes.bfloat16)
    pixels = np.array([[0, 7, 255], [1, 2, 3]], np.uint8)
    given = [("half", half, "FP16"), ("brain", brain, "BF16"), ("pixels", pixels, "UINT8")]
    found = client.infer("types", [_input(library, *each) for each in given])
    with np.errstate(over="ignore"):
        expected = [half * np.float16(2), brain * ml_dtypes.bfloat16(2), pixels + np.uint8(1), pixels / 2]
    for number, array in enumerate(expected):
        result = found.as_numpy(f"output_{number}")
        assert result.dtype == array.dtype
        assert result.tobytes() == array.tobytes()


def test_half_floats_as_json_are_refused(served: Served) -> None:
    import httpx

    entry = {"name": "half", "datatype": "FP16", "shape": [1, 3], "data": [1, 2, 3]}
    found = httpx.post(f"http://{served.http}/v2/models/types/infer", json={"inputs": [entry]})
    assert found.status_code == 400
    assert "binary data only" in found.json()["error"]


def test_json_of_many_numbers(served: Served) -> None:
    """Large enough that it is read and written beside the event loop."""
    import httpx

    x = numbers(5000)
    entry = {"name": "x", "datatype": "FP32", "shape": [5000, 4], "data": x.ravel().tolist()}
    found = httpx.post(f"http://{served.http}/v2/models/dense/infer", json={"inputs": [entry]}, timeout=60)
    assert found.status_code == 200
    _close(np.array(found.json()["outputs"][0]["data"]).reshape(5000, 3), served.dense["2"](x))


def test_clients_of_asyncio(served: Served, protocol: str) -> None:
    import tritonclient.grpc.aio
    import tritonclient.http.aio

    library = tritonclient.http.aio if protocol == "http" else tritonclient.grpc.aio
    given = [numbers(2, seed=n) for n in range(10)]

    async def main() -> list[Any]:
        async with library.InferenceServerClient(getattr(served, protocol)) as client:
            return await asyncio.gather(*(client.infer("dense", [_input(library, "x", x, "FP32")]) for x in given))

    for x, found in zip(given, asyncio.run(main()), strict=True):
        _close(found.as_numpy("output_0"), served.dense["2"](x))


def test_metrics(served: Served, client: Any, library: Any, protocol: str) -> None:
    import httpx
    from prometheus_client.parser import text_string_to_metric_families

    def read() -> dict[tuple[str, ...], float]:
        text = httpx.get(f"http://{served.http}/metrics").text
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        return {
            (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value for sample in samples
        }

    before = read()
    for rows in (1, 2):
        client.infer("two", [_input(library, "words", np.ones((rows, 5), np.int64), "INT64"),
                             _input(library, "flags", np.ones((rows, 5), bool), "BOOL")])  # fmt: skip
    with pytest.raises(library.InferenceServerException):
        client.infer("two", [_input(library, "words", np.ones((1, 5), np.int64), "INT64")])
    after = read()
    grown = {key: value - before.get(key, 0.0) for key, value in after.items()}
    assert grown["proa_requests_total", "two", "OK", protocol] == 2
    assert grown["proa_requests_total", "two", "BAD_REQUEST", protocol] == 1
    assert grown["proa_rows_total", "two", "1"] == 3
    assert grown["proa_request_seconds_count", "two"] == 3
    assert after["proa_model_ready", "two", "1"] == 1
    assert after["proa_waiting_requests", "two", "1"] == 0


def test_json_instead_of_bytes(served: Served) -> None:
    import tritonclient.http as library

    x = numbers(3)
    with library.InferenceServerClient(served.http) as client:
        given = [_input(library, "x", x, "FP32", binary_data=False)]
        wanted = [library.InferRequestedOutput("output_0", binary_data=False)]
        found = client.infer("dense", given, outputs=wanted)
        assert "data" in found.get_output("output_0")
        _close(found.as_numpy("output_0"), served.dense["2"](x))
        mixed = client.infer("dense", [_input(library, "x", x, "FP32")], outputs=wanted)
        _close(mixed.as_numpy("output_0"), served.dense["2"](x))


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compressed_requests(served: Served, algorithm: str) -> None:
    import tritonclient.http as library

    x = numbers(5)
    with library.InferenceServerClient(served.http) as client:
        found = client.infer(
            "dense", [_input(library, "x", x, "FP32")], request_compression_algorithm=algorithm,
            response_compression_algorithm=algorithm,
        )  # fmt: skip
        _close(found.as_numpy("output_0"), served.dense["2"](x))


def test_numbers_in_grpc_messages(served: Served) -> None:
    """Clients that are not tritonclient send typed contents instead of raw bytes."""
    import grpc
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    x = numbers(2)
    request = service_pb2.ModelInferRequest(model_name="dense")
    given = request.inputs.add(name="x", datatype="FP32", shape=[2, 4])
    given.contents.fp32_contents.extend(x.reshape(-1).tolist())
    with grpc.insecure_channel(served.grpc) as channel:
        found = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request)
        _close(np.frombuffer(found.raw_output_contents[0], np.float32).reshape(2, 3), served.dense["2"](x))
        del given.contents.fp32_contents[-1]
        with pytest.raises(grpc.RpcError) as caught:
            service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_async_infer_over_http(served: Served) -> None:
    import tritonclient.http as library

    with library.InferenceServerClient(served.http, concurrency=8) as client:
        given = [numbers(1 + n % 3, seed=n) for n in range(24)]
        asked = [client.async_infer("dense", [_input(library, "x", x, "FP32")]) for x in given]
        for x, answer in zip(given, asked, strict=True):
            _close(answer.get_result().as_numpy("output_0"), served.dense["2"](x))


def test_async_infer_and_stream_over_grpc(served: Served) -> None:
    import tritonclient.grpc as library

    answers: queue.Queue[Any] = queue.Queue()
    given = {str(n): numbers(1 + n % 3, seed=n) for n in range(24)}

    def put(result: Any, error: Any) -> None:
        answers.put((result, error))

    def check() -> None:
        for _ in given:
            result, error = answers.get(timeout=30)
            assert error is None
            _close(result.as_numpy("output_0"), served.dense["2"](given[result.get_response().id]))

    with library.InferenceServerClient(served.grpc) as client:
        for name, x in given.items():
            client.async_infer("dense", [_input(library, "x", x, "FP32")], put, request_id=name)
        check()
        client.start_stream(put)
        for name, x in given.items():
            client.async_stream_infer("dense", [_input(library, "x", x, "FP32")], request_id=name)
        check()
        client.async_stream_infer("absent", [_input(library, "x", numbers(1), "FP32")])
        assert "no model 'absent'" in str(answers.get(timeout=30)[1])
        client.async_stream_infer("dense", [_input(library, "x", given["0"], "FP32")], request_id="0")
        _close(answers.get(timeout=30)[0].as_numpy("output_0"), served.dense["2"](given["0"]))
        client.stop_stream()


def test_statistics(served: Served, client: Any, library: Any, protocol: str) -> None:
    as_json = {} if protocol == "http" else {"as_json": True}

    def count() -> tuple[int, int]:
        found = client.get_inference_statistics("dense", "1", **as_json)["model_stats"][0]
        return int(found.get("inference_count", 0)), int(found["inference_stats"]["success"].get("count", 0))

    rows, requests = count()
    client.infer("dense", [_input(library, "x", numbers(3), "FP32")], model_version="1")
    assert count() == (rows + 3, requests + 1)


def test_many_threads_get_their_own_answers(served: Served, protocol: str, library: Any) -> None:
    wrong: list[Any] = []

    def ask(seed: int) -> None:
        try:
            with library.InferenceServerClient(getattr(served, protocol)) as client:
                for n in range(15):
                    x = numbers(1 + (seed + n) % 4, seed=100 * seed + n)
                    found = client.infer("dense", [_input(library, "x", x, "FP32")])
                    _close(found.as_numpy("output_0"), served.dense["2"](x))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    batches = [int(b["batch_size"]) for v in served.server.repository.served("dense", "2") for b in
               v.statistics.shown("", "")["batch_stats"]]  # fmt: skip
    assert max(batches) > 1
