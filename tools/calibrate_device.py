"""Measure the devices that are there and write a data sheet that plans can be made for.

    python -m tools.calibrate_device --output here.toml              # all devices of this machine
    python -m tools.calibrate_device --virtual 8 --output cpu8.toml  # eight virtual devices of the CPU

    proa plan train.py --devices 8 --device here.toml

All devices work at once, as they do in training, so that what they share (the cores of a CPU, a bus) is shared here, too. Of
several runs the fastest counts.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

_DTYPES = ("float32", "bfloat16")


def fastest(run: Callable[[], Any], seconds: float = 1.0) -> float:
    """The shortest of many runs, in seconds."""
    import jax

    jax.block_until_ready(run())
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or best == math.inf:
        begin = time.perf_counter()
        jax.block_until_ready(run())
        best = min(best, time.perf_counter() - begin)
    return best


class Bench:
    """Measurements over all devices at once: what each of them reaches."""

    def __init__(self, size: int, seconds: float) -> None:
        import jax
        from jax.sharding import NamedSharding, PartitionSpec

        self.devices = jax.devices()
        self.count, self.size, self.seconds = len(self.devices), size, seconds
        mesh = jax.make_mesh((self.count,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        self.mesh, self.cut = mesh, NamedSharding(mesh, PartitionSpec("d"))

    def _array(self, shape: tuple[int, ...], dtype: str) -> Any:
        import jax
        import jax.numpy as jnp

        return jax.device_put(jnp.ones((self.count, *shape), dtype), self.cut)

    def flops(self, dtype: str) -> float:
        import jax
        import jax.numpy as jnp

        x = self._array((self.size, self.size), dtype)
        product = jax.jit(lambda a: jnp.matmul(a, a), out_shardings=self.cut)
        return 2.0 * self.size**3 / fastest(lambda: product(x), self.seconds)

    def bandwidth(self) -> float:
        import jax

        x = self._array((1 << 22,), "float32")
        change = jax.jit(lambda a: a * 2 + 1, out_shardings=self.cut)
        return 2 * 4.0 * (1 << 22) / fastest(lambda: change(x), self.seconds)

    def launch(self) -> float:
        """Seconds of one small kernel among many."""
        import jax
        import jax.numpy as jnp

        def chain(count: int) -> Callable[[Any], Any]:
            def run(a: Any) -> Any:
                for _ in range(count):
                    a = jnp.tanh(jnp.matmul(a, a))
                return a

            return jax.jit(run, out_shardings=self.cut)

        x = self._array((16, 16), "float32")
        short, long = chain(8), chain(72)
        difference = fastest(lambda: long(x), self.seconds) - fastest(lambda: short(x), self.seconds)
        return max(difference / 128, 1e-8)

    def link(self) -> tuple[float, float]:
        """Bandwidth and latency by sums over all devices, of little and of much."""
        import jax
        from jax.sharding import PartitionSpec

        def sums(count: int) -> Callable[[Any], Any]:
            def run(a: Any) -> Any:
                for _ in range(count):
                    a = jax.lax.psum(a, "d") * 0.5
                return a

            mapped = jax.shard_map(run, mesh=self.mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec("d"))
            return jax.jit(mapped)

        small, large = self._array((16,), "float32"), self._array((1 << 20,), "float32")
        one, many = sums(1), sums(9)
        rounds = 2 * math.ceil(math.log2(self.count))
        latency = (fastest(lambda: many(small), self.seconds) - fastest(lambda: one(small), self.seconds)) / 8 / rounds
        seconds = (fastest(lambda: many(large), self.seconds) - fastest(lambda: one(large), self.seconds)) / 8
        share = 2 * (self.count - 1) / self.count
        return share * 4.0 * (1 << 20) / max(seconds - rounds * latency, 1e-9), max(latency, 1e-8)

    def memory(self) -> float:
        """Bytes of one device; virtual ones share the machine's."""
        limit = (self.devices[0].memory_stats() or {}).get("bytes_limit")
        if limit:
            return float(limit)
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / self.count


def sheet(bench: Bench) -> str:
    """The data sheet as TOML."""
    flops = {dtype: bench.flops(dtype) for dtype in _DTYPES}
    bandwidth, latency = bench.link() if bench.count > 1 else (bench.bandwidth(), 1e-6)
    lines = [
        f'about = "{bench.count} x {bench.devices[0].device_kind}, measured by tools/calibrate_device.py"',
        f"flops = {{ {', '.join(f'{dtype} = {rate:.4g}' for dtype, rate in flops.items())} }}",
        f"memory = {bench.memory():.4g}",
        f"bandwidth = {bench.bandwidth():.4g}",
        f"inside = {{ bandwidth = {bandwidth:.4g}, latency = {latency:.4g} }}",
        f"across = {{ bandwidth = {bandwidth:.4g}, latency = {latency:.4g} }}",
        f"machine = {bench.count}",
        "reached = { flops = 1.0, bandwidth = 1.0, link = 1.0 }",
        f"launch = {bench.launch():.4g}",
        f"overlap = {0.0 if bench.devices[0].platform == 'cpu' else 0.7}",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.calibrate_device", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--output", metavar="FILE", help="where to write the data sheet (default: print it)")
    parser.add_argument("--virtual", type=int, metavar="N", help="measure N virtual devices of the CPU")
    parser.add_argument("--size", type=int, default=512, metavar="N", help="of the matrices that are multiplied (512)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement (1)")
    chosen = parser.parse_args(arguments)
    if chosen.virtual is not None:
        if chosen.virtual < 1:
            parser.error(f"--virtual is at least 1; received {chosen.virtual}")
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={chosen.virtual}"
    text = sheet(Bench(chosen.size, chosen.seconds))
    if chosen.output:
        with open(chosen.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
