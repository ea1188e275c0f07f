"""Sentence vectors of a real model beside transformers': `python -m tests.llm.models.sentences FOLDER`.

FOLDER is a model such as all-MiniLM-L6-v2 (config.json, model.safetensors, tokenizer.json). `PROA_PARITY_TORCH_PYTHON`
names a Python with torch and transformers. Vectors must agree within 1e-5.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import proa as paddle

TEXTS = [
    "A man is eating food.", "Someone has dinner.", "The stock market fell by three per cent on Tuesday.", "", "数据",
    "The quick brown fox jumps over the lazy dog, and then it sleeps for a long time in the sun of the afternoon. " * 5,
]  # fmt: skip
OTHER = """
import sys
import numpy as np
import torch
import transformers
folder, out, *texts = sys.argv[1:]
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModel.from_pretrained(folder).eval()
inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
with torch.no_grad():
    states = model(**inputs).last_hidden_state
mask = inputs["attention_mask"].unsqueeze(-1).float()
vectors = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1e-9), dim=1)
np.savez(out, ids=inputs["input_ids"], mask=inputs["attention_mask"], vectors=vectors.numpy())
"""


def main() -> int:
    python = os.environ.get("PROA_PARITY_TORCH_PYTHON")
    if not python or len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "vectors.npz"
        subprocess.run([python, "-c", OTHER, sys.argv[1], str(path), *TEXTS], check=True, stderr=subprocess.DEVNULL)
        expected = np.load(path)
        model = paddle.llm.load(sys.argv[1])
        found = model.embed(paddle.to_tensor(expected["ids"]), paddle.to_tensor(expected["mask"])).numpy()
        difference = float(np.abs(found - expected["vectors"]).max())
    alike, unlike = found[0] @ found[1], found[0] @ found[2]
    print(f"{len(TEXTS)} vectors of {found.shape[1]} numbers differ by {difference:.1e}")
    print(f"alike: {alike:.2f}, unlike: {unlike:.2f}")
    return 0 if difference <= 1e-5 and alike > unlike else 1


if __name__ == "__main__":
    sys.exit(main())
