"""The loop: what it computes, and that it goes on where it was killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.llm.training import StreamRows, TokenFile, Trainer, WholeRows, write_tokens
from proa.nn import functional as F
from tests.llm.training.tiny import VOCABULARY, losses, tiny_model, tiny_rows, tiny_settings


def trained(folder: Path, model: Any = None, rows: Any = None, **changes: Any) -> Trainer:
    model = tiny_model() if model is None else model
    trainer = Trainer(model, tiny_rows(folder) if rows is None else rows, tiny_settings(folder, **changes))
    trainer.train()
    return trainer


def test_steps_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    """Beside a loop written with nothing of this folder: full logits, ordinary cross entropy, the optimiser by hand."""
    rows = tiny_rows(tmp_path, whole=True, pack=False)
    found = losses(trained(tmp_path, rows=rows, schedule={"kind": "constant"}, steps=4).history)
    model = tiny_model()
    decayed = {p.name for n, p in model.named_parameters() if p.ndim > 1 and "embedding" not in n}
    optimizer = paddle.optimizer.AdamW(
        0.01, 0.9, 0.95, parameters=model.parameters(), weight_decay=0.1, apply_decay_param_fun=decayed.__contains__,
        grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0),
    )  # fmt: skip
    wanted = []
    for step in range(4):
        batch = rows.batch(4 * step, 4)
        logits = model(paddle.to_tensor(batch.ids)).reshape([-1, VOCABULARY])
        total = F.cross_entropy(logits, paddle.to_tensor(batch.labels.reshape(-1)), reduction="sum", ignore_index=-100)
        loss = total / batch.num_learned
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        wanted.append(loss.item())
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    assert wanted[-1] < wanted[0]


def test_packed_documents_do_not_see_each_other(tmp_path: Path) -> None:
    """The loss of packed documents is that of each by itself: attention does not cross, positions restart."""
    documents = [[5, 6, 7, 8], [9, 10, 11], [12, 13]]
    write_tokens(tmp_path / "a", documents, VOCABULARY)
    model = tiny_model()
    model.eval()
    trainer = Trainer(model, WholeRows(TokenFile(tmp_path / "a"), 12), tiny_settings(tmp_path))
    assert len(trainer.rows) == 1
    packed = trainer.objective.total(trainer.rows.collect([0])).item()
    alone = 0.0
    for document in documents:
        logits = model(paddle.to_tensor([document[:-1]]))[0]
        alone += F.cross_entropy(logits, paddle.to_tensor(document[1:]), reduction="sum").item()
    assert packed == pytest.approx(alone, rel=1e-6)


def test_accumulating_changes_nothing_but_rounding(tmp_path: Path) -> None:
    whole = trained(tmp_path / "a", rows=tiny_rows(tmp_path), batch=4, steps=3)
    parts = trained(tmp_path / "b", rows=tiny_rows(tmp_path), batch=1, accumulate=4, steps=3)
    np.testing.assert_allclose(losses(parts.history), losses(whole.history), rtol=1e-5)


WORKER = """
import os, signal, sys
from pathlib import Path
from tests.llm.training.tiny import tiny_model, tiny_rows, tiny_settings
from proa.llm.training import Adapter, Trainer
from proa.llm.training.settings import Lora
folder, precision, killed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
model = tiny_model(layers=1, hidden_size=8)
adapter = None
if precision == "lora":
    adapter = Adapter.attach(model, Lora(rank=2, dropout=0.2, targets=("q_proj", "down_proj")))
elif precision != "float32":
    model.to(dtype="bfloat16")
settings = tiny_settings(
    folder, exact=True, steps=6, log_every=1, checkpoints={"every": 3}, precision="float32" if adapter else precision,
    optimizer={"learning_rate": 0.01, "average": 0.9}, schedule={"kind": "cosine", "warmup": 2},
)
trainer = Trainer(model, tiny_rows(folder.parent), settings, adapter=adapter)
between = trainer._between
def maybe():
    if trainer.step == killed:
        os.kill(os.getpid(), signal.SIGKILL)
    between()
trainer._between = maybe
trainer.train()
"""


def run_worker(folder: Path, precision: str, killed: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", WORKER, str(folder), precision, str(killed)], env={**os.environ, "PYTHONPATH": "."},
        capture_output=True, text=True, timeout=250,
    )  # fmt: skip
    assert done.returncode in (0, -9), done.stderr
    return done.returncode


@pytest.mark.timeout(300)  # three processes that compile
@pytest.mark.parametrize(
    "precision",
    ["float32", pytest.param("mixed", marks=pytest.mark.slow), pytest.param("lora", marks=pytest.mark.slow)],
)
def test_a_killed_training_goes_on_bit_by_bit(tmp_path: Path, precision: str) -> None:
    """Killed behind step 5, the last checkpoint being that of step 3; dropout, averages and schedules included."""
    tiny_rows(tmp_path)
    assert run_worker(tmp_path / "whole", precision, -1) == 0
    assert run_worker(tmp_path / "killed", precision, 5) == -9
    broken = read_metrics(tmp_path / "killed")
    assert run_worker(tmp_path / "killed", precision, -1) == 0
    wanted = read_metrics(tmp_path / "whole")
    assert [entry["step"] for entry in wanted] == list(range(1, 7))
    assert broken == wanted[: len(broken)]
    assert read_metrics(tmp_path / "killed") == wanted
    assert wanted[-1]["loss"] < wanted[0]["loss"]


def read_metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "out" / "metrics.jsonl").read_text().splitlines()]


def test_a_line_that_a_killed_process_left_half_is_dropped(tmp_path: Path) -> None:
    trained(tmp_path, steps=2)
    path = tmp_path / "out" / "metrics.jsonl"
    path.write_text(path.read_text() + '{"step": 3, "lo')
    assert losses(trained(tmp_path, steps=4).history) == losses(read_metrics(tmp_path))
    assert [entry["step"] for entry in read_metrics(tmp_path)] == [1, 2, 3, 4]


def test_the_last_checkpoints_are_kept(tmp_path: Path) -> None:
    trained(tmp_path, steps=3, checkpoints={"every": 1, "keep": 2})
    names = os.listdir(tmp_path / "out" / "checkpoints")
    assert sorted(name for name in names if name.endswith(".metadata")) == ["2.metadata", "3.metadata"]


def test_another_training_s_checkpoint_is_refused(tmp_path: Path) -> None:
    trained(tmp_path, steps=2)
    with pytest.raises(ValueError, match="belongs to another training: batch differs"):
        trained(tmp_path, steps=4, batch=2)
    again = trained(tmp_path, steps=2, batch=2, checkpoints={"resume": False})
    assert again.step == 2


def test_the_average_follows_the_weights(tmp_path: Path) -> None:
    model = tiny_model()
    trainer = Trainer(model, tiny_rows(tmp_path), tiny_settings(tmp_path, optimizer={"average": 0.75}))
    name, weight = next(iter(trainer.parameters.items()))
    wanted = weight.numpy().astype(np.float64)
    for _ in range(3):
        trainer._one_step()
        wanted += (weight.numpy() - wanted) * 0.25
    np.testing.assert_allclose(trainer.average.shadows[name].numpy(), wanted, rtol=1e-5, atol=1e-7)
    now = weight.numpy()
    with trainer.average.applied():
        np.testing.assert_allclose(weight.numpy(), wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(weight.numpy(), now)


def test_evaluation_is_the_mean_over_all_rows_and_learns_nothing(tmp_path: Path) -> None:
    model, rows = tiny_model(), tiny_rows(tmp_path, whole=True, pack=False)
    trainer = Trainer(model, rows, tiny_settings(tmp_path), evaluation=rows)
    before = [parameter.numpy().copy() for parameter in model.parameters()]
    found = trainer.evaluate()
    batch = rows.collect(range(len(rows)))
    logits = model(paddle.to_tensor(batch.ids)).reshape([-1, VOCABULARY])
    total = F.cross_entropy(logits, paddle.to_tensor(batch.labels.reshape(-1)), reduction="sum", ignore_index=-100)
    assert found == pytest.approx(total.item() / batch.num_learned, rel=1e-5)
    for parameter, old in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.numpy(), old)


def test_a_memory_budget_is_kept_or_refused(tmp_path: Path) -> None:
    with pytest.raises(MemoryError, match="does not fit"):
        trained(tmp_path, steps=1, memory="1KB")
    plain = trained(tmp_path / "a", rows=tiny_rows(tmp_path), steps=2)
    budgeted = trained(tmp_path / "b", rows=tiny_rows(tmp_path), steps=2, memory="1GB")
    np.testing.assert_allclose(losses(budgeted.history), losses(plain.history), rtol=1e-5)


def test_curves_are_written_for_tensorboard(tmp_path: Path) -> None:
    trained(tmp_path, steps=3, tensorboard=True)
    (events,) = (tmp_path / "out" / "tensorboard").iterdir()
    data = events.read_bytes()
    assert data.count(b"train/loss") == 3
    assert b"train/tokens_per_second" in data


class Terminal:
    """A stream that says it is one."""

    def __init__(self, is_terminal: bool) -> None:
        self.text, self._is_terminal = "", is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_is_told_and_a_pipe_is_not(tmp_path: Path, is_terminal: bool, monkeypatch: Any) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")  # a narrow one has no room for all of it
    stream = Terminal(is_terminal)
    Trainer(tiny_model(), tiny_rows(tmp_path), tiny_settings(tmp_path, log_every=2), stream=stream).train()
    if is_terminal:
        assert "step 6/6" in stream.text
        assert all(word in stream.text for word in ("loss:", "tokens/s:", "rate:", "ETA:"))
    else:
        assert stream.text == ""


def test_data_of_a_larger_vocabulary_is_refused(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1, 2]], VOCABULARY + 1)
    with pytest.raises(ValueError, match="pack it with the model's tokenizer"):
        Trainer(tiny_model(), StreamRows(TokenFile(tmp_path / "a"), 4), tiny_settings(tmp_path))


def test_a_batch_of_questions_alone_is_no_division_by_zero(tmp_path: Path) -> None:
    write_tokens(tmp_path / "a", [[1], [2]], VOCABULARY)  # nothing follows anything
    found = trained(tmp_path, rows=StreamRows(TokenFile(tmp_path / "a"), 4), steps=2)
    assert losses(found.history) == [0.0, 0.0]
