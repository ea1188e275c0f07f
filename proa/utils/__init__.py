"""`paddle.utils`: small helpers, DLPack, downloads, and operations of the user's own (Python, Pallas, C++)."""

from . import cpp_extension, dlpack, download, unique_name
from .custom_op import custom_op
from .helpers import deprecated, run_check, try_import
from .structures import flatten, map_structure, pack_sequence_as

__all__ = [
    "cpp_extension", "custom_op", "deprecated", "dlpack", "download", "flatten", "map_structure", "pack_sequence_as",
    "run_check", "try_import", "unique_name",
]  # fmt: skip
