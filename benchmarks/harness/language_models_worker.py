"""One runtime with one GGUF model in a process of its own: `language_models_worker.py RUNTIME MODEL.gguf THREADS`.

Reads one command a line and answers with one line, both JSON: `{"do": "tokens", "text": …}`, `{"do": "read", "ids": …}`,
`{"do": "write", "ids": …, "count": …}`. For llama.cpp nothing of proa is imported.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

CONTEXT = 1024


class LlamaCpp:
    """llama.cpp through its Python package; the likeliest token is taken straight from its logits."""

    cache: dict[str, int] = {}  # noqa: RUF012  as it comes: float16

    def __init__(self, path: str, threads: int) -> None:
        # Read when the library is loaded. Threads that wait busily spin while the one they wait for is not running: on a
        # machine that others use too, two of them took sixty times as long for a token as one.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        import llama_cpp

        self.library = llama_cpp
        self.model = llama_cpp.Llama(
            path, n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, n_batch=512, verbose=False, **self.cache
        )

    def tokens(self, text: str) -> list[int]:
        return self.model.tokenize(text.encode(), special=True)

    def write(self, ids: list[int], count: int) -> Iterator[int]:
        import numpy as np

        self.model.reset()
        for _ in range(count):
            self.model.eval(ids)
            logits = self.library.llama_get_logits_ith(self.model.ctx, -1)
            ids = [int(np.argmax(np.ctypeslib.as_array(logits, (self.model.n_vocab(),))))]
            yield ids[0]


class WideLlamaCpp(LlamaCpp):
    """The same with its cache in float32: how far it agrees with itself."""

    cache = {"type_k": 0, "type_v": 0}  # noqa: RUF012


class Proa:
    """The engine on the file's own blocks."""

    arithmetic: str | None = None

    def __init__(self, path: str, threads: int) -> None:
        from proa.llm import load
        from proa.llm.engine import Engine, Options

        model = load(path, keep_quantised=True)
        model.config = model.config.changed(eos=())  # as many tokens as are asked for
        options = Options(rows=1, context=CONTEXT, chunk=512, prefixes=False, arithmetic=self.arithmetic)
        self.engine = Engine(model, None, options)

    def write(self, ids: list[int], count: int) -> Iterator[int]:
        from proa.llm.engine import Request, Sampling

        for piece in self.engine.submit(Request(ids, Sampling(max_tokens=count, temperature=0.0))):
            yield piece.token


class ProaAsLlamaCpp(Proa):
    """The same with llama.cpp's numbers, bit by bit."""

    arithmetic = "llama.cpp"


def measured(write: Callable[[list[int], int], Iterator[int]], ids: list[int], count: int) -> dict[str, Any]:
    """The tokens, when each came, and the processor's seconds for the first and for the others."""
    found: list[int] = []
    begun, work = time.perf_counter(), time.process_time()
    times, works = [], []
    for token in write(ids, count):
        found.append(token)
        times.append(time.perf_counter() - begun)
        works.append(time.process_time() - work)
    return {"tokens": found, "times": times, "first": works[0], "others": works[-1] - works[0]}


def main() -> int:
    runtime, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.environ["PROA_NATIVE_THREADS"] = str(threads)
    begun = time.perf_counter()
    kinds = {"proa": Proa, "proa as llama.cpp": ProaAsLlamaCpp, "llama.cpp": LlamaCpp, "wide llama.cpp": WideLlamaCpp}
    peer: Any = kinds[runtime](path, threads)
    print(json.dumps({"load": time.perf_counter() - begun}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "tokens":
            answer: Any = peer.tokens(asked["text"])
        else:
            answer = measured(peer.write, asked["ids"], asked.get("count", 1))
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    # The engine's thread ends with the process.
    status = main()
    sys.stdout.flush()
    os._exit(status)
