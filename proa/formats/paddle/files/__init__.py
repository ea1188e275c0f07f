"""Paddle's model files: `.pdmodel` or PIR `.json` for the program, `.pdiparams` for the parameters.

`read_model` gives a Model (proa/formats/paddle/model.py), `write_model` makes the files. Both formats meet in the Model,
which has the names of the newer one; `legacy/` translates the older. A reader trusts nothing: sizes are checked against
the file, every value must be defined before it is used, nothing of a file is ever executed. Damaged files raise
ValueError.
"""

from __future__ import annotations

from proa.formats.paddle.files.reading import find_files, read_model
from proa.formats.paddle.files.writing import write_model

__all__ = ["find_files", "read_model", "write_model"]
