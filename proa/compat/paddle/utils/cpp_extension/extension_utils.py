"""Inner names of `paddle.utils.cpp_extension.extension_utils`."""

from . import load_op_meta_info_and_register_op

__all__ = ["load_op_meta_info_and_register_op"]
