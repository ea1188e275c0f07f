"""Inner names of `paddle.utils.cpp_extension`."""

from __future__ import annotations

from typing import Any


def load_op_meta_info_and_register_op(lib_filename: str) -> Any:
    """Libraries compiled for Paddle's own C++ core cannot be loaded."""
    raise NotImplementedError(
        f"(load_op_meta_info_and_register_op) {lib_filename} was compiled for Paddle's C++ core, which is not here. "
        "Build the operation with paddle.utils.cpp_extension.load, see docs/custom_operations.md."
    )
