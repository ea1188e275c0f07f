"""Libraries written for Paddle, installed beside proa without paddlepaddle and run as they are.

    python -m tests.ecosystem                       # every package, beside Paddle where that runs it
    python -m tests.ecosystem --only paddleseg pgl
    python -m tests.ecosystem --speed 5             # how quickly both train, 50 steps, five rounds in turn

A program in `programs/` builds small models of the package, trains them until the loss falls, saves, loads and predicts. It
runs on proa, and from the same weights on Paddle 3.3.1 (PROA_PARITY_PADDLE_PYTHON, or `.venv-paddle`); the losses of 20
steps must agree. The reports are left in `build/ecosystem/`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from tests.parity.environment import EnvironmentMissing

from .beside import compare, race
from .packages import PACKAGES, ROOT, environment
from .processes import Failed, Runner


def examine(name: str, speed: int) -> dict[str, object]:
    """The verdict on one package."""
    try:
        runner = Runner(name, environment(name), ROOT / "build" / "ecosystem" / name)
        return {"package": name, **(race(runner, speed) if speed else compare(runner))}
    except subprocess.CalledProcessError as error:
        return {"package": name, "passed": False, "why": f"cannot be installed: {error}"}
    except (Failed, EnvironmentMissing) as error:
        return {"package": name, "passed": False, "why": str(error)}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem", description="Run Paddle's libraries on proa.")
    parser.add_argument("--only", nargs="+", choices=sorted(PACKAGES), default=sorted(PACKAGES), help="these packages")
    parser.add_argument("--speed", type=int, default=0, metavar="ROUNDS", help="measure how quickly both train")
    chosen = parser.parse_args(arguments)
    results = []
    for name in chosen.only:
        results.append(examine(name, chosen.speed))
        print(json.dumps(results[-1]), flush=True)
    report = ROOT / "build" / "ecosystem" / ("speed.json" if chosen.speed else "losses.json")
    report.write_text(json.dumps(results, indent=1), encoding="utf-8")
    passed = sum(bool(result["passed"]) for result in results)
    print(f"{passed} of {len(results)} packages pass.")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
