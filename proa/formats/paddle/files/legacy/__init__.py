"""`.pdmodel` (ProgramDesc), Paddle's format before PIR, to and from a Model.

    schema.py     the protobuf messages
    reader.py     blocks and operations by the table (files/table), variables to values
    control.py    `while`, `conditional_block` with `select_input`
    special.py    operations whose translation needs code
    writer.py     Model to messages, with the same table
    special_write.py, control_write.py  what needs code when it is written

The older format is not in single-assignment form: a variable may be written again, in place, or from within a loop. The
reader keeps an environment from variable names to the values that they hold at the moment.
"""

from __future__ import annotations

from proa.formats.paddle.files.legacy.reader import read_program
from proa.formats.paddle.files.legacy.writer import write_program

__all__ = ["read_program", "write_program"]
