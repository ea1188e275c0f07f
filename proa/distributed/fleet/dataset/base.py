"""Datasets for `Executor.train_from_dataset`: files of slots, through pipe commands, in batches.

`DatasetBase` has what all share; a streamed one reads while it is used, and holds a few batches.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....core.errors import type_error, value_error
from .parsing import Format
from .reading import Source, read
from .slots import Records, Slot, slots_of


class DatasetBase:
    """What datasets share: their settings, and batches of their files, which are read while they are used.

    Examples:
        >>> dataset = paddle.distributed.fleet.DatasetBase()
        >>> dataset.set_filelist(["a.txt", "b.txt"])
        >>> dataset.filelist
        ['a.txt', 'b.txt']
    """

    _drops_zeros = False

    def __init__(self) -> None:
        self.thread_num = 1
        self.filelist: list[str] = []
        self.use_ps_gpu = False
        self._batch_size = 1
        self._slots: list[Slot] = []
        self._settings: dict[str, str] = {}
        self._one_batch = self._with_name = self._with_content = False

    def init(
        self,
        batch_size: int = 1,
        thread_num: int = 1,
        use_var: Sequence[Any] = (),
        pipe_command: str = "cat",
        input_type: int = 0,
        fs_name: str = "",
        fs_ugi: str = "",
        download_cmd: str = "cat",
    ) -> None:
        """The settings.

        Args:
            batch_size: how many lines make a batch.
            thread_num: how many files are read at once; batches come in the order of the files all the same.
            use_var: the inputs of the program, in the order in which lines have them; float32 or int64.
            pipe_command: a command of the shell that gets a file as its standard input and writes lines of slots.
            input_type: 0: a line is a row; 1: a line is a whole batch.
            fs_name: the file system of files `hdfs:…`.
            fs_ugi: the user of it.
            download_cmd: a command that writes a file `hdfs:…` or `afs:…`, instead of `hadoop fs -text`.

        Raises:
            ValueError: a setting is not one of these.
            TypeError: a setting is of another type.

        Examples:
            >>> paddle.enable_static()
            >>> with paddle.static.program_guard(paddle.static.Program()):
            ...     x = paddle.static.data("x", [None, 2], "float32")
            >>> dataset = paddle.distributed.fleet.DatasetBase()
            >>> dataset.init(batch_size=32, use_var=[x], pipe_command="cat")
        """
        self._set_batch_size(batch_size)
        self._set_thread(thread_num)
        self._set_use_var(use_var)
        self._set_pipe_command(pipe_command)
        self._set_input_type(input_type)
        self._set_hdfs_config(fs_name, fs_ugi)
        self._set_download_cmd(download_cmd)

    def set_filelist(self, filelist: Sequence[str]) -> None:
        """The files of this worker.

        Args:
            filelist: their paths; those that end in `.gz` are unpacked.

        Raises:
            TypeError: it is no list of strings.

        Examples:
            >>> dataset = paddle.distributed.QueueDataset()
            >>> dataset.set_filelist(["part-0", "part-1"])
            >>> dataset.filelist
            ['part-0', 'part-1']
        """
        if isinstance(filelist, str) or not all(isinstance(path, (str, os.PathLike)) for path in filelist):
            raise type_error(self._where("set_filelist"), "filelist must be a list of paths", f"{filelist!r}")
        self.filelist = [os.fspath(path) for path in filelist]

    # ---- settings one by one, as Paddle's scripts call them ------------------------------------------------------

    def _where(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _number(self, name: str, value: Any, least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise value_error(self._where("init"), f"{name} must be a whole number of at least {least}", f"{value!r}")
        return int(value)

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise type_error(self._where("init"), f"{name} must be a string", type(value).__name__)
        return value

    def _set_batch_size(self, batch_size: int) -> None:
        self._batch_size = self._number("batch_size", batch_size, 1)

    def _set_thread(self, thread_num: int) -> None:
        self.thread_num = self._number("thread_num", thread_num, 0)

    def _set_use_var(self, var_list: Sequence[Any]) -> None:
        self._slots = slots_of(self._where("init"), var_list)

    def _set_pipe_command(self, pipe_command: str) -> None:
        self._settings["pipe_command"] = self._text("pipe_command", pipe_command)

    def _set_input_type(self, input_type: int) -> None:
        if input_type not in (0, 1):
            raise value_error(self._where("init"), "input_type must be 0 or 1", f"{input_type!r}")
        self._one_batch = input_type == 1

    def _set_hdfs_config(self, fs_name: str, fs_ugi: str) -> None:
        self._settings["file_system"] = self._text("fs_name", fs_name)
        self._settings["user"] = self._text("fs_ugi", fs_ugi)

    def _set_download_cmd(self, download_cmd: str) -> None:
        self._settings["download_command"] = self._text("download_cmd", download_cmd)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _records(self, threads: int | None = None) -> Iterator[Records]:
        """The records of the files, some at a time."""
        if not self._slots:
            raise value_error(self._where("init"), "use_var must name the variables that lines hold", "none")
        form = Format(
            tuple(self._slots), self._with_name, self._with_content, self._one_batch, drops_zeros=self._drops_zeros
        )
        return read(self.filelist, form, Source(**self._settings), self.thread_num if threads is None else threads)

    def _batches(self) -> Iterator[tuple[dict[str, np.ndarray], int]]:
        """What a program is fed, batch by batch, and of how many records."""
        left: Records | None = None
        pieces = self._records()
        try:
            for piece in pieces:
                held = piece if left is None or not len(left) else Records.joined([left, piece])
                whole = len(held) - len(held) % self._batch_size
                yield from self._cut(held, whole)
                left = held.part(whole, len(held))
            if left is not None:
                yield from self._cut(left, len(left))
        finally:
            pieces.close()  # type: ignore[attr-defined]

    def _cut(self, records: Records, count: int) -> Iterator[tuple[dict[str, np.ndarray], int]]:
        for begin in range(0, count, self._batch_size):
            part = records.part(begin, min(begin + self._batch_size, count))
            yield part.feed(self._slots, self._one_batch), len(part)


class QueueDataset(DatasetBase):
    """Files that are read while they are used; memory holds a few batches, however long they are.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     total = x.sum()
        >>> with open("numbers.txt", "w") as file:
        ...     lines = file.write("2 1 2\\n2 3 4\\n2 5 6\\n")
        >>> dataset = paddle.distributed.QueueDataset()
        >>> dataset.init(batch_size=2, use_var=[x], pipe_command="cat")
        >>> dataset.set_filelist(["numbers.txt"])
        >>> paddle.static.Executor().train_from_dataset(
        ...     main, dataset, fetch_list=[total], fetch_info=["total"], print_period=1
        ... )
        time: [...], batch: [1], total[1]:[10]
        time: [...], batch: [2], total[1]:[11]
    """

    def init(self, **kwargs: Any) -> None:
        """The settings of `DatasetBase.init`.

        Args:
            **kwargs: the settings of `DatasetBase.init`.

        Examples:
            >>> paddle.distributed.QueueDataset().init(batch_size=32, thread_num=2, pipe_command="cat")
        """
        super().init(**kwargs)


class FileInstantDataset(QueueDataset):
    """As `QueueDataset`.

    Examples:
        >>> paddle.distributed.fleet.FileInstantDataset().init(batch_size=32)
    """


__all__ = ["DatasetBase", "FileInstantDataset", "QueueDataset"]
