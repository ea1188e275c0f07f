"""Block and Operator: a Program seen as Paddle shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import to_numpy_dtype
from ..core.errors import value_error
from ..eager.annotations import DTypeLike, ShapeLike
from ..eager.tensor import Tensor
from ..ir.block import blocks_in
from ..ir.program import Instruction
from ..ir.program import Program as Instructions
from ..ir.sizes.assumptions import example_size
from ..ir.sizes.dimensions import shown_shape
from ..ops.basic import full_of

if TYPE_CHECKING:
    from .program import Program


class Operator:
    """One operation of a program.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
        >>> main.global_block().ops[0].type
        'sum'
    """

    def __init__(self, block: Block, instruction: Instruction, position: int) -> None:
        self.block = block
        self.instruction = instruction
        self.idx = position

    @property
    def type(self) -> str:
        """What the operation does, by name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> main.global_block().ops[0].type
            'sum'
        """
        return self.instruction.operation.name

    def name(self) -> str:
        """What the operation does, by name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> main.global_block().ops[0].name()
            'sum'
        """
        return self.type

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the variables that are read.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> main.global_block().ops[0].input_arg_names
            ['x']
        """
        return [self.block.name_of(number) for number in self.instruction.read]

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the variables that are made.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            ...     y.name = "total"
            >>> main.global_block().ops[0].output_arg_names
            ['total']
        """
        first = self.instruction.index
        return [self.block.name_of(first + n) for n in range(len(self.instruction.outputs))]

    @property
    def attr_names(self) -> list[str]:
        """The names of the operation's attributes.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> "axis" in main.global_block().ops[0].attr_names
            True
        """
        return list(self.instruction.operation.attribute_names)

    def attr(self, name: str) -> Any:
        """The attribute of that name.

        Raises:
            ValueError: there is none.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> main.global_block().ops[0].attr("axis")
            (1,)
        """
        found = self.all_attrs()
        if name not in found:
            raise value_error("Operator.attr", f"{self.type} has no attribute {name!r}", f"{sorted(found)}")
        return found[name]

    def all_attrs(self) -> dict[str, Any]:
        """The attributes by name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]).sum(axis=1)
            >>> main.global_block().ops[0].all_attrs()["axis"]
            (1,)
        """
        return dict(zip(self.attr_names, self.instruction.attributes, strict=False))

    def to_string(self, throw_on_error: bool = False) -> str:
        """The operation as a line of text.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) + 1
            ...     y.name = "y"
            >>> print(main.global_block().ops[0].to_string())
            y: float32[-1, 2] = add(x, <int>)
        """
        from .printing import instruction_text

        return instruction_text(self.instruction, self.block.name_of, self.block.program.segment.shape_of)

    __str__ = __repr__ = to_string


class Block:
    """A list of operations: the program's own (index 0), or the body of a condition or loop.

    Examples:
        >>> paddle.static.Program().global_block().idx
        0
    """

    def __init__(
        self, program: Program, idx: int = 0, parent_idx: int = -1, instructions: Instructions | None = None
    ) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self._instructions = instructions
        self._names: dict[int, str] | None = None

    @staticmethod
    def all_of(program: Program) -> list[Block]:
        """The blocks of a program, outer ones first.

        Examples:
            >>> len(paddle.static.Block.all_of(paddle.static.Program()))
            1
        """
        found = [Block(program)]
        for block in found:  # grows while it is walked
            for instruction in block.instructions.instructions:
                for inner in blocks_in(instruction.attributes):
                    found.append(Block(program, len(found), block.idx, inner.program))
        return found

    @property
    def instructions(self) -> Instructions:
        """The operations in the form that runs.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> len(main.global_block().instructions.instructions)
            1
        """
        return self._instructions if self._instructions is not None else self.program.segment.node.program(())

    @property
    def ops(self) -> list[Operator]:
        """The operations, in order.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> [operation.type for operation in main.global_block().ops]
            ['multiply']
        """
        return [Operator(self, instruction, n) for n, instruction in enumerate(self.instructions.instructions)]

    def name_of(self, number: int) -> str:
        """The name of a value: the user's, if there is one.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> main.global_block().name_of(~0)
            'x'
        """
        if self._instructions is not None:
            return f"%{number}" if number >= 0 else f"in{~number}"
        if self._names is None:
            segment = self.program.segment
            self._names = {~k: tensor.name for k, tensor in enumerate(segment.inputs)}
            for tensor in segment.refs:
                if tensor._name is not None and tensor._segment is segment:
                    self._names.setdefault(tensor._index, tensor._name)
        return self._names.get(number) or f"%{number}"

    # ---- variables ---------------------------------------------------------------------------------------------

    @property
    def vars(self) -> dict[str, Tensor]:
        """The variables by name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> list(main.global_block().vars)
            ['x']
        """
        return {tensor.name: tensor for tensor in self.program.variables()}

    def var(self, name: str) -> Tensor:
        """The variable of that name.

        Raises:
            ValueError: there is none.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> main.global_block().var("x").shape
            paddle.Size([-1, 2])
        """
        return self.program.variable("Block.var", name)

    def has_var(self, name: str) -> bool:
        """Whether there is a variable of that name.

        Examples:
            >>> paddle.static.Program().global_block().has_var("x")
            False
        """
        return self.program.find(name) is not None

    def all_parameters(self) -> list[Any]:
        """The parameters of the program.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 3)
            >>> len(main.global_block().all_parameters())
            2
        """
        return self.program.all_parameters()

    def create_var(
        self,
        name: str | None = None,
        shape: Sequence[int | None] | None = None,
        dtype: DTypeLike = "float32",
        persistable: bool = False,
        **_: Any,
    ) -> Tensor:
        """A variable that operations may write to.

        Args:
            name: its name; None: one is made.
            shape: its sizes; -1 is that of the batch.
            dtype: its data type.
            persistable: whether it keeps its value between runs.

        Examples:
            >>> paddle.enable_static()
            >>> paddle.static.Program().global_block().create_var(name="total", shape=[2]).shape
            paddle.Size([2])
        """
        from . import mode
        from .variable import create_global_var

        sizes = tuple(self._size(axis, size) for axis, size in enumerate(() if shape is None else shape))
        with mode.recording(self.program):
            if persistable:
                return create_global_var(sizes, 0, dtype, True, name=name)
            made = full_of(0, sizes, np.dtype(to_numpy_dtype(dtype)))
        if name is not None:
            made.name = name
        return made

    def _size(self, axis: int, size: int | None) -> int:
        """A size of a variable; an unknown one is that of the first input that has one at this axis: that of the batch."""
        if size is not None and size >= 0:
            return int(size)
        for tensor in self.program.data.values():
            if axis < tensor._aval.ndim and shown_shape(tensor._aval.shape)[axis] < 0:
                return tensor._aval.shape[axis]
        return self.program.segment.assumptions.symbol("variable", example_size(axis))

    def create_parameter(
        self, shape: ShapeLike, dtype: DTypeLike = "float32", name: str | None = None, **options: Any
    ) -> Any:
        """A parameter of the program, as `paddle.static.create_parameter` makes one.

        Args:
            shape: its sizes.
            dtype: its data type.
            name: its name; None: one is made.
            **options: those of `paddle.static.create_parameter`.

        Examples:
            >>> paddle.enable_static()
            >>> paddle.static.Program().global_block().create_parameter([2, 3]).shape
            paddle.Size([2, 3])
        """
        from . import mode
        from .variable import create_parameter

        with mode.recording(self.program):
            return create_parameter(shape, dtype, name, **options)

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The block as text, one operation a line.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> print(main.global_block().to_string().splitlines()[1].strip())
            data x: float32[-1, 2]
        """
        from .printing import block_text

        return block_text(self)

    __str__ = __repr__ = to_string
