"""Plans from compiled programs: composed figures beside XLA's own of the whole, plans that must win, plans that must not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import proa as paddle
from proa.distributed import auto_parallel
from proa.distributed.planner import plan_traced, searching
from proa.distributed.planner.compiling import Variant
from proa.distributed.planner.costs import USABLE
from proa.distributed.planner.pieces import take_apart
from proa.distributed.planner.searching import cuts_for
from proa.distributed.planner.tracing import Traced, trace
from proa.distributed.planner.worker import measured

from .support import models

# The first test that searches compiles for all: a dozen programs, more than a minute on a busy machine.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def gpt() -> Traced:
    model = models.GPT()
    optimizer = paddle.optimizer.AdamW(parameters=model.parameters())
    return trace(model, models.loss_of, optimizer, list(models.batch(0, True)))


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variant is compiled once for all tests of this module: the model is the same in all of them."""

    def remembered(pieces: Any, variants: Any) -> Any:
        key = len(pieces.sources)
        missing = [variant for variant in variants if (key, variant) not in _KNOWN]
        if missing:
            _KNOWN.update({(key, variant): found for variant, found in measured(pieces, missing).items()})
        return {variant: _KNOWN[key, variant] for variant in variants}

    monkeypatch.setattr(searching, "measured", remembered)


_KNOWN: dict[Any, Any] = {}


@pytest.mark.parametrize("ways", [1, 2])
def test_one_and_two_layers_tell_what_four_cost(gpt: Traced, ways: int) -> None:
    pieces = take_apart(gpt)
    cuts = tuple(sorted(cuts_for(pieces, ways).items()))
    one, two, four = searching.measured(pieces, [Variant(1, ways, units, False, cuts) for units in (1, 2, 4)]).values()
    for key, within in (("flops", 0.01), ("bytes", 0.05), ("temporary", 0.15), ("arguments", 0.01), ("kernels", 0.05)):
        assert one[key] + 3 * (two[key] - one[key]) == pytest.approx(four[key], rel=within), key
    exchanged = [sum(size for _, _, _, size, _ in found["exchanges"]) for found in (one, two, four)]
    assert exchanged[0] + 3 * (exchanged[1] - exchanged[0]) == pytest.approx(exchanged[2], rel=0.05)
    assert (exchanged[2] > 0) == (ways > 1)


def test_what_recomputed_layers_keep_is_compiled_too(gpt: Traced) -> None:
    pieces = take_apart(gpt)
    whole, two, three, four = searching.measured(
        pieces,
        [Variant(1, 1, 4, False, ()), *(Variant(1, 1, units, False, (), recompute=True) for units in (2, 3, 4))],
    ).values()
    kept = three["temporary"] - two["temporary"]
    assert 0 < kept < 0.5 * whole["temporary"] / 4
    assert two["temporary"] + 2 * kept == pytest.approx(four["temporary"], rel=0.15)
    assert four["flops"] > 1.15 * whole["flops"]


@pytest.mark.parametrize("sequence", [False, True])
def test_recomputed_layers_that_devices_share_keep_what_they_are_given(gpt: Traced, sequence: bool) -> None:
    """A second run must not be merged with the first on several devices either."""
    pieces = take_apart(gpt)
    cuts = tuple(sorted(cuts_for(pieces, 2).items()))
    variants = [Variant(1, 2, units, sequence, cuts, again) for again in (False, True) for units in (4, 8)]
    found = searching.measured(pieces, variants)
    plain, kept = ((found[variants[n + 1]]["temporary"] - found[variants[n]]["temporary"]) / 4 for n in (0, 2))
    assert kept < 0.1 * plain, (kept, plain)
    assert found[variants[3]]["flops"] > 1.15 * found[variants[1]]["flops"]


def test_what_xla_counts_is_what_there_is_to_do(gpt: Traced) -> None:
    """Operations of products, counted by hand: two for each weight, token and pass, and three passes."""
    pieces = take_apart(gpt)
    found = searching.measured(pieces, [Variant(1, 1, n, False, ()) for n in (1, 2)])
    one, two = found.values()
    tokens, width = models.BATCH * models.LENGTH, models.WIDTH
    weights = width * 3 * width + width * width + 2 * width * 4 * width
    by_hand = 3 * 2 * tokens * weights + 3 * 4 * tokens * models.LENGTH * width
    assert by_hand < two["flops"] - one["flops"] < 1.6 * by_hand  # the rest are norms and other elementwise work
    assert one["arguments"] >= 4 * (weights + 2 * models.VOCABULARY * width)


def test_a_small_model_with_a_large_batch_is_data_parallel(gpt: Traced) -> None:
    plan = plan_traced(gpt, 4, "h200", batch_size=4096)
    assert (plan.choice.data, plan.choice.model, plan.choice.pipeline) == (4, 1, 1)
    assert plan.choice.recompute is False
    assert plan.seconds == pytest.approx(min(estimate.total_seconds for estimate in plan.estimates), rel=0.005)


def test_a_slow_network_keeps_tensor_parallelism_inside_machines(gpt: Traced) -> None:
    plan = plan_traced(gpt, 4, "l40s", batch_size=64)
    widest = {e.choice.model: e for e in plan.estimates if e.choice.data == 1 and not e.choice.sequence}
    assert widest[4].seconds["model"] > widest[2].seconds["model"] > 0


def test_a_model_too_large_for_one_device_is_cut(gpt: Traced) -> None:
    whole = plan_traced(gpt, 4, "h200", fixed={"data": 4, "stage": 0, "micro_batches": 1, "recompute": False})
    limit = whole.device_memory * 0.8 / USABLE
    plan = plan_traced(gpt, 4, "h200", memory=limit)
    assert plan.device_memory <= limit * USABLE < whole.device_memory
    assert all(estimate.total_memory <= limit * USABLE for estimate in plan.estimates[: plan.fitting])
    assert all(estimate.total_memory > limit * USABLE for estimate in plan.estimates[plan.fitting :])
    assert plan.choice != whole.choice


def test_what_fits_nowhere_is_an_error_with_the_smallest_plan(gpt: Traced) -> None:
    with pytest.raises(RuntimeError, match=r"no plan fits: h200 has .* the smallest plan \(.*\) needs .* on each of 4"):
        plan_traced(gpt, 4, "h200", memory=1000)


def test_stages_save_what_they_cut(gpt: Traced) -> None:
    plan = plan_traced(gpt, 4, "h200", fixed={"data": 4, "recompute": False, "micro_batches": 1})
    memory = {estimate.choice.stage: estimate.memory for estimate in plan.estimates}
    assert memory[1]["states"] == memory[0]["states"] / 4
    assert memory[2]["gradients"] == memory[1]["gradients"] / 4
    assert memory[3]["parameters"] < memory[2]["parameters"]


def test_tables_and_pictures(gpt: Traced, tmp_path: Any) -> None:
    plan = plan_traced(gpt, 4, "h200", batch_size=64)
    text = plan.table()
    assert "4 x h200, 141 GB each" in text
    assert str(plan.choice) in text
    assert "4 equal layers, blocks.*" in text
    assert "the next mesh" in text
    plan.picture(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes()[:4] == b"\x89PNG"
    plan.save(tmp_path / "plan.toml")
    assert paddle.distributed.load_plan(tmp_path / "plan.toml").choice == plan.choice


SCRIPT = """
import paddle
from tests.distributed.support import models

model = models.MLP()
optimizer = paddle.optimizer.Momentum(0.1, parameters=model.parameters())
x, y = models.batch(0, False)
y = paddle.to_tensor(y)
out = model(paddle.to_tensor(x))
loss = models.loss_of(out, y)
accuracy = (out.argmax(-1) == y).astype("float32").mean()
{look}
loss.backward()
raise SystemExit("the script went on behind its first backward pass")
"""


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "proa_command", "plan", *words], capture_output=True, text=True, timeout=300, check=False
    )


def test_the_command_plans_a_script(tmp_path: Any) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(look=""))
    done = command(
        str(script), "--devices", "2", "--device", "a100", "--fix", "model=1", "--output", str(tmp_path / "p.toml")
    )
    assert done.returncode == 0, done.stderr
    assert "2 x a100, 80 GB each" in done.stdout
    assert "optimiser Momentum: 1 state(s) an element" in done.stdout
    assert paddle.distributed.load_plan(tmp_path / "p.toml").choice.data == 2


def test_the_command_says_what_is_wrong(tmp_path: Any) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(look="print(loss.item())"))
    done = command(str(script), "--devices", "2")
    assert done.returncode == 1
    assert "looks at a value before its first backward()" in done.stderr
    assert "train.py:12" in done.stderr
    script.write_text("print('no training')\n")
    done = command(str(script), "--devices", "2")
    assert done.returncode == 1
    assert "ended before a first backward()" in done.stderr
    assert "there is no script" in command(str(tmp_path / "absent.py"), "--devices", "2").stderr


def test_the_command_has_help() -> None:
    done = command("--help")
    assert done.returncode == 0
    for option in ("--devices", "--device", "--memory", "--batch", "--fix", "--output", "--picture"):
        assert option in done.stdout


def test_the_public_name_takes_a_model_and_a_batch() -> None:
    x, y = models.batch(0, False)
    model = models.MLP()
    before = [parameter.numpy() for parameter in model.parameters()]
    plan = auto_parallel(model, [x, y], models.loss_of, devices=2, device="cpu", fixed={"model": 1, "pipeline": 1})
    assert plan.choice.data == 2
    assert all((old == new.numpy()).all() for old, new in zip(before, model.parameters(), strict=True))
