"""`proa convert model.onnx -o model.proa`: models from elsewhere, each with a certificate."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from ..convert.api import convert, default_output
from ..convert.certificate import Certificate
from ..convert.weights import load_torch_weights
from ..core.tracebacks import HINT
from ..framework import save
from .problems import complain


def run(arguments: argparse.Namespace) -> int:
    if arguments.onto:
        return _weights(arguments)
    output = arguments.output or default_output(arguments.model)
    try:
        certificate = convert(
            arguments.model, output, inputs=arguments.inputs, rtol=arguments.tolerance, atol=arguments.tolerance
        )
    except (ValueError, TypeError, OSError, ImportError, NotImplementedError, RuntimeError, MemoryError) as error:
        complain("convert", error, output)
        for note in getattr(error, "__notes__", ()):
            if note != HINT:
                print(note, file=sys.stderr)
        return 1
    print("\n".join(lines(certificate)))
    return 0


def _weights(arguments: argparse.Namespace) -> int:
    """Weights onto a model that a function of the user's makes; they are written only if all of them match."""
    output = arguments.output or f"{os.path.splitext(arguments.model)[0]}.pdparams"
    try:
        layer = _made(arguments.onto)
        report = load_torch_weights(layer, arguments.model)
        save(layer.state_dict(), output)
    except (ValueError, TypeError, OSError, ImportError, AttributeError) as error:
        return complain("convert", error, output)
    print(f"{arguments.model} -> {output}: {report}. Names and shapes agree; results were not compared.")
    return 0


def _made(text: str) -> Any:
    module, _, name = text.partition(":")
    if not name:
        raise ValueError(f"--onto takes MODULE:NAME; received {text!r}")
    sys.path.insert(0, os.getcwd())
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found()


def lines(certificate: Certificate) -> list[str]:
    found = [f"{certificate.source} -> {certificate.output}: agrees with {certificate.reference}"]
    for described, checks in zip(certificate.inputs, certificate.checks, strict=True):
        given = ", ".join(f"{one['name']} {one['dtype']}{one['shape']}" for one in described)
        found.append(f"  for {given}:")
        found += [
            f"    {check.name} {check.dtype}{check.shape}: largest error {check.largest_error:.2g}" for check in checks
        ]
    found += [f"  fixed: {line}" for line in certificate.fixed_dimensions]
    found += [f"  {note}" for note in certificate.notes]
    return found
