"""A process that compiles variants and tells what XLA says of them: `python -m proa.distributed.planner.worker`.

It reads one JSON document from its standard input and writes a line of JSON for each variant. It is a process of its own
because the number of virtual devices is settled when XLA starts, and because planning must not disturb the devices that
the planning process computes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...core.errors import runtime_error
from ...core.waiting import waiting
from .compiling import Variant, measure
from .pieces import Piece, Pieces
from .tracing import Source

_PARTS = ("first", "unit", "last")
_NUMBERED = ("carried", "entries", "exits", "own")
_SECONDS = 60.0  # that one variant may take at most, on average


def encoded(pieces: Pieces) -> dict[str, Any]:
    """Pieces as plain data."""
    found: dict[str, Any] = {key: getattr(pieces, key) for key in ("loss", "count", "names", "samples")}
    found["sources"] = [asdict(source) for source in pieces.sources]
    for key in _PARTS:
        piece = getattr(pieces, key)
        found[key] = None if piece is None else piece.encoded()
    return {**found, **{key: list(getattr(pieces, key).items()) for key in _NUMBERED}}


def decoded(content: dict[str, Any]) -> Pieces:
    parts = {key: None if content[key] is None else Piece.decoded(content[key]) for key in _PARTS}
    numbered = {key: dict(content[key]) for key in _NUMBERED}
    sources = [Source(**{**one, "shape": tuple(one["shape"])}) for one in content["sources"]]
    assert parts["last"] is not None
    return Pieces(
        sources, content["loss"], parts["last"], parts["first"], parts["unit"], content["count"], content["names"],
        samples=content["samples"], **numbered,
    )  # fmt: skip


def measured(pieces: Pieces, variants: Sequence[Variant], seconds: float = _SECONDS) -> dict[Variant, dict[str, Any]]:
    """What XLA says of each variant, from a process with virtual devices. One may take some seconds, on average."""
    wanted = list(dict.fromkeys(variants))
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PROA_NATIVE": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    devices = max(variant.devices for variant in wanted)
    environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    document = {"pieces": encoded(pieces), "variants": [asdict(variant) for variant in wanted]}
    with (
        waiting(f"XLA compiles {len(wanted)} small variants of the training step", "1 to 3 s each"),
        tempfile.TemporaryFile("w+") as complaints,
    ):
        done = subprocess.run(
            [sys.executable, "-m", "proa.distributed.planner.worker"], input=json.dumps(document), text=True,
            stdout=subprocess.PIPE, stderr=complaints, env=environment, timeout=120 + seconds * len(wanted), check=False,
        )  # fmt: skip
        if done.returncode:
            complaints.seek(0)
            raise runtime_error(
                "auto_parallel", "the process that compiles variants of the training step has failed",
                complaints.read()[-3000:],
            )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return dict(zip(wanted, lines, strict=True))


def main() -> None:
    document = json.load(sys.stdin)
    pieces = decoded(document["pieces"])
    for given in document["variants"]:
        variant = Variant(**{**given, "cuts": tuple((name, cut) for name, cut in given["cuts"])})
        print(json.dumps(measure(pieces, variant)), flush=True)


if __name__ == "__main__":
    main()
