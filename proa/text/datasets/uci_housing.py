"""UCI's housing data: thirteen properties of a suburb and the price of a house there."""

from __future__ import annotations

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file

_URL = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data"
_MD5 = "d4accdce7a25600298819f8e28e8d593"
_COLUMNS = 14


class UCIHousing(Dataset):
    """Prices of houses: (thirteen properties, price).

    Properties are centred on their mean and divided by their range over all rows. The first four fifths of the file
    are for training, the rest for testing.

    Args:
        data_file: the table, of 14 numbers a row; None to download it.
        mode: 'train' or 'test'.
        download: whether a missing file may be downloaded.

    Examples:
        >>> np.savetxt("housing.data", np.arange(140).reshape(10, 14))
        >>> dataset = paddle.text.UCIHousing("housing.data")
        >>> properties, price = dataset[0]
        >>> len(dataset), properties.shape, price.tolist()
        (8, (13,), [13.0])
    """

    def __init__(self, data_file: str | None = None, mode: str = "train", download: bool = True) -> None:
        where = "UCIHousing"
        self.mode = choose_mode(where, mode, ("train", "test"))
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "uci_housing", download)
        table = _read(where, self.data_file)
        properties = table[:, :-1]
        spread = properties.max(axis=0) - properties.min(axis=0)
        table[:, :-1] = (properties - properties.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
        split = int(len(table) * 0.8)
        self.data = table[:split] if self.mode == "train" else table[split:]
        self.dtype = "float32"

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        row = self.data[idx].astype(self.dtype)
        return row[:-1], row[-1:]

    def __len__(self) -> int:
        return len(self.data)


def _read(where: str, path: str) -> np.ndarray:
    try:
        with open(path, encoding="ascii") as file:
            numbers = np.array(file.read().split(), np.float64)
    except (ValueError, UnicodeDecodeError) as error:
        raise damaged(where, path, f"not all of it are numbers ({error})") from None
    if not numbers.size or numbers.size % _COLUMNS:
        raise damaged(where, path, f"{numbers.size} numbers are not rows of {_COLUMNS}")
    return numbers.reshape(-1, _COLUMNS)
