"""Measure the devices that are there and write a data sheet that plans can be made for.

    python -m tools.calibrate_device --output here.toml              # all devices of this machine
    python -m tools.calibrate_device --virtual 8 --output cpu8.toml  # eight virtual devices of the CPU

    proa plan train.py --devices 8 --device here.toml

All devices work at once, as they do in training, so that what they share (the cores of a CPU, a bus) is shared here, too. Of
several runs the fastest counts. What a network reaches of what its parts reach alone is measured by layers of products,
norms and activations, forwards and backwards.
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


def fastest(seconds: float, *runs: Callable[[], Any]) -> list[float]:
    """The shortest of many runs of each, in seconds. They take turns, so that what disturbs them disturbs all."""
    import jax

    for run in runs:
        jax.block_until_ready(run())
    best, end = [math.inf] * len(runs), time.perf_counter() + seconds * len(runs)
    while time.perf_counter() < end or best[0] == math.inf:
        for number, run in enumerate(runs):
            begin = time.perf_counter()
            jax.block_until_ready(run())
            best[number] = min(best[number], time.perf_counter() - begin)
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
        return 2.0 * self.size**3 / fastest(self.seconds, lambda: product(x))[0]

    def bandwidth(self) -> float:
        """Bytes a second that one kernel after another reads and writes, each what the one before has written."""
        import jax

        x = self._array((1 << 22,), "float32")
        # A loop whose length is data: kernels in it are not made one.
        change = jax.jit(
            lambda a, times: jax.lax.fori_loop(0, times, lambda _, b: b * 0.5 + 1, a), out_shardings=self.cut
        )
        few, many = fastest(self.seconds, lambda: change(x, 4), lambda: change(x, 36))
        return 32 * 2 * 4.0 * (1 << 22) / max(many - few, 1e-9)

    def call(self) -> tuple[float, float]:
        """Seconds to record, start and end a program forwards and backwards that does next to nothing, and what
        each instruction of the forward pass adds."""
        import proa as paddle
        from proa import distributed, nn

        mesh = distributed.ProcessMesh(list(range(self.count)), ["d"])

        def step(layers: int) -> Callable[[], Any]:
            model = nn.Sequential(*[nn.Sequential(nn.Linear(16, 16), nn.ReLU()) for _ in range(layers)])
            for parameter in model.parameters():
                distributed.shard_tensor(parameter, mesh, [distributed.Replicate()])
            x = distributed.shard_tensor(paddle.ones([8 * self.count, 16]), mesh, [distributed.Shard(0)])

            def run() -> float:
                loss = model(x).sum()
                loss.backward()
                model.clear_gradients()
                return float(loss)

            for _ in range(6):  # until it is compiled
                run()
            return run

        few, many = fastest(self.seconds, step(1), step(5))
        instruction = max(many - few, 0.0) / 8  # four more layers of two
        return max(few - 2 * instruction, 1e-8), instruction

    def layers(self, count: int, tokens: int, width: int) -> tuple[Callable[[], Any], dict[str, Any]]:
        """Some layers, forwards and backwards on each device, and what XLA says of them."""
        import jax
        import jax.numpy as jnp
        from jax.sharding import NamedSharding, PartitionSpec

        from proa.distributed.planner.collectives import figures_of

        def layer(x: Any, up: Any, down: Any) -> Any:
            middle = x - x.mean(-1, keepdims=True)
            normed = middle * jax.lax.rsqrt((middle * middle).mean(-1, keepdims=True) + 1e-5)
            return x + jax.nn.softmax(jax.nn.gelu(normed @ up) @ down)

        def loss(x: Any, weights: Any) -> Any:
            for up, down in weights:
                x = layer(x, up, down)
            return (x * x).sum()

        def run(x: Any, weights: Any) -> Any:
            found = jax.tree.leaves(jax.grad(loss, argnums=1)(x, weights))
            return jnp.stack([(grad * grad).sum() for grad in found])[None]

        cut, whole = PartitionSpec("d"), PartitionSpec()
        weight = jax.device_put(jnp.full((width, 4 * width), 0.1), NamedSharding(self.mesh, whole))
        weights = [(weight, weight.T)] * count
        x = jax.device_put(jnp.ones((self.count * tokens, width)), self.cut)
        mapped = jax.shard_map(run, mesh=self.mesh, in_specs=(cut, whole), out_specs=cut, check_vma=False)
        compiled = jax.jit(mapped).lower(x, weights).compile()
        return lambda: compiled(x, weights), figures_of(compiled)

    def network(self, tokens: int, width: int) -> tuple[float, dict[str, float]]:
        """What six layers add to two: seconds, operations, bytes and kernels."""
        (short, fewer), (long, more) = (self.layers(count, tokens, width) for count in (2, 8))
        few, many = fastest(self.seconds, short, long)
        return max(many - few, 1e-9), {key: more[key] - fewer[key] for key in ("flops", "bytes", "kernels")}

    def exchange(self, kind: str, elements: int, tensors: int = 1, members: int | None = None) -> float:
        """Seconds of one collective over all devices, of some elements on each of them, or of several such tensors; or in
        groups of so many members, all groups at once."""
        import jax
        from jax.sharding import PartitionSpec

        members = members or self.count
        mesh = jax.make_mesh(
            (self.count // members, members), ("group", "d"), axis_types=(jax.sharding.AxisType.Auto,) * 2
        )
        following = [(number, (number + 1) % members) for number in range(members)]
        once: Callable[[Any], Any] = {
            "all-reduce": lambda a: [one * 0.5 for one in jax.lax.psum(a, "d")],
            "all-gather": lambda a: [jax.lax.all_gather(a[0], "d", tiled=True)[: len(a[0])] * 0.5],
            "collective-permute": lambda a: [jax.lax.ppermute(a[0], "d", following) * 0.5],
        }[kind]

        def times(count: int) -> Callable[[Any], Any]:
            def run(a: Any) -> Any:
                for _ in range(count):
                    a = once(a)
                return a

            cut = PartitionSpec(("group", "d"))
            return jax.jit(jax.shard_map(run, mesh=mesh, in_specs=cut, out_specs=cut, check_vma=False))

        x, one, nine = [self._array((elements,), "float32") for _ in range(tensors)], times(1), times(9)
        few, many = fastest(self.seconds, lambda: one(x), lambda: nine(x))
        return max(many - few, 0.0) / 8

    def link(self) -> dict[str, float]:
        """Bandwidth by large sums, and the latency of a round by small ones; that of other collectives where it differs."""
        hops = math.ceil(math.log2(self.count))
        latency, bandwidth = self.sums(self.count)
        further = (self.exchange("all-reduce", 16, 9) / (2 * hops) - latency) / 8
        gather, permute = self.exchange("all-gather", 16) / hops, self.exchange("collective-permute", 16)
        return {
            "bandwidth": bandwidth, "latency": latency, "all-gather": max(gather, 1e-8),
            "collective-permute": max(permute, 1e-8), "tensor": max(further, 0.0),
        }  # fmt: skip

    def sums(self, members: int) -> tuple[float, float]:
        """Latency of a round and bandwidth of sums in groups of so many devices."""
        rounds = 2 * math.ceil(math.log2(members))
        latency = self.exchange("all-reduce", 16, members=members) / rounds
        seconds = self.exchange("all-reduce", 1 << 20, members=members) - rounds * latency
        share = 2 * (members - 1) / members
        return max(latency, 1e-8), share * 4.0 * (1 << 20) / max(seconds, 1e-9)

    def groups(self) -> dict[int, tuple[float, float]]:
        """The same of groups of two, four and so on, as far as all devices have one."""
        sizes = [2**power for power in range(1, self.count.bit_length())]
        return {members: self.sums(members) for members in sizes if members < self.count and not self.count % members}

    def memory(self) -> float:
        """Bytes of one device; virtual ones share the machine's."""
        limit = (self.devices[0].memory_stats() or {}).get("bytes_limit")
        if limit:
            return float(limit)
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / self.count


def sheet(bench: Bench) -> str:
    """The data sheet as TOML."""
    flops = {dtype: bench.flops(dtype) for dtype in _DTYPES}
    bandwidth = bench.bandwidth()
    seconds, small = bench.network(8, 16)
    launch = seconds / small["kernels"]
    seconds, large = bench.network(*((64, 32) if bench.devices[0].platform == "cpu" else (8192, 2048)))
    alone = max(large["flops"] / flops["float32"], large["bytes"] / bandwidth)
    reached = min(1.0, alone / max(seconds - large["kernels"] * launch, 1e-9))
    link = bench.link() if bench.count > 1 else {"bandwidth": bandwidth, "latency": 1e-6}
    groups = ", ".join(f"{n} = [{latency:.4g}, {rate:.4g}]" for n, (latency, rate) in bench.groups().items())
    written = [f"{key} = {value:.4g}" for key, value in link.items()] + ([f"groups = {{ {groups} }}"] if groups else [])
    link_text = f"{{ {', '.join(written)} }}"
    is_shared = bench.devices[0].platform == "cpu" and bench.count > 1
    lines = [
        f'about = "{bench.count} x {bench.devices[0].device_kind}, measured by tools/calibrate_device.py"',
        f"flops = {{ {', '.join(f'{dtype} = {rate:.4g}' for dtype, rate in flops.items())} }}",
        f"memory = {bench.memory():.4g}",
        f"bandwidth = {bandwidth:.4g}",
        f"inside = {link_text}",
        f"across = {link_text}",
        f"machine = {bench.count}",
        f"reached = {{ flops = {reached:.3g}, bandwidth = {reached:.3g}, link = 1.0 }}",
        f"launch = {launch:.4g}",
        f"overlap = {0.0 if bench.devices[0].platform == 'cpu' else 0.7}",
    ]
    if is_shared:  # real devices hide how long it takes to start a program
        call, instruction = bench.call()
        lines += ["shared = true", f"call = {call:.4g}", f"instruction = {instruction:.4g}"]
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
