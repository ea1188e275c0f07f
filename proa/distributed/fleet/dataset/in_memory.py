"""Datasets whose records lie in memory, are shuffled there and between workers."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....core.errors import runtime_error, value_error
from ....core.generator import default_generator
from .base import DatasetBase
from .shuffling import exchanged, merged, total
from .slots import Column, Records, no_records

_DISTRIBUTED = (
    "merge_size", "parse_ins_id", "parse_content", "fleet_send_batch_size", "fleet_send_sleep_seconds", "fea_eval",
    "candidate_size",
)  # fmt: skip


class InMemoryDataset(DatasetBase):
    """Files that are read into memory, and shuffled there; features of 0 in ragged slots are left out, as in Paddle.

    Shuffles follow `paddle.seed`: the same seed, files and workers give the same order.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 1], "float32")
        ...     total = x.sum()
        >>> with open("numbers.txt", "w") as file:
        ...     lines = file.write("1 1\\n1 2\\n1 3\\n1 4\\n")
        >>> dataset = paddle.distributed.InMemoryDataset()
        >>> dataset.init(batch_size=4, thread_num=2, use_var=[x], pipe_command="cat")
        >>> dataset.set_filelist(["numbers.txt"])
        >>> dataset.load_into_memory()
        >>> dataset.local_shuffle()
        >>> dataset.get_memory_data_size()
        4
        >>> paddle.static.Executor().train_from_dataset(
        ...     main, dataset, fetch_list=[total], fetch_info=["total"], print_period=1
        ... )
        time: [...], batch: [1], total[1]:[10]
        >>> dataset.release_memory()
        >>> dataset.get_memory_data_size()
        0
    """

    _drops_zeros = True

    def __init__(self) -> None:
        super().__init__()
        self._held: Records | None = None
        self._shuffled = False
        self._preloading: _Preloading | None = None
        self._merge_size = 0
        self._evaluates = False
        self._candidates = 10000
        self._unmixed: Records | None = None  # before slots were mixed
        self._date: datetime.date | None = None

    def init(self, **kwargs: Any) -> None:
        """The settings: those of `DatasetBase.init`, `data_feed_type` and `queue_num`, which change nothing.

        Args:
            **kwargs: the settings.

        Examples:
            >>> paddle.distributed.InMemoryDataset().init(batch_size=32, thread_num=2, pipe_command="cat")
        """
        for name in ("data_feed_type", "queue_num"):
            kwargs.pop(name, None)
        super().init(**kwargs)

    def _init_distributed_settings(self, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in _DISTRIBUTED:
                raise value_error(self._where("_init_distributed_settings"), f"settings are {_DISTRIBUTED}", repr(name))
        if kwargs.get("merge_size", -1) > 0:
            self._set_merge_by_lineid(kwargs["merge_size"])
        if "parse_ins_id" in kwargs:
            self._set_parse_ins_id(kwargs["parse_ins_id"])
        if "parse_content" in kwargs:
            self._set_parse_content(kwargs["parse_content"])
        if kwargs.get("fea_eval"):
            self._set_fea_eval(kwargs.get("candidate_size", 10000), True)

    def update_settings(self, **kwargs: Any) -> None:
        """Other settings than before; what is not named stays.

        Args:
            **kwargs: settings of `init`, and `merge_size` (records of one name are joined by `global_shuffle` where there
                are so many), `parse_ins_id` (lines begin with `1 name`), `parse_content` (`1 text` follows), `fea_eval` and
                `candidate_size` (for `slots_shuffle`), `fleet_send_batch_size`, `fleet_send_sleep_seconds` (taken).

        Raises:
            ValueError: there is no such setting.

        Examples:
            >>> dataset = paddle.distributed.InMemoryDataset()
            >>> dataset.init(batch_size=32)
            >>> dataset.update_settings(batch_size=2)
        """
        single = {
            "batch_size": self._set_batch_size,
            "thread_num": self._set_thread,
            "use_var": self._set_use_var,
            "pipe_command": self._set_pipe_command,
            "input_type": self._set_input_type,
            "download_cmd": self._set_download_cmd,
            "data_feed_type": lambda _: None,
            "queue_num": lambda _: None,
            "fs_name": lambda name: self._set_hdfs_config(name, kwargs.get("fs_ugi", self._settings.get("user", ""))),
            "fs_ugi": lambda user: self._set_hdfs_config(
                kwargs.get("fs_name", self._settings.get("file_system", "")), user
            ),
        }
        others = {name: value for name, value in kwargs.items() if name not in single}
        unknown = [name for name in others if name not in _DISTRIBUTED]
        if unknown:
            raise value_error(
                self._where("update_settings"), f"settings are {sorted([*single, *_DISTRIBUTED])}", repr(unknown[0])
            )
        for name, value in kwargs.items():
            if name in single:
                single[name](value)
        self._init_distributed_settings(**others)

    def _set_parse_ins_id(self, parse_ins_id: bool) -> None:
        self._with_name = bool(parse_ins_id)

    def _set_parse_content(self, parse_content: bool) -> None:
        self._with_content = bool(parse_content)

    def _set_merge_by_lineid(self, merge_size: int = 2) -> None:
        self._merge_size = self._number("merge_size", merge_size, 1)
        self._with_name = True

    def _set_fea_eval(self, record_candidate_size: int, fea_eval: bool = True) -> None:
        self._evaluates = bool(fea_eval)
        self._candidates = self._number("candidate_size", record_candidate_size, 1)

    def _set_queue_num(self, queue_num: int) -> None:
        """Taken; it changes nothing."""

    def set_date(self, date: str) -> None:
        """The day that is trained, as YYYYMMDD. It changes nothing: servers count days by `fleet.shrink`.

        Raises:
            ValueError: it is no such day.

        Examples:
            >>> paddle.distributed.InMemoryDataset().set_date("20211111")
        """
        try:
            self._date = datetime.datetime.strptime(date, "%Y%m%d").date()
        except (TypeError, ValueError):
            raise value_error(self._where("set_date"), "date must be a day as YYYYMMDD", repr(date)) from None

    def tdm_sample(self, *arguments: Any, **named: Any) -> None:
        """NotImplementedError: there are no tree indices.

        Examples:
            >>> paddle.distributed.InMemoryDataset().tdm_sample("tree", "tree.pb", [2], 1, True, 0, 0)
            Traceback (most recent call last):
                ...
            NotImplementedError: (InMemoryDataset.tdm_sample) there are no tree indices; sample in the data generator.
        """
        raise NotImplementedError(
            f"({self._where('tdm_sample')}) there are no tree indices; sample in the data generator."
        )

    # ---- memory ------------------------------------------------------------------------------------------------------

    def load_into_memory(self, is_shuffle: bool = False) -> None:
        """Reads the files; what was in memory before is given up.

        Args:
            is_shuffle: whether to shuffle, too.

        Raises:
            ValueError: a line is not as it should be; the message names its file and number.
            FileNotFoundError: a file is not there.
            RuntimeError: the pipe command failed.

        Examples:
            >>> paddle.distributed.InMemoryDataset().load_into_memory()
            Traceback (most recent call last):
                ...
            ValueError: (InMemoryDataset.init) use_var must name the variables that lines hold; received none.
        """
        self._hold(Records.joined([no_records(self._slots), *self._records()]))
        if is_shuffle:
            self.local_shuffle()

    def _hold(self, records: Records | None) -> None:
        self._held, self._shuffled, self._unmixed = records, False, None

    def preload_into_memory(self, thread_num: int | None = None) -> None:
        """As `load_into_memory`, beside what the program does; `wait_preload_done` takes the records over.

        Args:
            thread_num: how many files are read at once; None: `thread_num` of `init`.

        Raises:
            RuntimeError: a preload is under way.

        Examples:
            >>> paddle.enable_static()
            >>> with paddle.static.program_guard(paddle.static.Program()):
            ...     x = paddle.static.data("x", [None, 1], "float32")
            >>> with open("numbers.txt", "w") as file:
            ...     lines = file.write("1 1\\n1 2\\n")
            >>> dataset = paddle.distributed.InMemoryDataset()
            >>> dataset.init(use_var=[x])
            >>> dataset.set_filelist(["numbers.txt"])
            >>> dataset.preload_into_memory()
            >>> dataset.wait_preload_done()
            >>> dataset.get_memory_data_size()
            2
        """
        if self._preloading is not None:
            raise runtime_error(
                self._where("preload_into_memory"), "a preload is under way", "", "call wait_preload_done() first"
            )
        self._preloading = _Preloading(self, thread_num)

    def wait_preload_done(self) -> None:
        """Waits for the preload, and takes its records; what was in memory before is given up.

        Raises:
            RuntimeError: nothing is being loaded.
            ValueError: a line is not as it should be, as in `load_into_memory`.

        Examples:
            >>> paddle.distributed.InMemoryDataset().wait_preload_done()
            Traceback (most recent call last):
                ...
            RuntimeError: (InMemoryDataset.wait_preload_done) nothing is being loaded; call preload_into_memory() first.
        """
        if self._preloading is None:
            raise RuntimeError(
                f"({self._where('wait_preload_done')}) nothing is being loaded; call preload_into_memory() first."
            )
        loading, self._preloading = self._preloading, None
        self._hold(loading.records())

    def release_memory(self) -> None:
        """Gives the records up.

        Examples:
            >>> dataset = paddle.distributed.InMemoryDataset()
            >>> dataset.release_memory()
            >>> dataset.get_memory_data_size()
            0
        """
        self._hold(None)

    def get_memory_data_size(self, fleet: Any = None) -> int:
        """How many records are in memory; with `fleet`, in that of all workers.

        Examples:
            >>> paddle.distributed.InMemoryDataset().get_memory_data_size()
            0
        """
        return total(0 if self._held is None else len(self._held), fleet)

    def get_shuffle_data_size(self, fleet: Any = None) -> int:
        """How many records were shuffled since they were loaded; with `fleet`, those of all workers.

        Examples:
            >>> paddle.distributed.InMemoryDataset().get_shuffle_data_size()
            0
        """
        return total(len(self._held) if self._held is not None and self._shuffled else 0, fleet)

    # ---- order -------------------------------------------------------------------------------------------------------

    def _loaded(self, method: str) -> Records:
        if self._held is None:
            raise runtime_error(
                self._where(method),
                "nothing is in memory",
                "",
                "call load_into_memory() first",
            )
        return self._held

    def local_shuffle(self) -> None:
        """Another order of the records of this worker, by `paddle.seed`.

        Raises:
            RuntimeError: nothing is in memory.

        Examples:
            >>> paddle.distributed.InMemoryDataset().local_shuffle()
            Traceback (most recent call last):
                ...
            RuntimeError: (InMemoryDataset.local_shuffle) nothing is in memory; ...
        """
        held = self._loaded("local_shuffle")
        self._held = held.taken(_random().permutation(len(held)))
        self._shuffled, self._unmixed = True, None

    def global_shuffle(self, fleet: Any = None, thread_num: int = 12) -> None:
        """Another order of the records of all workers: each record goes to a worker drawn for it, and is shuffled there.

        Args:
            fleet: `paddle.distributed.fleet`, called by all workers; None: this one alone.
            thread_num: taken; it changes nothing.

        Raises:
            RuntimeError: nothing is in memory.

        Examples:
            >>> paddle.distributed.InMemoryDataset().global_shuffle()
            Traceback (most recent call last):
                ...
            RuntimeError: (InMemoryDataset.global_shuffle) nothing is in memory; ...
        """
        held = self._loaded("global_shuffle")
        random = _random()
        held = exchanged(held, fleet, random)
        if self._merge_size:
            held = merged(held, self._merge_size)
        self._held = held.taken(random.permutation(len(held)))
        self._shuffled, self._unmixed = True, None

    def slots_shuffle(self, slots: Sequence[str]) -> None:
        """Gives records the values that other records have in some slots: what a model loses by it, the slots are worth.

        It begins each time from what was loaded, so that one slot after another can be tried. Without `fea_eval`
        (`update_settings`) nothing happens, as in Paddle.

        Args:
            slots: the names of ragged slots.

        Raises:
            ValueError: there is no such slot.

        Examples:
            >>> paddle.distributed.InMemoryDataset().slots_shuffle(["user"])
        """
        if not self._evaluates:
            return
        self._held = before = self._unmixed or self._loaded("slots_shuffle")
        self._unmixed = before
        names = [slot.name for slot in self._slots]
        random, columns = _random(), list(before.columns)
        for name in slots:
            if name not in names:
                raise value_error(self._where("slots_shuffle"), f"slots are {names}", repr(name))
            place = names.index(name)
            columns[place] = self._mixed(columns[place], random)
        self._held = Records(columns, before.names, before.contents)

    def _mixed(self, column: Column, random: np.random.Generator) -> Column:
        """Each record's values taken from a record drawn among `candidate_size`."""
        candidates = random.permutation(len(column))[: self._candidates]
        return (
            column
            if not len(candidates)
            else column.taken(candidates[random.integers(0, len(candidates), len(column))])
        )

    def _batches(self) -> Iterator[tuple[dict[str, np.ndarray], int]]:
        held = self._loaded("load_into_memory")
        return self._cut(held, len(held))


class _Preloading:
    """Files that are read by a thread."""

    def __init__(self, dataset: InMemoryDataset, threads: int | None) -> None:
        self._found: Any = None
        # What is set later is for the next one.
        given = no_records(dataset._slots), dataset._records(threads)
        self._thread = threading.Thread(target=self._run, args=given, name="proa-preload", daemon=True)
        self._thread.start()

    def _run(self, none: Records, pieces: Iterator[Records]) -> None:
        try:
            self._found = Records.joined([none, *pieces])
        except BaseException as error:  # told where it is waited for
            self._found = error

    def records(self) -> Records:
        self._thread.join()
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found


def _random() -> np.random.Generator:
    return np.random.default_rng(default_generator.draw())


__all__ = ["InMemoryDataset"]
