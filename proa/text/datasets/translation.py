"""What the two translation datasets share: sentences as numbers between marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...io import Dataset

BEGIN, END, UNKNOWN = "<s>", "<e>", "<unk>"


class TranslationDataset(Dataset):
    """(source with both marks, target behind the first mark, target before the last mark), as numbers of words."""

    src_ids: list[list[int]]
    trg_ids: list[list[int]]
    trg_ids_next: list[list[int]]

    def _fill(self, pairs: Any, sources: dict[str, int], targets: dict[str, int], longest: int | None) -> None:
        self.src_ids, self.trg_ids, self.trg_ids_next = [], [], []
        begin, end = sources[BEGIN], sources[END]
        for source, target in pairs:
            read = [sources.get(word, sources[UNKNOWN]) for word in (BEGIN, *source.split(), END)]
            written = [targets.get(word, targets[UNKNOWN]) for word in target.split()]
            if longest is not None and max(len(read), len(written)) > longest:
                continue
            self.src_ids.append(read)
            self.trg_ids.append([begin, *written])
            self.trg_ids_next.append([*written, end])

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self) -> int:
        return len(self.src_ids)


def pairs_of(content: bytes, first: int = 0) -> Any:
    """The two sentences of each line, the one in column `first` before the other; lines of other forms are skipped."""
    for line in content.decode("utf-8").splitlines():
        parts = line.strip().split("\t")
        if len(parts) == 2:
            yield parts[first], parts[1 - first]
