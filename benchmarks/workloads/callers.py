"""Callers of a server: threads with tritonclient that ask, misbehave now and then, and check every answer.

`python -m benchmarks.workloads.callers WHAT.npz OPTIONS.json` prints what happened as JSON. proa is not imported.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException


class Caller:
    """One thread: its client, its misbehaviour, its tally."""

    def __init__(self, number: int, arrays: Any, options: dict[str, Any]) -> None:
        self.random = random.Random(1000 * options["seed"] + number)
        self.protocol = options["protocols"][number % len(options["protocols"])]
        self.library = tritonclient.http if self.protocol == "http" else tritonclient.grpc
        self.address = options[self.protocol]
        self.http = options["http"]
        self.oversized_numbers = int(options["limit_mb"] * (1 << 20) / 4) + 1000
        self.misbehaving = options["misbehaving"]
        self.inputs, self.outputs = arrays["inputs"], arrays["outputs"]
        self.seconds: list[float] = []
        self.tally: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, begin: float, until: float) -> None:
        # Without this, a broken connection of the HTTP client would wait for ever.
        options = {"connection_timeout": 60, "network_timeout": 60} if self.protocol == "http" else {}
        client = self.library.InferenceServerClient(self.address, **options)
        time.sleep(max(0.0, begin - time.time()))
        while time.time() < until and len(self.problems) < 3:
            if self.random.random() < self.misbehaving:
                kind = self.random.choice(["malformed", "oversized", "aborted"])
                getattr(self, kind)(client)
                self.tally[kind] += 1
            else:
                self.ask(client)
        client.close()

    def ask(self, client: Any) -> None:
        index = self.random.randrange(len(self.inputs))
        started = time.perf_counter()
        try:
            found = client.infer("model", [self._input(self.inputs[index])]).as_numpy("output_0")
        except Exception as error:
            self.problems.append(f"{self.protocol}: {type(error).__name__}: {error}"[:300])
            return
        self.seconds.append(time.perf_counter() - started)
        expected = self.outputs[index]
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-3, atol=1e-4):
            self.problems.append(f"{self.protocol}: a wrong answer for input {index}")

    def _input(self, array: np.ndarray, datatype: str = "FP32") -> Any:
        found = self.library.InferInput("x", list(array.shape), datatype)
        found.set_data_from_numpy(array)
        return found

    def _expect(self, code: tuple[str, ...], call: Any) -> None:
        try:
            call()
        except InferenceServerException as error:
            if not any(each in str(error) for each in code):
                self.problems.append(f"{self.protocol}: expected {code}, received {error}"[:300])
        except (OSError, ConnectionError):
            if "413" not in code:  # the server may stop reading before all has been sent
                raise
        else:
            self.problems.append(f"{self.protocol}: {code} was answered")

    def malformed(self, client: Any) -> None:
        good = self.inputs[0]
        name, array, codes = self.random.choice([
            ("absent", good, ("404", "NOT_FOUND")),
            ("model", good[..., :-1], ("400", "INVALID_ARGUMENT")),
            ("model", good.astype(np.float64), ("400", "INVALID_ARGUMENT")),
        ])  # fmt: skip
        given = self._input(np.ascontiguousarray(array), "FP64" if array.dtype == np.float64 else "FP32")
        self._expect(codes, lambda: client.infer(name, [given]))

    def oversized(self, client: Any) -> None:
        given = self._input(np.zeros((1, self.oversized_numbers), np.float32))
        self._expect(("413", "RESOURCE_EXHAUSTED"), lambda: client.infer("model", [given]))

    def aborted(self, client: Any) -> None:
        """A request that is given up: in the middle of its body, or while it is being answered."""
        if self.protocol == "grpc":
            call = client.async_infer("model", [self._input(self.inputs[0])], lambda result, error: None)
            time.sleep(self.random.random() * 0.02)
            call.cancel()
            return
        host, _, port = self.http.rpartition(":")
        body = self.inputs[0].tobytes()
        entry = {"name": "x", "datatype": "FP32", "shape": list(self.inputs[0].shape)}
        head = json.dumps({"inputs": [entry | {"parameters": {"binary_data_size": len(body)}}]}).encode()
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(
                f"POST /v2/models/model/infer HTTP/1.1\r\nhost: {self.http}\r\ncontent-length: {len(head) + len(body)}\r\n"
                f"inference-header-content-length: {len(head)}\r\n\r\n".encode()
            )
            connection.sendall((head + body)[: self.random.choice([10, len(head), len(head) + len(body)])])
            time.sleep(self.random.random() * 0.02)


def main(path: str, options_path: str) -> None:
    with open(options_path) as file:
        options = json.load(file)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    callers = [Caller(number, arrays, options) for number in range(options["callers"])]
    threads = [threading.Thread(target=caller.run, args=(options["begin"], options["until"])) for caller in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally: Counter[str] = Counter()
    for caller in callers:
        tally += caller.tally
    found = {
        "seconds": [each for caller in callers for each in caller.seconds], "tally": tally,
        "processor_seconds": time.process_time(),
        "problems": [problem for caller in callers for problem in caller.problems],
    }  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
