"""The process that runs requests in one framework: `python -m tests.parity.worker paddle`, started by `pool.py`.

One request per line of JSON on standard input, one outcome per line on standard output.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

from .execute import execute


def main() -> None:
    # What frameworks print must not mix with the answers.
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    framework: Any = importlib.import_module(sys.argv[1])
    channel.write('{"ready": true}\n')
    for line in sys.stdin:
        channel.write(json.dumps(execute(framework, json.loads(line))) + "\n")
    os._exit(0)  # at once: some frameworks take seconds to tear themselves down


if __name__ == "__main__":
    main()
