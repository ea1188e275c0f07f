"""Looking at numbers: `check_numerics`, `TensorCheckerConfig`, `DebugMode`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import type_error, value_error
from ..core.flags import get, set_flags
from ..eager.tensor import Tensor, tensor_from_data
from ..ir.program import Instruction
from ..ir.watch import Inspection, NonFiniteError
from .amp_lists import name_of

_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
# The largest numbers of float16: what is beyond them overflows there.
_FLOAT16_MAX = 65504.0


class DebugMode(Enum):
    """What is done with the numbers of a tensor that is checked.

    `CHECK_NAN_INF_AND_ABORT` raises for NaN and infinity, `CHECK_NAN_INF` prints a line for tensors that have them,
    `CHECK_ALL_FOR_OVERFLOW` also one for float32 tensors that float16 could not hold, `CHECK_ALL` one for every tensor.

    Examples:
        >>> [mode.name for mode in paddle.amp.debugging.DebugMode]
        ['CHECK_NAN_INF_AND_ABORT', 'CHECK_NAN_INF', 'CHECK_ALL_FOR_OVERFLOW', 'CHECK_ALL']
    """

    CHECK_NAN_INF_AND_ABORT = 0  # an error for NaN and infinity
    CHECK_NAN_INF = 1  # a line for tensors that have them
    CHECK_ALL_FOR_OVERFLOW = 2  # a line for float32 tensors that float16 could not hold, too
    CHECK_ALL = 3  # a line for every tensor


class _Figures:
    """How many elements are NaN, infinite or zero, and the extremes and mean of an array."""

    def __init__(self, array: Any) -> None:
        self.dtype = _SHORT.get(str(array.dtype), str(array.dtype))
        flat = np.asarray(array).reshape(-1)
        numbers = np.abs(flat) if flat.dtype.kind == "c" else flat.astype(np.float64)
        self.numel = int(numbers.size)
        self.num_nan = int(np.isnan(numbers).sum())
        self.num_inf = int(np.isinf(numbers).sum())
        self.num_zero = int((numbers == 0).sum())
        known = numbers[~np.isnan(numbers)]
        self.max = float(known.max()) if known.size else float("nan")
        self.min = float(known.min()) if known.size else float("nan")
        with np.errstate(all="ignore"):
            self.mean = float(numbers.mean()) if numbers.size else float("nan")

    @property
    def is_bad(self) -> bool:
        return bool(self.num_nan or self.num_inf)

    def line(self, device: str, op_type: str, var_name: str) -> str:
        where = f"in [device={device}, op={op_type}, tensor={var_name}, dtype={self.dtype}]"
        counts = f"num_nan={self.num_nan}, num_inf={self.num_inf}, " if self.is_bad else ""
        return (
            f"[PRECISION] {'[ERROR] ' if self.is_bad else ''}{where}, numel={self.numel}, {counts}"
            f"num_zero={self.num_zero}, max={self.max:.6e}, min={self.min:.6e}, mean={self.mean:.6e}"
        )

    def is_told(self, mode: DebugMode) -> bool:
        """Whether a mode has a line for these numbers."""
        if self.is_bad or mode is DebugMode.CHECK_ALL:
            return True
        beyond = max(abs(self.max), abs(self.min)) > _FLOAT16_MAX
        return mode is DebugMode.CHECK_ALL_FOR_OVERFLOW and self.dtype == "fp32" and beyond

    def error(self, op_type: str, var_name: str) -> NonFiniteError:
        shown = f", tensor {var_name}" if var_name else ""
        return NonFiniteError(
            f"({op_type}) the result has NaN or infinite elements; received {self.dtype}{shown}: {self.num_nan} NaN and "
            f"{self.num_inf} infinite of {self.numel}; look at what goes into this operation."
        )


def _device(place: Any) -> str:
    return str(place).removeprefix("Place(").removesuffix(")")


def _mode(where: str, mode: Any) -> DebugMode:
    if not isinstance(mode, DebugMode):
        raise type_error(where, "debug_mode must be a DebugMode", repr(mode))
    return mode


def check_numerics(
    tensor: Tensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Counts NaN, infinite and zero elements, and finds the extremes.

    Args:
        tensor: a floating tensor.
        op_type: a name of the operation, to print or to name in the error.
        var_name: a name of the tensor.
        debug_mode: what is done about them.

    Returns:
        The counts of NaN, infinite and zero elements (int64), and maximum, minimum and mean (float32).

    Raises:
        FloatingPointError: there are NaN or infinite elements, and the mode is to raise.
        TypeError: it is no floating tensor.

    Examples:
        >>> counts, extremes = paddle.amp.debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 2.0]), "op", "x")
        >>> counts.tolist(), extremes.tolist()
        ([0, 0, 1], [2.0, 0.0, 1.0])
    """
    mode = _mode("check_numerics", debug_mode)
    if not isinstance(tensor, Tensor):
        raise type_error("check_numerics", "a Tensor is needed", type(tensor).__name__)
    if tensor._aval.dtype.kind in "biu":
        raise type_error("check_numerics", "a floating tensor is needed", f"tensor: {tensor._aval}")
    figures = _Figures(tensor.numpy())
    if figures.is_told(mode):
        print(figures.line(_device(tensor._aval.place), op_type, var_name))
    if figures.is_bad and mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
        raise figures.error(op_type, var_name)
    counts = np.array([figures.num_nan, figures.num_inf, figures.num_zero], np.int64)
    return tensor_from_data(counts), tensor_from_data(np.array([figures.max, figures.min, figures.mean], np.float32))


class TensorCheckerConfig:
    """What `enable_tensor_checker` checks.

    Args:
        enable: False checks nothing.
        debug_mode: what is done with a tensor's numbers.
        output_dir: a folder for the lines; they are printed if it is left out.
        checked_op_list: the operators to check, by Paddle's names; all of them if left out.
        skipped_op_list: the operators to leave out.
        debug_step: a pair (first, behind the last) of the calls of `enable_tensor_checker` that count.
        stack_height_limit: accepted for compatibility.

    Raises:
        ValueError: the steps or a list have another form.
        TypeError: a setting is of another type.

    Examples:
        >>> from proa.amp import debugging
        >>> config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_NAN_INF, debug_step=(3, 5))
        >>> config.start_step, config.end_step
        (3, 5)
    """

    _flags_before: dict[str, Any] | None = None

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        where = "TensorCheckerConfig"
        self.enable = bool(enable)
        self.debug_mode = _mode(where, debug_mode)
        if output_dir is not None and not isinstance(output_dir, (str, os.PathLike)):
            raise type_error(where, "output_dir must be a path", type(output_dir).__name__)
        self.output_dir = output_dir
        self.checked_op_list = _op_names(where, "checked_op_list", checked_op_list)
        self.skipped_op_list = _op_names(where, "skipped_op_list", skipped_op_list)
        self.debug_step = debug_step
        self.stack_height_limit = stack_height_limit
        self.start_step: int | None = None
        self.end_step: int | None = None
        self.current_step_id = -1
        if debug_step is not None:
            if not isinstance(debug_step, (list, tuple)) or len(debug_step) != 2:
                raise value_error(where, "debug_step must be a list or tuple of two steps", repr(debug_step))
            self.start_step, self.end_step = (int(step) for step in debug_step)
            if not 0 <= self.start_step < self.end_step:
                raise value_error(where, "the first step must be before the last", repr(debug_step))

    def update_and_check_step_id(self) -> bool:
        """Counts a step.

        Returns:
            Whether it is one to check.

        Examples:
            >>> config = paddle.amp.debugging.TensorCheckerConfig(True, debug_step=(1, 2))
            >>> [config.update_and_check_step_id() for _ in range(3)]
            [False, True, False]
        """
        self.current_step_id += 1
        if not self.enable:
            return False
        if self.start_step is None or self.end_step is None:
            return True
        return self.start_step <= self.current_step_id < self.end_step

    def start_check_nan_inf(self) -> None:
        """Begins to check, whatever the step.

        Examples:
            >>> config = paddle.amp.debugging.TensorCheckerConfig(True)
            >>> config.start_check_nan_inf()
            >>> paddle.get_flags("FLAGS_check_nan_inf")
            {'FLAGS_check_nan_inf': True}
            >>> config.stop_check_nan_inf()
        """
        names = ("FLAGS_check_nan_inf", "FLAGS_eager_mode")
        if TensorCheckerConfig._flags_before is None:
            TensorCheckerConfig._flags_before = {name: get(name) for name in names}
        plain = self.debug_mode is DebugMode.CHECK_NAN_INF_AND_ABORT
        if plain and not (self.checked_op_list or self.skipped_op_list or self.output_dir):
            Inspection.inspect = None
            set_flags({"FLAGS_check_nan_inf": True})  # compiled steps stay compiled
        else:
            Inspection.inspect = self._inspect
            set_flags({"FLAGS_check_nan_inf": True, "FLAGS_eager_mode": "immediate"})

    def stop_check_nan_inf(self) -> None:
        """Ends checking.

        Examples:
            >>> config = paddle.amp.debugging.TensorCheckerConfig(True)
            >>> config.start_check_nan_inf()
            >>> config.stop_check_nan_inf()
            >>> paddle.get_flags("FLAGS_check_nan_inf")
            {'FLAGS_check_nan_inf': False}
        """
        TensorCheckerConfig.restore_flags()

    @staticmethod
    def restore_flags() -> None:
        """Sets the flags as they were before checking began.

        Examples:
            >>> paddle.amp.debugging.TensorCheckerConfig.restore_flags()
            >>> paddle.get_flags("FLAGS_check_nan_inf")
            {'FLAGS_check_nan_inf': False}
        """
        before, TensorCheckerConfig._flags_before = TensorCheckerConfig._flags_before, None
        if before is not None:
            set_flags(before)
        Inspection.inspect = None

    def _inspect(self, instruction: Instruction, value: Any) -> Exception | None:
        """Looks at one floating result: tells of it, and gives the error where one is wanted."""
        name = name_of(instruction.operation, instruction.kinds, instruction.attributes)
        own = {name, instruction.operation.name}
        if (self.checked_op_list and not own & set(self.checked_op_list)) or own & set(self.skipped_op_list or ()):
            return None
        figures = _Figures(value)
        if figures.is_told(self.debug_mode):
            self._tell(figures.line(_device(instruction.outputs[0].place), name, ""))
        aborts = figures.is_bad and self.debug_mode is DebugMode.CHECK_NAN_INF_AND_ABORT
        return figures.error(name, "") if aborts else None

    def _tell(self, line: str) -> None:
        if self.output_dir is None:
            print(line)
            return
        folder = Path(self.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"worker_{os.environ.get('PADDLE_TRAINER_ID', '0')}.log").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _op_names(where: str, what: str, given: Any) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise value_error(where, f"{what} must be a list or tuple of operator names", repr(given))
    return list(given)
