"""`proa launch …`: as `python -m paddle.distributed.launch`; `import paddle` gives proa in the processes."""

from __future__ import annotations

import argparse
import os

from proa_command.run import announce

from ..distributed.launching import launch


def run(arguments: argparse.Namespace) -> int:
    announce(os.environ)
    launch(arguments.arguments)
    return 0
