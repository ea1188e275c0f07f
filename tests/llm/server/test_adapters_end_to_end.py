"""From conversations to answers: `proa train` makes adapters, `proa serve` serves them, OpenAI's client asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from safetensors.numpy import load_file

import proa as paddle
from proa import llm
from proa.cli.serve import server_of
from proa.llm.tokens import Tokenizer
from proa.llm.training import Adapter, Lora
from proa_command import build_parser, main
from tests.llm.server.tiny import make

ANSWERS = {"loud": "OH YES", "calm": "well, no"}
QUESTIONS = ["hello", "is it?", "a longer question about the sea"]
COUNT = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and beside it two adapters that `proa train` has taught different answers; merged models, too."""
    place = tmp_path_factory.mktemp("adapters")
    make(place / "base", hidden_size=32, layers=2, intermediate_size=64)
    for number, (name, answer) in enumerate(ANSWERS.items()):
        talks = [
            {"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}
            for question in QUESTIONS
        ]
        (place / f"{name}.jsonl").write_text("\n".join(json.dumps(talk) for talk in talks))
        targets = [["all-linear"], ["q_proj", "v_proj", "mlp.down_proj"]][number]
        settings = {
            "model": "base", "output": name, "task": "chat", "steps": 4, "batch": 3, "exact": False,
            "data": {"train": f"{name}.jsonl", "length": 64, "pack": False}, "checkpoints": {"every": 0},
            "optimizer": {"learning_rate": 0.05}, "schedule": {"kind": "constant"},
            "lora": {"rank": 3 + number, "targets": targets, "merge": True},
        }  # fmt: skip
        (place / f"{name}.json").write_text(json.dumps(settings))
        assert main(["train", str(place / f"{name}.json")]) == 0
    return place


def _arguments(folder: Path, *more: str) -> list[str]:
    adapters = [word for name in ANSWERS for word in ("--adapter", f"{name}={folder / name / 'adapter'}")]
    sizes = ["--rows", "4", "--context", "128", "--no-warm-up", "--http-port", "0"]
    return ["serve", "--llm", str(folder / "base"), *adapters, *sizes, *more]


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[openai.OpenAI]:
    with server_of(build_parser().parse_args(_arguments(folder))) as server:
        url = f"http://{server.http_address}/v1"
        with openai.OpenAI(base_url=url, api_key="any", max_retries=0, timeout=100) as found:
            yield found


def _greedy(folder: Path, question: str) -> str:
    """The likeliest answer by the model of a folder alone, without a cache."""
    model, tokenizer = llm.load(folder), Tokenizer.from_folder(folder)
    prompt = tokenizer.chat([{"role": "user", "content": question}], add_generation_prompt=True)
    ids = np.zeros((1, 96), np.int64)  # one length for all: what stands behind is not looked at
    ids[0, : len(prompt)] = prompt
    for place in range(len(prompt), len(prompt) + COUNT):
        with paddle.no_grad():
            ids[0, place] = np.argmax(model(paddle.to_tensor(ids)).numpy()[0, place - 1])
        if ids[0, place] in tokenizer.eos:
            break
    return tokenizer.decode(ids[0, len(prompt) : place + 1].tolist())


def test_the_files_are_those_of_peft(folder: Path) -> None:
    described = json.loads((folder / "loud" / "adapter" / "adapter_config.json").read_text())
    assert (described["peft_type"], described["r"], described["bias"]) == ("LORA", 3, "none")
    tensors = load_file(folder / "loud" / "adapter" / "adapter_model.safetensors")
    assert tensors["base_model.model.model.layers.1.mlp.up_proj.lora_A.weight"].shape == (3, 32)
    assert tensors["base_model.model.model.layers.1.mlp.up_proj.lora_B.weight"].shape == (64, 3)
    assert len(tensors) == 2 * 7 * 2  # factors, projections, layers


def test_merged_and_unmerged_weights_are_files_and_bits(folder: Path) -> None:
    """Merging by hand, in float64, gives the folder that training wrote; unmerging gives the old bits."""
    base, merged = (load_file(folder / name / "model.safetensors") for name in ("base", "loud/model"))
    tensors = load_file(folder / "loud" / "adapter" / "adapter_model.safetensors")
    name = "model.layers.0.self_attn.o_proj"
    down, up = (tensors[f"base_model.model.{name}.lora_{part}.weight"].astype(np.float64) for part in "AB")
    wanted = base[f"{name}.weight"] + up @ down * (16 / 3)
    np.testing.assert_allclose(merged[f"{name}.weight"], wanted, rtol=1e-5, atol=1e-6)
    assert np.abs(merged[f"{name}.weight"] - base[f"{name}.weight"]).max() > 1e-2
    model = llm.load(folder / "base")
    adapter = Adapter.load(model, folder / "loud" / "adapter")
    adapter.merge()
    found = model.layers[0].attention.output.weight.numpy().T
    np.testing.assert_array_equal(found, merged[f"{name}.weight"])
    adapter.unmerge()
    np.testing.assert_array_equal(model.layers[0].attention.output.weight.numpy().T, base[f"{name}.weight"])


def test_answers_with_adapters_in_one_batch_are_those_of_merged_models(folder: Path, client: openai.OpenAI) -> None:
    places = {"base": "base", "loud": "loud/model", "calm": "calm/model"}
    asked = [(name, question) for question in QUESTIONS for name in places]
    expected = {(name, question): _greedy(folder / places[name], question) for name, question in asked}
    assert all(len({expected[name, question] for name in places}) == 3 for question in QUESTIONS)

    def ask(pair: tuple[str, str]) -> str:
        name, question = pair
        messages: Any = [{"role": "user", "content": question}]
        options: Any = {"model": name, "messages": messages, "temperature": 0, "max_tokens": COUNT}
        if len(question) % 2:
            chunks = list(client.chat.completions.create(**options, stream=True))
            assert {chunk.model for chunk in chunks} == {name}
            return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        return client.chat.completions.create(**options).choices[0].message.content or ""

    with ThreadPoolExecutor(9) as threads:
        for _ in range(2):  # the second time through kept prefixes, which adapters must not share
            assert dict(zip(asked, threads.map(ask, asked), strict=True)) == expected


def test_adapters_are_listed_and_have_no_embeddings(client: openai.OpenAI) -> None:
    listed = client.models.list().data
    assert [(each.id, each.parent) for each in listed] == [("base", None), ("loud", "base"), ("calm", "base")]  # type: ignore[attr-defined]
    assert len(client.embeddings.create(model="base", input="hello").data[0].embedding) == 32
    with pytest.raises(openai.BadRequestError, match="loud is an adapter, which gives no embeddings; ask base"):
        client.embeddings.create(model="loud", input="hello")
    with pytest.raises(openai.NotFoundError, match="there are: base, loud, calm"):
        client.completions.create(model="quiet", prompt="hello")


@pytest.mark.parametrize(("adapter", "words"), [
    ("base={0}/loud/adapter", "an adapter and its model are both called base"),
    ("x={0}/base", "an adapter's folder has adapter_config.json"),
    ("x={0}/nowhere", "an adapter's folder has adapter_config.json"),
    ("x={0}/wide", "must be [3, 32]"),
    ("loud={0}/calm/adapter", "each name once"),
])  # fmt: skip
def test_adapters_that_cannot_be_served(folder: Path, adapter: str, words: str, capsys: Any, tmp_path: Path) -> None:
    if "wide" in adapter and not (folder / "wide").exists():
        make(tmp_path / "other", hidden_size=64, intermediate_size=64)
        Adapter.attach(llm.load(tmp_path / "other"), Lora(rank=3)).save(folder / "wide")
    assert main(_arguments(folder, "--adapter", adapter.format(folder))) == 1
    assert words in capsys.readouterr().err
