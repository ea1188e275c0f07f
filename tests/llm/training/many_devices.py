"""Every form of parallel training through the Trainer, beside one device: `python -m tests.llm.training.many_devices`.

Eight virtual devices, small models, packed documents, gradient clipping, two forward passes a step. The losses must be those
of one device within 1e-5. `--short` is the selection that the suite runs.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TOLERANCE = 1e-5
STEPS = 4
MODELS: dict[str, dict[str, Any]] = {
    "plain": {"tied": False},
    "tied": {"tied": True},
    "experts": {"tied": True, "experts": True},
}
# By name: the section `parallel`, the model, and other settings.
FORMS: dict[str, tuple[dict[str, int], str, dict[str, Any]]] = {
    "data": ({"data": 8}, "plain", {}),
    "sharding 1": ({"data": 4, "sharding": 1}, "plain", {}),
    "sharding 2": ({"data": 4, "sharding": 2}, "tied", {}),
    "sharding 3": ({"data": 4, "sharding": 3}, "plain", {}),
    "tensor": ({"tensor": 4}, "plain", {}),
    "tensor, tied": ({"tensor": 2}, "tied", {}),
    "pipeline": ({"pipeline": 4}, "plain", {}),
    "pipeline, tied": ({"pipeline": 2}, "tied", {}),
    "experts": ({"tensor": 4}, "experts", {}),
    "data, experts": ({"data": 2, "tensor": 2}, "experts", {}),
    "all": ({"data": 2, "tensor": 2, "pipeline": 2, "sharding": 2}, "plain", {}),
    "all, tied": ({"data": 2, "tensor": 2, "pipeline": 2, "sharding": 3}, "tied", {}),
    "adapter": ({"data": 2, "tensor": 2, "pipeline": 2}, "plain", {"lora": {"rank": 2}}),
    "average": ({"data": 2, "tensor": 2}, "plain", {"optimizer": {"learning_rate": 0.01, "average": 0.9}}),
}
SHORT = ("all, tied",)


def trained(folder: Path, parallel: dict[str, int] | None, model: str, changes: dict[str, Any], layers: int) -> Any:
    """A trainer after its last step."""
    from proa.llm import Experts
    from proa.llm.training import Adapter, Trainer
    from tests.llm.training.tiny import tiny_model, tiny_rows, tiny_settings

    options = dict(MODELS[model])
    sizes = {"hidden_size": 32, "layers": layers, "heads": 4, "kv_heads": 2, "intermediate_size": 48}
    if options.pop("experts", False):
        experts = Experts(4, 2, 16, (False,) + (True,) * (layers - 1), shared_intermediate_size=24, shared_gate=True)
        options |= {"experts": experts}
    found = tiny_model(**sizes, **options)
    settings = tiny_settings(
        folder, steps=STEPS, batch=8, accumulate=4, parallel=parallel, checkpoints={"every": 2, "keep": 9}, **changes
    )
    adapter = Adapter.attach(found, settings.lora) if settings.lora else None
    rows = tiny_rows(folder)
    trainer = Trainer(found, rows, settings, evaluation=rows, adapter=adapter)
    trainer.train()
    return trainer


def curve(trainer: Any) -> list[float]:
    """All losses, and at the end that of the evaluation."""
    from tests.llm.training.tiny import losses

    return [*losses(trainer.history), trainer.history[-1]["evaluation_loss"]]


def main() -> None:
    names = SHORT if "--short" in sys.argv else [n for n in FORMS if len(sys.argv) < 2 or n in sys.argv[1:]]
    single: dict[Any, list[float]] = {}
    bad = 0
    print(f"{'form':16} {'worst difference':>16} {'seconds':>8}")
    for name in names:
        parallel, model, changes = FORMS[name]
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
            layers = max(parallel.get("pipeline", 2), 2)
            key = (model, layers, repr(changes))
            if key not in single:
                single[key] = curve(trained(Path(one), None, model, changes, layers))
                assert single[key][-1] < single[key][0] - 0.05 * ("lora" not in changes), "it learns something"
            started = time.perf_counter()
            found = curve(trained(Path(many), parallel, model, changes, layers))
            if name == "all, tied":
                # What was saved on eight devices goes on on one, from the second step.
                for checkpoint in (Path(many) / "out" / "checkpoints").iterdir():
                    if checkpoint.name != "2":
                        shutil.rmtree(checkpoint) if checkpoint.is_dir() else checkpoint.unlink()
                found += curve(trained(Path(many), None, model, changes, layers))
                single[key] = single[key] * 2
        difference = max(abs(a - b) / abs(b) for a, b in zip(found, single[key], strict=True))
        bad += not difference <= TOLERANCE
        mark = "" if difference <= TOLERANCE else "  <-- too much"
        print(f"{name:16} {difference:16.1e} {time.perf_counter() - started:8.1f}{mark}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    main()
