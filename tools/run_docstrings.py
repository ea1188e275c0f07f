"""Run the examples in the docstrings of public names, as doctests.

    python -m tools.run_docstrings                          # all of them, two processes
    python -m tools.run_docstrings proa.nn proa.optimizer   # those below these names
    python -m tools.run_docstrings --jobs 1 proa.abs

`paddle` (proa) and `np` (NumPy) are there without an import; an example imports everything else. Whitespace may differ and
`...` stands for anything. Each example starts with the seed 0, in eager mode, in an empty folder.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import proa as paddle
from tools.public_names import PACKAGE, PublicName, public_names

_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run(name: PublicName) -> str:
    """What went wrong with one name's example; empty where nothing did."""
    parsed = doctest.DocTestParser().get_doctest(name.docstring, {"paddle": paddle, "np": np}, name.name, name.file, 0)
    report = io.StringIO()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        paddle.seed(0)
        try:
            # What an example prints on the error stream is no part of it.
            with contextlib.redirect_stderr(io.StringIO()):
                doctest.DocTestRunner(verbose=False, optionflags=_OPTIONS).run(parsed, out=report.write)
        finally:
            os.chdir(here)
            paddle.disable_static()
            paddle.set_default_dtype("float32")
            paddle.set_device("cpu")
    return report.getvalue()


def _run_part(prefixes: tuple[str, ...], part: int, parts: int) -> tuple[int, list[str]]:
    names = [name for name in public_names() if name.has_example and name.name.startswith(prefixes)][part::parts]
    return len(names), [trouble for name in names if (trouble := run(name))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("prefixes", nargs="*", default=[PACKAGE], help="names, or beginnings of names")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    prefixes = tuple(options.prefixes)
    if options.jobs == 1:
        parts = [_run_part(prefixes, 0, 1)]
    else:
        with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
            parts = list(pool.map(_run_part, *zip(*((prefixes, part, options.jobs) for part in range(options.jobs)))))
    failed = [trouble for _, troubles in parts for trouble in troubles]
    print("".join(failed) + f"{sum(count for count, _ in parts)} examples, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
