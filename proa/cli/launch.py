"""`proa launch …`: as `python -m paddle.distributed.launch`; `import paddle` gives proa in the processes."""

from __future__ import annotations

import argparse
import os

from proa_command.run import announce

from ..distributed.launching import launch
from .problems import complain


def run(arguments: argparse.Namespace) -> int:
    announce(os.environ)
    try:
        launch(arguments.arguments)
    except (ValueError, OSError) as error:
        return complain("launch", error)
    return 0
