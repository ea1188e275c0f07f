"""`paddle.utils`: small helpers, DLPack, downloads, and operations of the user's own (Python, Pallas, C++)."""

from typing import TYPE_CHECKING

from . import cpp_extension, dlpack, download, unique_name
from .custom_op import custom_op
from .helpers import deprecated, run_check
from .structures import flatten, map_structure, pack_sequence_as

if TYPE_CHECKING:
    # Whatever the user names is imported, so the function stands above everything that it could reach.
    from ..compat.namespaces import try_import

__all__ = [
    "cpp_extension", "custom_op", "deprecated", "dlpack", "download", "flatten", "map_structure", "pack_sequence_as",
    "run_check", "try_import", "unique_name",
]  # fmt: skip
