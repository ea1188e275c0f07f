"""The other side of `lora_parity`: the same loop with transformers and peft, in a Python that has them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def base(folder: Path) -> torch.nn.Module:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")


def train(folder: Path) -> dict[str, list[float]]:
    model = PeftModel.from_pretrained(base(folder / "base"), folder / "start", is_trainable=True)
    model.train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    rates = json.loads((folder / "rates.json").read_text())
    optimizer = torch.optim.AdamW(trained, lr=rates[0], betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    data = np.load(folder / "batches.npz")
    losses = []
    for rate, ids, labels, segments in zip(rates, data["ids"], data["labels"], data["segments"], strict=True):
        optimizer.param_groups[0]["lr"] = rate
        logits = model(input_ids=torch.tensor(ids), attention_mask=torch.tensor((segments > 0).astype(np.int64))).logits
        target = torch.tensor(labels).reshape(-1)
        loss = torch.nn.functional.cross_entropy(logits.reshape(target.numel(), -1), target, ignore_index=-100)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    model.save_pretrained(folder / "theirs")
    return {"losses": losses}


@torch.no_grad()
def read(folder: Path) -> dict[str, list[float]]:
    ids = torch.tensor(np.load(folder / "batches.npz")["ids"][0])
    found = {
        name: PeftModel.from_pretrained(base(folder / "base"), folder / name).eval()(input_ids=ids).logits.numpy()
        for name in ("ours", "theirs")
    }
    found["merged"] = base(folder / "merged").eval()(input_ids=ids).logits.numpy()
    np.savez(folder / "read.npz", **found)
    return {}


if __name__ == "__main__":
    place, what = Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(0)
    (place / f"{what}.json").write_text(json.dumps({"train": train, "read": read}[what](place)))
