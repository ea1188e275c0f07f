"""The file that makes a checkpoint: which part of which tensor lies where. It has Paddle's form, so Paddle reads it.

Paddle's file is a pickle of the three classes below. What proa adds stands beside its fields, where Paddle does not look:
the place of each part's numbers in its file, their checksum, and values that are no tensors. Behind the pickle stands a
checksum of the file itself. It is read by the unpickler that runs nothing, which is told these three classes.
"""

from __future__ import annotations

import io
import pickle
import zlib
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import value_error
from ...framework.content import from_content
from ...framework.unpickler import RestrictedUnpickler, scan

# Where Paddle keeps the classes: since 3.3, and before.
_MODULES = ("paddle.distributed.flex_checkpoint.dcp.metadata", "paddle.distributed.checkpoint.metadata")
_TRAILER = b"\nproa crc32 "  # then eight hexadecimal digits, as behind every pickle of `paddle.save`


@dataclass
class LocalTensorMetadata:
    """One part of a tensor, as a block of the whole."""

    global_offset: tuple[int, ...]
    local_shape: tuple[int, ...]
    dtype: str
    global_shape: tuple[int, ...] | None = None
    is_flattened: bool = False
    flattened_range: tuple[int, int] | None = None


@dataclass(frozen=True)
class LocalTensorIndex:
    """By what a part is found."""

    tensor_key: str
    global_offset: tuple[int, ...]
    is_flattened: bool = False
    flattened_range: tuple[int, int] | None = None
    replica_id: int | None = None
    local_shape: tuple[int, ...] | None = None


@dataclass
class Metadata:
    """All parts of all tensors, and the path of each flat name through the nested dictionaries."""

    state_dict_metadata: dict[str, list[LocalTensorMetadata]] = field(default_factory=dict)
    storage_metadata: dict[LocalTensorIndex, str] = field(default_factory=dict)
    flat_mapping: dict[str, tuple[str, ...]] = field(default_factory=dict)


_CLASSES = (LocalTensorIndex, LocalTensorMetadata, Metadata)
_KNOWN = {(module, kind.__name__): kind for module in _MODULES for kind in _CLASSES}


@dataclass(frozen=True)
class Part:
    """A part of a tensor in a file.

    `flat` is the range of the block's elements, counted row by row, where a part is less than a block. `begin`, `num_bytes`
    and `checksum` are unknown (None) in files that Paddle wrote: such a file is read whole.
    """

    key: str
    offset: tuple[int, ...]
    shape: tuple[int, ...]
    global_shape: tuple[int, ...]
    dtype: str
    file: str
    flat: tuple[int, int] | None = None
    begin: int | None = None
    num_bytes: int | None = None
    checksum: int | None = None

    def row(self) -> tuple[Any, ...]:
        """The same as plain data, for files and messages."""
        return (
            self.key, list(self.offset), list(self.shape), list(self.global_shape), self.dtype, self.file,
            self.flat and list(self.flat), self.begin, self.num_bytes, self.checksum,
        )  # fmt: skip

    @classmethod
    def of_row(cls, row: Any) -> Part:
        key, offset, shape, global_shape, dtype, file, flat, *place = row
        return cls(
            key, tuple(offset), tuple(shape), tuple(global_shape), dtype, file, tuple(flat) if flat else None, *place
        )


@dataclass
class Catalogue:
    """What a checkpoint holds."""

    parts: dict[str, list[Part]]
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)  # what is no tensor
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of each file; empty where Paddle wrote it


def encode(catalogue: Catalogue) -> bytes:
    """The content of a metadata file."""
    metadata = Metadata(flat_mapping=catalogue.paths)
    places: dict[tuple[str, str], tuple[Any, ...]] = {}
    for key, parts in catalogue.parts.items():
        blocks = {
            (part.offset, part.flat): LocalTensorMetadata(
                part.offset, part.shape, part.dtype, part.global_shape, part.flat is not None, part.flat
            )
            for part in parts
        }
        has_copies = len(parts) > len(blocks)  # they differ by a number, so that each is found
        for number, part in enumerate(parts):
            replica = number if has_copies else None
            index = LocalTensorIndex(key, part.offset, part.flat is not None, part.flat, replica, part.shape)
            metadata.storage_metadata[index] = part.file
            places[part.file, key] = (part.begin, part.num_bytes, part.checksum)
        metadata.state_dict_metadata[key] = list(blocks.values())
    # Beside the fields, so that Paddle reads the others as its own.
    vars(metadata)["proa"] = {"places": places, "values": catalogue.values, "sizes": catalogue.sizes}
    buffer = io.BytesIO()
    _PaddlePickler(buffer, 4).dump(metadata)
    content = buffer.getvalue()
    return content + _TRAILER + b"%08x" % zlib.crc32(content)


_PythonPickler: Any = getattr(pickle, "_Pickler")  # noqa: B009 - type checkers do not know the one in Python


class _PaddlePickler(_PythonPickler):
    """Writes the three classes under Paddle's names. (The pickler in C insists on importing what it names.)"""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        if obj not in _CLASSES:
            super().save_global(obj, name)
            return
        self.save(_MODULES[0])
        self.save(obj.__name__)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(obj)


def decode(content: bytes, name: str) -> Catalogue:
    """What the content of a metadata file says; ValueError, with the file's name, where it is damaged."""
    try:
        end = scan(content)
        if content[end:] not in (b"", _TRAILER + b"%08x" % zlib.crc32(content[:end])):
            raise ValueError("its checksum does not fit: it was changed or damaged after it was written")
        metadata = RestrictedUnpickler(io.BytesIO(content), _KNOWN).load()
        return _catalogue(metadata)
    except (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        TypeError,
        ValueError,
        pickle.UnpicklingError,
    ) as error:
        raise value_error(
            "load_state_dict", "the file is not the metadata of a checkpoint, or it is damaged",
            f"{name!r}: {str(error)[:300]}", "load an older checkpoint by its unique_id",
        ) from error  # fmt: skip


def _catalogue(metadata: Metadata) -> Catalogue:
    if not isinstance(metadata, Metadata):
        raise ValueError(f"it holds a {type(metadata).__name__}")
    own: dict[str, Any] = getattr(metadata, "proa", {})
    places = own.get("places", {})
    parts: dict[str, list[Part]] = {}
    for index, file in metadata.storage_metadata.items():
        key = index.tensor_key
        found = _described(metadata.state_dict_metadata[key], index)
        begin, num_bytes, checksum = places.get((file, key), (None, None, None))
        parts.setdefault(key, []).append(
            Part(
                key, tuple(found.global_offset), tuple(found.local_shape), _whole_shape(metadata, key, found),
                found.dtype, str(file), _range(found), begin, num_bytes, checksum,
            )
        )  # fmt: skip
    paths = metadata.flat_mapping or {}
    values = from_content(own.get("values", {}), True, False)
    return Catalogue(parts, paths, values, own.get("sizes", {}))


def _described(blocks: list[LocalTensorMetadata], index: LocalTensorIndex) -> LocalTensorMetadata:
    for block in blocks:
        same_range = getattr(block, "flattened_range", None) == getattr(index, "flattened_range", None)
        if tuple(block.global_offset) == tuple(index.global_offset) and same_range:
            return block
    raise ValueError(f"it does not describe the part of {index.tensor_key!r} at {tuple(index.global_offset)}")


def _range(block: LocalTensorMetadata) -> tuple[int, int] | None:
    span = getattr(block, "flattened_range", None) if getattr(block, "is_flattened", False) else None
    return None if span is None else (int(span[0]), int(span[1]))


def _whole_shape(metadata: Metadata, key: str, block: LocalTensorMetadata) -> tuple[int, ...]:
    """The shape of the whole tensor; files of older versions of Paddle do not say it, the outermost block does."""
    if getattr(block, "global_shape", None) is not None:
        return tuple(block.global_shape)  # type: ignore[arg-type]
    ends = [
        [start + size for start, size in zip(part.global_offset, part.local_shape)]
        for part in metadata.state_dict_metadata[key]
    ]
    return tuple(max(sizes) for sizes in zip(*ends))
