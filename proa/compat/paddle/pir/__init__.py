"""`paddle.pir`: what programs test values against."""

from ....static.block import Block, Operator
from ....static.program import Program
from ....static.variable import Variable as Value

Operation, OpResult = Operator, Value
__all__ = ["Block", "OpResult", "Operation", "Program", "Value"]
