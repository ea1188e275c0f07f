"""Devices that plans are made for: data sheets (`devices.toml`), or a file that `python -m tools.calibrate_device` wrote.

`Link.seconds` is the alpha-beta model: what a collective costs is a latency for each round of it, and its bytes over the
slowest link that its group crosses. Both may depend on how many take part (`groups`, measured): devices that share the cores
of one processor wait the longer for each other the more of them there are.
"""

from __future__ import annotations

import functools
import math
import pathlib
import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import type_error, value_error

_KEYS = ("flops", "memory", "bandwidth", "inside", "across", "machine", "reached", "launch", "overlap")
_PER_KIND = ("all-gather", "collective-permute")
_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True)
class Link:
    """A connection between devices: bytes a second that a device sends, and seconds until the first arrives."""

    bandwidth: float
    latency: float  # of one round
    latencies: dict[str, float] = field(default_factory=dict)  # of kinds that differ from it
    tensor: float = 0.0  # what a round takes longer for each further tensor that goes with the first
    groups: dict[int, tuple[float, float]] = field(default_factory=dict)  # latency and bandwidth of smaller groups

    def seconds(self, kind: str, size: float, members: int, tensors: float = 1) -> float:
        """How long a collective of some bytes takes among `members` devices.

        `size` is what a device has when all is put together: the whole tensor of an all-gather or reduce-scatter.
        """
        if members < 2:
            return 0.0
        rounds = math.ceil(math.log2(members))
        share = (members - 1) / members
        factor = {"all-reduce": 2 * share, "collective-permute": 1.0}.get(kind, share)
        if kind == "all-reduce":
            rounds *= 2
        latency, bandwidth = self.groups.get(members, (self.latency, self.bandwidth))
        longer = latency / self.latency
        each = self.latencies.get(kind, self.latency) * longer + (tensors - 1) * self.tensor
        return rounds * each + factor * size / bandwidth


@dataclass(frozen=True)
class Device:
    """What one device can do, as far as plans want to know; rates are those that real programs reach."""

    name: str
    about: str
    flops: dict[str, float]
    memory: float
    bandwidth: float
    inside: Link
    across: Link
    machine: int
    launch: float
    overlap: float
    shared: bool = False  # whether all devices are the same cores: while one waits, another is faster
    call: float = 0.0  # seconds that a program takes to start, forwards and backwards, where nothing hides them
    instruction: float = 0.0  # and for each of its instructions

    def flops_of(self, dtype: str) -> float:
        """Operations a second in a data type; one that the sheet does not name is computed in float32."""
        return self.flops.get(dtype, self.flops["float32"])

    def link(self, span: int) -> Link:
        """The slowest link among `span` devices that are numbered one after another."""
        return self.inside if span <= self.machine else self.across


def find_device(device: Any) -> Device:
    """A device by its name in the table, or by the path of a file that holds one."""
    if isinstance(device, Device):
        return device
    if not isinstance(device, (str, pathlib.Path)):
        raise type_error("auto_parallel", "device is a name or a file", type(device).__name__)
    table = _sheets()
    name = str(device).lower()
    if name in table:
        return _read(name, table[name])
    path = pathlib.Path(device)
    if path.suffix == ".toml" and path.exists():
        return _read(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    raise value_error(
        "auto_parallel", f"a device is one of {sorted(table)}, or a .toml file", f"device: {device}",
        "python -m tools.calibrate_device --output here.toml measures the device that is there",
    )  # fmt: skip


@functools.cache
def _sheets() -> dict[str, Any]:
    return tomllib.loads(pathlib.Path(__file__).with_name("devices.toml").read_text(encoding="utf-8"))


def _read(name: str, sheet: dict[str, Any]) -> Device:
    missing = [key for key in _KEYS if key not in sheet]
    if missing:
        raise value_error("auto_parallel", f"the data sheet of {name} needs {list(_KEYS)}", f"none of {missing}")
    reached = sheet["reached"]
    inside, across = (_read_link(sheet[key], reached["link"]) for key in ("inside", "across"))
    return Device(
        name, sheet.get("about", name), {dtype: rate * reached["flops"] for dtype, rate in sheet["flops"].items()},
        float(sheet["memory"]), sheet["bandwidth"] * reached["bandwidth"], inside, across, int(sheet["machine"]),
        float(sheet["launch"]), float(sheet["overlap"]), bool(sheet.get("shared", False)), float(sheet.get("call", 0.0)),
        float(sheet.get("instruction", 0.0)),
    )  # fmt: skip


def _read_link(sheet: dict[str, Any], reached: float) -> Link:
    groups = {
        int(members): (float(latency), float(bandwidth) * reached)
        for members, (latency, bandwidth) in sheet.get("groups", {}).items()
    }
    latencies = {kind: sheet[kind] for kind in _PER_KIND if kind in sheet}
    return Link(sheet["bandwidth"] * reached, sheet["latency"], latencies, sheet.get("tensor", 0.0), groups)


def bytes_of(text: Any) -> float:
    """A size of memory: a number of bytes, or text such as `141GB`, `16GiB`, `500 MB`."""
    if isinstance(text, (int, float)) and not isinstance(text, bool) and text > 0:
        return float(text)
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?i?)b?\s*", str(text).lower())
    if found is None or float(found[1]) <= 0 or found[2] not in _UNITS:
        raise value_error("auto_parallel", "memory is a number of bytes, or text such as '141GB'", repr(text))
    return float(found[1]) * _UNITS[found[2]]
