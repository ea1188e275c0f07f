"""Entry point of `proa`: one sub-command a file."""

from __future__ import annotations

import argparse
import sys

from . import doctor, verify


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proa", description="proa: PaddlePaddle's API on OpenXLA.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    doctor.add_parser(commands)
    verify.add_parser(commands)
    return parser


def main(arguments: list[str] | None = None) -> int:
    chosen = build_parser().parse_args(arguments)
    return chosen.run(chosen)


if __name__ == "__main__":
    sys.exit(main())
