"""Data generators: a user's function of a line becomes a pipe command that writes lines of slots."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.errors import type_error, value_error


class DataGenerator:
    """Reads lines, and writes what `generate_sample` makes of them; a subclass says how a sample is written.

    Examples:
        >>> from proa.distributed.fleet.data_generator import DataGenerator
        >>> DataGenerator().set_batch(128)
    """

    def __init__(self) -> None:
        self._proto_info: list[tuple[str, str]] | None = None
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """How many samples `generate_batch` gets at a time.

        Examples:
            >>> paddle.distributed.fleet.MultiSlotDataGenerator().set_batch(128)
        """
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Callable[[], Iterable[Any]]:
        """To be written by the user: a function that gives the samples of a line, each `[(slot, [value, …]), …]`.

        Raises:
            NotImplementedError: the user has not.

        Examples:
            >>> paddle.distributed.fleet.MultiSlotDataGenerator().generate_sample("1 2")
            Traceback (most recent call last):
                ...
            NotImplementedError: (generate_sample) a data generator must have it: a function that yields samples.
        """
        raise NotImplementedError("(generate_sample) a data generator must have it: a function that yields samples.")

    def generate_batch(self, samples: list[Any]) -> Callable[[], Iterable[Any]]:
        """A function that gives the samples of a batch as they are to be written; here, as they are.

        Examples:
            >>> list(paddle.distributed.fleet.MultiSlotDataGenerator().generate_batch([1, 2])())
            [1, 2]
        """
        return lambda: iter(samples)

    def run_from_memory(self) -> None:
        """Writes the samples of `generate_sample(None)`.

        Examples:
            >>> class Numbers(paddle.distributed.fleet.MultiSlotDataGenerator):
            ...     def generate_sample(self, line):
            ...         return lambda: iter([[("words", [1, 2]), ("label", [0])]])
            >>> Numbers().run_from_memory()
            2 1 2 1 0
        """
        self._write([None])

    def run_from_stdin(self) -> None:
        """Writes the samples of each line of the standard input: what a pipe command does.

        Examples:
            >>> import io, sys
            >>> class Numbers(paddle.distributed.fleet.MultiSlotDataGenerator):
            ...     def generate_sample(self, line):
            ...         return lambda: iter([[("words", [int(word) for word in line.split()])]])
            >>> sys.stdin = io.StringIO("1 2 3")
            >>> Numbers().run_from_stdin()
            3 1 2 3
            >>> sys.stdin = sys.__stdin__
        """
        self._write(sys.stdin)

    def _write(self, lines: Iterable[str | None]) -> None:
        for batch in self._batches(lines):
            for sample in self.generate_batch(batch)():
                sys.stdout.write(self._gen_str(sample))

    def _batches(self, lines: Iterable[str | None]) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for line in lines:
            for sample in self.generate_sample(line)():
                if sample is not None:
                    batch.append(sample)
                if len(batch) == self.batch_size_:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _gen_str(self, line: Any) -> str:
        raise NotImplementedError("(DataGenerator) use MultiSlotDataGenerator or MultiSlotStringDataGenerator.")


def _slots(line: Any) -> list[tuple[Any, Any]]:
    if isinstance(line, zip):
        line = list(line)
    if not isinstance(line, (list, tuple)):
        raise value_error("generate_sample", "a sample must be a list [(slot, [value, ...]), ...]", type(line).__name__)
    return list(line)


class MultiSlotStringDataGenerator(DataGenerator):
    """Writes samples whose values are strings already, without looking at them.

    Examples:
        >>> class Words(paddle.distributed.fleet.MultiSlotStringDataGenerator):
        ...     def generate_sample(self, line):
        ...         return lambda: iter([[("words", ["1926", "08"]), ("label", ["1"])]])
        >>> Words().run_from_memory()
        2 1926 08 1 1
    """

    def _gen_str(self, line: Any) -> str:
        return " ".join(" ".join([str(len(values)), *values]) for _, values in _slots(line)) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Writes samples of numbers; every sample must have the slots of the first.

    Examples:
        >>> class Numbers(paddle.distributed.fleet.MultiSlotDataGenerator):
        ...     def generate_sample(self, line):
        ...         return lambda: iter([[("words", [1926, 8, 17]), ("price", [0.5])]])
        >>> Numbers().run_from_memory()
        3 1926 8 17 1 0.5
    """

    def _gen_str(self, line: Any) -> str:
        slots = _slots(line)
        known = self._proto_info
        if known is not None and len(slots) != len(known):
            raise value_error(
                "generate_sample", f"samples have the slots {[name for name, _ in known]}", f"{len(slots)}"
            )
        made, written = list[tuple[str, str]](), []
        for place, (name, values) in enumerate(slots):
            if not isinstance(name, str) or not isinstance(values, list):
                received = f"({type(name).__name__}, {type(values).__name__})"
                raise value_error("generate_sample", "a slot is a name and a list of numbers", received)
            if not values:
                raise value_error("generate_sample", f"the slot {name} must have a value", "none", "pad it, with 0")
            if known is not None and name != known[place][0]:
                raise value_error("generate_sample", f"slot {place} was {known[place][0]}", name)
            for value in values:
                if not isinstance(value, (int, float)):
                    raise type_error("generate_sample", f"{name} must hold int or float", type(value).__name__)
            was_float = known is not None and known[place][1] == "float"
            is_float = was_float or any(isinstance(value, float) for value in values)
            made.append((name, "float" if is_float else "uint64"))
            written.append(" ".join([str(len(values)), *map(str, values)]))
        self._proto_info = made
        return " ".join(written) + "\n"


__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]
