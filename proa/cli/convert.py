"""`proa convert model.onnx -o model.proa`: models from elsewhere, each with a certificate."""

from __future__ import annotations

import argparse
import sys

from ..convert.api import convert
from ..convert.certificate import Certificate
from ..convert.conversion import certificate_path


def run(arguments: argparse.Namespace) -> int:
    output = arguments.output or f"{arguments.model.rsplit('.', 1)[0]}.proa"
    try:
        certificate = convert(
            arguments.model, output, inputs=arguments.inputs, rtol=arguments.tolerance, atol=arguments.tolerance
        )
    except (ValueError, TypeError, OSError, ImportError, NotImplementedError, RuntimeError, MemoryError) as error:
        print(f"proa convert: {error}", file=sys.stderr)
        print(f"Nothing was converted; what is known is in {certificate_path(output)}.", file=sys.stderr)
        return 1
    print("\n".join(lines(certificate)))
    return 0


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
