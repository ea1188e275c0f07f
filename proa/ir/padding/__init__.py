"""Programs for inputs that are longer than their data: one executable for many sizes.

`plan_padding(program, inputs)` decides which unknown sizes may be padded and what that needs; `padded_program(program, plan,
avals)` is the program for inputs of padded sizes, with the real ones as further inputs. The plan says what shape an input is
padded to (`plan.input_shape`; the surplus may hold anything); results are cut to the shapes of the exact program
(`sizes/bucketed.py`). What each operation does is in `rules/`; operations that work element by element need none.
"""

from .analysis import plan_padding
from .plan import Plan
from .writing import padded_program

__all__ = ["Plan", "padded_program", "plan_padding"]
