"""`import paddle` where this folder's parent is on Python's path: the package proa under that name.

`proa run` and `proa.compat.install()` put the parent folder into PYTHONPATH, so every Python that is started below them
(a worker, a launcher, a notebook's kernel) finds this file, and nothing is paid by those that do not import paddle.
"""

import pathlib
import sys

try:
    from proa.compat import alias
except ModuleNotFoundError as missing:
    if missing.name != "proa":
        raise
    # The process that set PYTHONPATH ran from a folder that this one does not have on its path.
    sys.path.append(str(pathlib.Path(__file__).parents[4]))
    from proa.compat import alias

# Python hands out what stands in sys.modules when this file has run: the package itself.
alias.take_over()
