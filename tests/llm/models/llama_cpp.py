"""GGUF files by llama.cpp and by us: `PROA_PARITY_LLAMA_PYTHON=… python -m tests.llm.models.llama_cpp`.

The other Python has llama-cpp-python. It reads small files in float32 and gives the logits of 24 tokens. With
`--file MODEL.gguf` it is a real model instead: its weights are written again as float32, which is what is judged. The file
itself is shown beside it: llama.cpp rounds activations to 8 bits where weights are quantised, and we do not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import proa as paddle

IDS = [1, *(5 + 7 * number % 80 for number in range(23))]
OTHER = """
import sys
import llama_cpp as cpp
import numpy as np
path, out, ids = sys.argv[1], sys.argv[2], [int(x) for x in sys.argv[3].split(",")]
cpp.llama_backend_init()
model = cpp.llama_model_load_from_file(path.encode(), cpp.llama_model_default_params())
options = cpp.llama_context_default_params()
options.n_ctx, options.n_batch, options.type_k, options.type_v = 128, 128, 0, 0
options.n_threads, options.n_threads_batch = 1, 1  # several wait busily for each other
options.flash_attn_type = 0
context = cpp.llama_init_from_model(model, options)
batch = cpp.llama_batch_init(len(ids), 0, 1)
batch.n_tokens = len(ids)
for place, token in enumerate(ids):
    batch.token[place], batch.pos[place], batch.n_seq_id[place], batch.logits[place] = token, place, 1, 1
    batch.seq_id[place][0] = 0
assert cpp.llama_decode(context, batch) == 0
size = cpp.llama_vocab_n_tokens(cpp.llama_model_get_vocab(model))
rows = [np.ctypeslib.as_array(cpp.llama_get_logits_ith(context, n), (size,)).copy() for n in range(len(ids))]
np.save(out, np.stack(rows))
"""


def other(path: Path, ids: list[int], scratch: Path) -> np.ndarray:
    python = os.environ.get("PROA_PARITY_LLAMA_PYTHON")
    if not python:
        sys.exit("PROA_PARITY_LLAMA_PYTHON must name a Python with llama-cpp-python.")
    command = [python, "-c", OTHER, str(path), str(scratch / "logits.npy"), ",".join(map(str, ids))]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return np.load(scratch / "logits.npy")


def main() -> int:
    from tests.llm.models.gguf_files import MODELS, spread_model, write_gguf

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        cases: dict[str, Path] = {}
        if options.file:
            cases = {"as float32": scratch / "float32.gguf", "as it is": options.file}
            write_gguf(paddle.llm.load(options.file), "llama", cases["as float32"])
        else:
            for name, config in MODELS.items():
                cases[name] = scratch / f"{name.replace(' ', '_')}.gguf"
                write_gguf(spread_model(config), name, cases[name])
        for name, path in cases.items():
            expected = other(path, IDS, scratch)
            found = paddle.llm.load(path)(paddle.to_tensor([IDS])).numpy()[0]
            difference = float(np.abs(found - expected).max())
            agree = int((found.argmax(-1) == expected.argmax(-1)).sum())
            # The activation of Gemma and GPT-2 is looked up in a table of half precision there.
            bound = 1e-2 if name.startswith(("gemma", "gpt2")) else 1e-4 * float(expected.std())
            judged = name != "as it is"
            failed += judged and (agree < len(IDS) or difference > bound)
            note = "" if judged else " (not judged)"
            print(f"{name:16} logits (deviation {expected.std():.2f}) differ by {difference:.1e},", end=" ")
            print(f"{agree} of {len(IDS)} choices agree{note}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
