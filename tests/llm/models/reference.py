"""The other side of `families.py`, run by a Python with torch and transformers: writes models and what they answer.

python tests/llm/models/reference.py make FOLDER    # a folder for each case: config.json, safetensors, answers.npz
python tests/llm/models/reference.py read FOLDER    # loads the folders `*/written` and compares with answers.npz
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parent))
from cases import DECODERS, ENCODERS, TRANSLATORS

LENGTH, NEW = 20, 64


def make(folder: Path) -> None:
    for name, (model_class, config_class, settings) in {**DECODERS, **ENCODERS, **TRANSLATORS}.items():
        torch.manual_seed(0)
        config = getattr(transformers, config_class)(**settings)
        model = getattr(transformers, model_class)(config).eval()
        _spread(model)
        where = folder / name.replace(" ", "_").replace(",", "")
        # Every other one in shards, so that both forms of folders are read.
        model.save_pretrained(where, max_shard_size="200KB" if len(name) % 2 else "1GB")
        ids = torch.randint(3, 150, (2, LENGTH), generator=torch.Generator().manual_seed(1))
        run = _decoded if name in DECODERS else _encoded if name in ENCODERS else _translated
        answers, loss = run(model, ids)
        np.savez(where / "answers.npz", ids=ids.numpy(), loss=loss.item(), **answers)
        _save_gradients(model, loss, where)


def _spread(model: Any) -> None:
    """Biases, norms and corrections start at 0 or 1; a difference there must be seen."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for tensor in (*model.parameters(), *(b for n, b in model.named_buffers() if "correction" in n)):
            if tensor.ndim == 1 or tensor.std() == 0:
                tensor.add_(torch.randn(tensor.shape, generator=generator) * 0.1)
        for name, tensor in model.named_parameters():
            # Blocks must matter beside the embedding, or greedy text repeats one word.
            if "post_" in name and "gemma" in model.config.model_type:
                tensor.add_(4.0)
            elif model.config.model_type == "t5":
                tensor.mul_(0.15 if "shared" in name else 1.0)
            elif tensor.ndim > 1 and "emb" not in name and "wte" not in name:
                tensor.mul_(2.0)


def _save_gradients(model: Any, loss: Any, where: Path) -> None:
    """A folder like the model's, with the gradient of the loss in place of every weight."""
    model.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        parameter.data = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
    model.save_pretrained(where / "gradients")


def _decoded(model: Any, ids: Any) -> tuple[dict[str, Any], Any]:
    logits = model(ids).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    return {"logits": logits.detach().numpy(), "text": _greedy(model, ids[:1, :8])}, loss


def _greedy(model: Any, ids: Any, count: int = NEW, **fixed: Any) -> np.ndarray:
    """Without any rule of `generate`, so that ends of text do not matter."""
    cache, found, now = None, [], ids
    key = "decoder_input_ids" if fixed else "input_ids"
    with torch.no_grad():
        for _ in range(count):
            out = model(**{key: now}, **fixed, past_key_values=cache, use_cache=True)
            cache, now = out.past_key_values, out.logits[:, -1:].argmax(-1)
            found.append(now.item())
    return np.array(found)


def _encoded(model: Any, ids: Any) -> tuple[dict[str, Any], Any]:
    mask = torch.ones_like(ids)
    mask[1, LENGTH - 6 :] = 0
    ids[1, LENGTH - 6 :] = model.config.pad_token_id
    types = (
        {}
        if model.config.model_type in ("roberta", "mpnet")
        else {"token_type_ids": (torch.arange(LENGTH) > 9).long().expand(2, -1)}
    )
    out = model(ids, attention_mask=mask, output_hidden_states=True, **types)
    logits = out.logits
    loss = torch.nn.functional.cross_entropy(logits[mask.bool()], ids[mask.bool()])
    kept = {key: value.numpy() for key, value in types.items()}
    return {
        "logits": logits.detach().numpy(),
        "hidden": out.hidden_states[-1].detach().numpy(),
        "mask": mask.numpy(),
        **kept,
    }, loss


def _translated(model: Any, ids: Any) -> tuple[dict[str, Any], Any]:
    mask = torch.ones_like(ids)
    mask[1, LENGTH - 6 :] = 0
    targets = torch.randint(3, 150, (2, 9), generator=torch.Generator().manual_seed(3))
    logits = model(ids, attention_mask=mask, decoder_input_ids=targets).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
    return {
        "logits": logits.detach().numpy(),
        "mask": mask.numpy(),
        "targets": targets.numpy(),
        "text": _greedy(model, torch.zeros(1, 1, dtype=torch.long), input_ids=ids[:1]),
    }, loss


def read(folder: Path) -> None:
    """Models written by proa, loaded without any warning about names; notes the largest difference of each."""
    found: dict[str, Any] = {}
    for name, (model_class, _, _) in {**DECODERS, **ENCODERS, **TRANSLATORS}.items():
        where = folder / name.replace(" ", "_").replace(",", "")
        if not (where / "written").is_dir():
            continue
        answers = np.load(where / "answers.npz")
        model, report = getattr(transformers, model_class).from_pretrained(
            where / "written", output_loading_info=True, dtype=torch.float32
        )
        model.eval()
        inputs: dict[str, Any] = {"input_ids": torch.tensor(answers["ids"])}
        inputs |= {"attention_mask": torch.tensor(answers["mask"])} if "mask" in answers else {}
        inputs |= {"token_type_ids": torch.tensor(answers["token_type_ids"])} if "token_type_ids" in answers else {}
        inputs |= {"decoder_input_ids": torch.tensor(answers["targets"])} if "targets" in answers else {}
        with torch.no_grad():
            logits = model(**inputs).logits.numpy()
        strange = sorted(map(str, [*report["missing_keys"], *report["unexpected_keys"], *report["mismatched_keys"]]))
        found[name] = {"difference": float(np.abs(logits - answers["logits"]).max()), "strange": strange}
    (folder / "read.json").write_text(json.dumps(found))


TINY = {
    "vocab_size": 64,
    "hidden_size": 16,
    "d_model": 16,
    "n_embd": 16,
    "intermediate_size": 24,
    "d_ff": 24,
    "d_kv": 8,
}
TINY_HEAD = {"head_dim": 8, "max_position_embeddings": 64, "n_positions": 64}


def store(folder: Path) -> None:
    import drawn
    from safetensors.torch import load_file, save_file

    rows = {}
    for name, (model_class, config_class, settings) in {**DECODERS, **ENCODERS, **TRANSLATORS}.items():
        smaller = {k: v for k, v in {**TINY, **TINY_HEAD}.items() if k in settings}
        if name == "llama dynamic":
            smaller["max_position_embeddings"] = 12
        smaller |= {k: v for k, v in (("sliding_window", 5), ("moe_intermediate_size", 8)) if k in settings}
        config = getattr(transformers, config_class)(**{**settings, **smaller})
        where = folder / name.replace(" ", "_").replace(",", "")
        getattr(transformers, model_class)(config).save_pretrained(where)
        shapes = {key: list(value.shape) for key, value in load_file(where / "model.safetensors").items()}
        general = drawn.patterns(shapes)
        weights = {key: torch.tensor(value) for key, value in drawn.tensors(general).items()}
        assert {key: list(value.shape) for key, value in weights.items()} == shapes
        save_file(weights, where / "model.safetensors", {"format": "pt"})
        model = getattr(transformers, model_class).from_pretrained(where, dtype=torch.float32).eval()
        json_config = json.loads((where / "config.json").read_text())
        rows[name] = {"config": json_config, "tensors": general, **_stored(name, model, drawn)}
    lines = [f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in rows.items()]
    (folder / "vectors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _stored(name: str, model: Any, drawn: Any) -> dict[str, Any]:
    ids, targets = torch.tensor(drawn.IDS), torch.tensor(drawn.TARGETS)
    inputs: dict[str, Any] = {"input_ids": ids}
    if name not in DECODERS:
        inputs["attention_mask"] = torch.tensor(drawn.MASK)
    if name in ENCODERS and model.config.model_type not in ("roberta", "mpnet"):
        inputs["token_type_ids"] = torch.tensor(drawn.TYPES)
    if name in TRANSLATORS:
        inputs["decoder_input_ids"] = targets
    expected = targets if name in TRANSLATORS else ids
    logits = model(**inputs).logits
    loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), expected[:, 1:].flatten())
    loss.backward()
    squares = sum(float((p.grad.double() ** 2).sum()) for p in model.parameters() if p.grad is not None)
    embedding = model.get_input_embeddings().weight.grad
    found = {"loss": loss.item(), "slope": squares**0.5, "logits": _short(logits[:, -1, :10])}
    found["embedding_gradient"] = _short(embedding[int(drawn.IDS[0, 0]), :10])
    # Text comes last: a model with dynamic scaling remembers the longest text that it has seen.
    if name in DECODERS:
        found["text"] = _greedy(model, ids[:1], drawn.NEW).tolist()
    if name in TRANSLATORS:
        found["text"] = _greedy(model, torch.zeros(1, 1, dtype=torch.long), drawn.NEW, input_ids=ids[:1]).tolist()
    return found


def _short(numbers: Any) -> Any:
    return [float(f"{x:.7g}") for x in numbers.detach().flatten().tolist()]


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    {"make": make, "read": read, "store": store}[sys.argv[1]](Path(sys.argv[2]))
