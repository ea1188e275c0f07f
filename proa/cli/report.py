"""What `proa doctor` finds, and how it is written down."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Report:
    """What was found. `problems` are sentences on what is broken and what to do; `notes` on what could be better or is good
    to know."""

    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)
    devices: list[dict[str, Any]] = field(default_factory=list)
    compiler: str = ""
    kernels: str = ""
    memory_keeping: str = ""
    cache: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def render(report: Report) -> str:
    lines = ["versions   " + ", ".join(f"{k} {v}" for k, v in report.versions.items())]
    lines.append("machine    " + ", ".join(f"{k} {v}" for k, v in report.machine.items()))
    for device in report.devices:
        lines.append(f"device     {device['place']}  {device['kind']}  {device['memory']}".rstrip())
    for title, text in (("compiler", report.compiler), ("kernels", report.kernels), ("memory", report.memory_keeping)):
        if text:
            lines.append(f"{title:10} {text}")
    if report.cache:
        lines.append("cache      {folder}: {used}, at most {limit}; {free} free on its disk".format(**report.cache))
    lines += [f"set        {name}={value}" for name, value in report.environment.items()]
    lines += [f"note       {note}" for note in report.notes]
    lines += [f"PROBLEM    {problem}" for problem in report.problems]
    if not report.problems:
        lines.append("No problems found.")
    return "\n".join(lines)
