"""A small model's logits by llama.cpp, for `test_ggml.py`, which wants the same bits.

    PROA_PARITY_LLAMA_PYTHON=python-with-llama-cpp-python python -m tests.llm.engine.llama_cpp_bits [--write]

Compares what llama.cpp computes now with what is kept in `llama_cpp_bits.json`, or writes that anew. Kept was what
llama-cpp-python 0.3.36 computed, compiled for AVX-512.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np

KEPT = Path(__file__).with_suffix(".json")
HIDDEN, HEADS, INNER, VOCABULARY, LAYERS = 128, 2, 160, 96, 2
PROMPTS = ([7], [5, 9, 40, 2, 17], [(11 + 13 * n) % VOCABULARY for n in range(70)])
DECODED = 4  # tokens behind each prompt; the likeliest ones


def small_file(path: Path) -> Path:
    """A Llama of two layers with random weights in Q4_1 and, for the embedding, Q8_0."""
    draw = np.random.default_rng(19)
    sizes: dict[str, tuple[int, ...]] = {"token_embd": (VOCABULARY, HIDDEN), "output_norm": (HIDDEN,)}
    for n in range(LAYERS):
        layer = {"attn_norm": (HIDDEN,), "ffn_norm": (HIDDEN,), "attn_q": (HIDDEN, HIDDEN), "attn_k": (64, HIDDEN),
                 "attn_v": (64, HIDDEN), "attn_output": (HIDDEN, HIDDEN), "ffn_gate": (INNER, HIDDEN),
                 "ffn_up": (INNER, HIDDEN), "ffn_down": (HIDDEN, INNER)}  # fmt: skip
        sizes |= {f"blk.{n}.{name}": size for name, size in layer.items()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(64)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")
    writer.add_eos_token_id(2)
    for name, size in sizes.items():
        values = draw.normal(size=size).astype(np.float32) * np.float32(0.15)
        if len(size) == 1:
            writer.add_tensor(f"{name}.weight", values + 1)
        else:
            kind = gguf.GGMLQuantizationType["Q8_0" if name == "token_embd" else "Q4_1"]
            writer.add_tensor(f"{name}.weight", gguf.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


_THEIRS = """
import json, sys
import llama_cpp, numpy as np
asked = json.load(sys.stdin)
model = llama_cpp.Llama(asked["model"], n_ctx=128, n_threads=1, n_threads_batch=1, verbose=False)
answers = []
for ids in asked["prompts"]:
    model.reset()
    rows = []
    for _ in range(1 + asked["decoded"]):
        model.eval(ids)
        row = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(model.ctx, -1), (asked["vocabulary"],)).copy()
        ids = [int(row.argmax())]
        rows.append(row.view(np.int32).tolist())
    answers.append(rows)
print(json.dumps(answers))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = {"model": str(small_file(Path(folder) / "small.gguf")), "prompts": PROMPTS, "decoded": DECODED,
                 "vocabulary": VOCABULARY}  # fmt: skip
        python = os.environ.get("PROA_PARITY_LLAMA_PYTHON", sys.executable)
        done = subprocess.run(
            [python, "-c", _THEIRS], input=json.dumps(asked), capture_output=True, text=True, check=True
        )
    found = json.loads(done.stdout.splitlines()[-1])
    if "--write" in sys.argv:
        KEPT.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")
        return
    same = found == json.loads(KEPT.read_text(encoding="utf-8"))
    print("the bits that are kept" if same else "OTHER bits than are kept")
    raise SystemExit(not same)


if __name__ == "__main__":
    main()
