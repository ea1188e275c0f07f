"""The list of benchmarks: which workload, how measured, how shown, and the bar it has to reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.harness.ratios import Bar
from benchmarks.workloads.operations.large import DTYPES, OPERATIONS

PADDLE_AND_TORCH = ("paddle", "torch")


@dataclass(frozen=True)
class Unit:
    """How seconds per piece of work are shown: as a rate (`steps/s`) or a time (`us/op`)."""

    name: str
    scale: float = 1.0
    is_rate: bool = False

    def show(self, seconds: float, work: float) -> str:
        value = work / seconds if self.is_rate else seconds / work * self.scale
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


MICROSECONDS_PER_OP = Unit("us/op", 1e6)
MILLISECONDS = Unit("ms", 1e3)
SECONDS = Unit("s")
STEPS_PER_SECOND = Unit("steps/s", is_rate=True)
IMAGES_PER_SECOND = Unit("images/s", is_rate=True)


@dataclass(frozen=True)
class Benchmark:
    """One row of the table.

    `mode`: `hot` (long-lived workers), `fresh` (a new process for each round, its first pass
    timed), `import` (a new process, its import timed) or `memory`. One pass does `work` units.
    """

    name: str
    title: str
    mode: str
    unit: Unit
    work: float = 1.0
    workload: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 1
    rounds: int = 12
    warm_seconds: float = 2.0
    warm_runs: int = 4
    peer_threads: tuple[int, ...] = (2,)
    bar: Bar | None = None


BENCHMARKS = [
    Benchmark(
        name="chain",
        title="chain of 1,000 small ops, hot",
        mode="hot",
        unit=MICROSECONDS_PER_OP,
        work=1000,
        workload="operations.chain",
        repeats=20,
        bar=Bar(2.0, PADDLE_AND_TORCH, "≥ 2 × faster of both"),
    ),
    Benchmark(
        name="chain-gradient",
        title="the same with gradient and backward, hot",
        mode="hot",
        unit=MICROSECONDS_PER_OP,
        work=1000,
        workload="operations.chain",
        options={"gradient": True},
        repeats=10,
        bar=Bar(1.5, PADDLE_AND_TORCH, "≥ 1.5 × faster of both"),
    ),
    Benchmark(
        name="chain-cold",
        title="chain of 1,000 small ops, first run in a process",
        mode="fresh",
        unit=MICROSECONDS_PER_OP,
        work=1000,
        workload="operations.chain",
        rounds=5,
        bar=Bar(0.7, ("paddle",), "≥ 0.7 × Paddle"),
    ),
    Benchmark(
        name="chain-gradient-cold",
        title="the same with gradient and backward, first run",
        mode="fresh",
        unit=MICROSECONDS_PER_OP,
        work=1000,
        workload="operations.chain",
        options={"gradient": True},
        rounds=5,
    ),
    Benchmark(
        name="mlp",
        title="MLP + Adam, loss read at every step",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=100,
        workload="models.mlp",
        options={"num_steps": 100},
        warm_seconds=5.0,  # compiled when that pays, which is later than after two seconds
        peer_threads=(2, 1),
        bar=Bar(2.0, PADDLE_AND_TORCH, "≥ 2 × faster of both"),
    ),
    Benchmark(
        name="mlp-unread",
        title="MLP + Adam, loss read every 100 steps",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=100,
        workload="models.mlp",
        options={"num_steps": 100, "read_loss": False},
        warm_seconds=5.0,  # compiled when that pays, which is later than after two seconds
        peer_threads=(2, 1),
        bar=Bar(2.0, PADDLE_AND_TORCH, "≥ 2 × faster of both"),
    ),
    Benchmark(
        name="new-shapes",
        title="5 ops on each of 20 new shapes, fresh process",
        mode="fresh",
        unit=MILLISECONDS,
        workload="operations.new_shapes",
        rounds=5,
        bar=Bar(1 / 2, ("paddle",), "time ≤ 2 × Paddle"),
    ),
    Benchmark(
        name="new-shapes-running",
        title="5 ops on each of 20 new shapes, running process",
        mode="hot",
        unit=MILLISECONDS,
        workload="operations.new_shapes",
        warm_seconds=0.0,
        rounds=8,
    ),
    Benchmark(
        name="lstm",
        title="LSTM loop of 100 steps with backward",
        mode="hot",
        unit=MILLISECONDS,
        workload="models.lstm",
        repeats=4,
        warm_seconds=4.0,
        peer_threads=(2, 1),
        bar=Bar(1.0, PADDLE_AND_TORCH, "≥ 1 × both"),
    ),
    Benchmark(
        name="transformer",
        title="small transformer training",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=5,
        workload="models.transformer",
        options={"num_steps": 5},
        warm_seconds=5.0,
        peer_threads=(2, 1),
    ),
    Benchmark(
        name="resnet",
        title="small ResNet training",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=5,
        workload="models.resnet",
        options={"num_steps": 5},
        warm_seconds=5.0,
        peer_threads=(2, 1),
    ),
    *[
        Benchmark(
            name=name,
            title=title,
            mode="hot",
            unit=STEPS_PER_SECOND,
            work=10,
            workload=workload,
            options={"num_steps": 10},
            rounds=8,
            # A pass is ten steps: two of them are enough to have everything compiled.
            warm_seconds=5.0,
            warm_runs=2,
            peer_threads=(2, 1),
            bar=Bar(speed, PADDLE_AND_TORCH, f"≥ {speed} × faster of both"),
        )
        for name, workload, speed, title in (
            ("cnn", "models.cnn", 1.3, "CNN on 28 × 28 pictures, Adam, batch 64"),
            ("char-gpt", "models.char_gpt", 1.2, "char-GPT, 6 layers, 192 wide, 128 context, batch 16"),
            ("lstm-layer", "models.lstm_layer", 1.2, "nn.LSTM 2 × 256, 64 steps, batch 32"),
        )
    ],
    Benchmark(
        name="pinn-burgers",
        title="PINN step, second derivative (Burgers)",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=10,
        workload="models.pinn",
        options={"equation": "burgers", "num_steps": 10},
        rounds=8,
        warm_seconds=5.0,
        peer_threads=(2, 1),
        bar=Bar(2.0, ("torch",), "≥ 2 × PyTorch"),
    ),
    Benchmark(
        name="pinn-allen-cahn",
        title="PINN step, second derivative (Allen-Cahn)",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=10,
        workload="models.pinn",
        options={"equation": "allen_cahn", "num_steps": 10},
        rounds=8,
        warm_seconds=5.0,
        peer_threads=(2, 1),
        bar=Bar(2.0, ("torch",), "≥ 2 × PyTorch"),
    ),
    Benchmark(
        name="pinn-biharmonic",
        title="PINN step, fourth derivative (biharmonic)",
        mode="hot",
        unit=STEPS_PER_SECOND,
        work=4,
        workload="models.pinn",
        options={"equation": "biharmonic", "num_steps": 4},
        rounds=6,
        warm_seconds=5.0,
        peer_threads=(2, 1),
        bar=Bar(3.0, ("torch",), "≥ 3 × PyTorch"),
    ),
    *[
        Benchmark(
            name=f"large-{operation}-{dtype}",
            title=f"{operation} of 10 million {dtype}",
            mode="hot",
            unit=MILLISECONDS,
            workload="operations.large",
            options={"operation": operation, "dtype": dtype},
            # Paddle takes a quarter of a minute for each search.
            rounds=2 if operation == "searchsorted" else 4,
            warm_runs=1 if operation == "searchsorted" else 4,
            warm_seconds=0.0,
            bar=Bar(1.0, ("paddle",), "≥ 1 × Paddle"),
        )
        for operation in OPERATIONS
        for dtype in DTYPES
    ],
    *[
        # The short one shows that everything runs; starting workers weighs more in it.
        Benchmark(
            name=name,
            title=f"DataLoader: {num_images:,} JPEGs decoded, resized, augmented, 2 workers",
            mode="hot",
            unit=IMAGES_PER_SECOND,
            work=num_images,
            workload="loader",
            options={"num_images": num_images},
            rounds=4,
            warm_seconds=0.0,
            warm_runs=1,
            bar=Bar(1.1, ("torch",), "≥ 1.1 × PyTorch") if name == "loader" else None,
        )
        for name, num_images in (("loader", 10_000), ("loader-short", 500))
    ],
    Benchmark(
        name="import",
        title="import",
        mode="import",
        unit=SECONDS,
        rounds=5,
        bar=Bar(1 / 0.8, ("jax",), "time ≤ 0.8 × import jax"),
    ),
    Benchmark(
        name="memory",
        title="10,000 steps, batch sizes among 8",
        mode="memory",
        unit=STEPS_PER_SECOND,
        work=100,
        workload="changing_batches",
        options={"num_steps": 100},
        rounds=100,
    ),
]


def select(names: list[str]) -> list[Benchmark]:
    """The benchmarks asked for, in the list's order; all of them when none is named."""
    known = {benchmark.name for benchmark in BENCHMARKS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(
            f"no benchmark named {', '.join(unknown)}; there are: "
            + ", ".join(benchmark.name for benchmark in BENCHMARKS)
        )
    return [benchmark for benchmark in BENCHMARKS if not names or benchmark.name in names]
