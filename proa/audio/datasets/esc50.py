"""ESC-50: 2000 sounds of five seconds, of fifty kinds, in five folds."""

from __future__ import annotations

import collections
import csv
import io
from typing import Any, ClassVar

from ...core.errors import value_error
from ...utils.dataset_files import choose_mode, damaged
from .dataset import AudioClassificationDataset, Source


class ESC50(AudioClassificationDataset):
    """Environmental sounds of fifty kinds: 2000 recordings of five seconds.

    Fold `split` is for mode="dev", the other four for mode="train".

    Args:
        mode: 'train' or 'dev'.
        split: which of the five folds, from 1.
        feat_type: 'raw', 'spectrogram', 'melspectrogram', 'logmelspectrogram' or 'mfcc'.
        archive: the path of ESC-50-master.zip or of its unpacked folder, or a dictionary with "url" and "md5".
        kwargs: arguments of the feature's layer.

    Examples:
        >>> dataset = paddle.audio.datasets.ESC50(archive="ESC-50-master.zip")  # doctest: +SKIP
        >>> waveform, label = dataset[0]  # doctest: +SKIP
        >>> paddle.audio.datasets.ESC50(split=9)
        Traceback (most recent call last):
            ...
        ValueError: (ESC50) split must be an integer from 1 to 5; received split: 9.
    """

    archive: ClassVar[Any] = {
        "url": "https://paddleaudio.bj.bcebos.com/datasets/ESC-50-master.zip",
        "md5": "7771e4b9d86d0945acce719c7a59305a",
    }
    label_list: ClassVar[list[str]] = [
        "Dog", "Rooster", "Pig", "Cow", "Frog", "Cat", "Hen", "Insects (flying)", "Sheep", "Crow",
        "Rain", "Sea waves", "Crackling fire", "Crickets", "Chirping birds", "Water drops", "Wind", "Pouring water",
        "Toilet flush", "Thunderstorm",
        "Crying baby", "Sneezing", "Clapping", "Breathing", "Coughing", "Footsteps", "Laughing", "Brushing teeth",
        "Snoring", "Drinking, sipping",
        "Door knock", "Mouse click", "Keyboard typing", "Door, wood creaks", "Can opening", "Washing machine",
        "Vacuum cleaner", "Clock alarm", "Clock tick", "Glass breaking",
        "Helicopter", "Chainsaw", "Siren", "Car horn", "Engine", "Train", "Church bells", "Airplane", "Fireworks",
        "Hand saw",
    ]  # fmt: skip
    meta = "ESC-50-master/meta/esc50.csv"
    audio_path = "ESC-50-master/audio"
    meta_info = collections.namedtuple(
        "META_INFO", ("filename", "fold", "target", "category", "esc10", "src_file", "take")
    )

    def __init__(
        self, mode: str = "train", split: int = 1, feat_type: str = "raw", archive: Any = None, **kwargs: Any
    ) -> None:
        where = "ESC50"
        mode = choose_mode(where, mode, ("train", "dev"))
        if not isinstance(split, int) or not 1 <= split <= 5:
            raise value_error(where, "split must be an integer from 1 to 5", f"split: {split!r}")
        self._source = Source(where, archive, type(self).archive, "ESC-50-master")
        files, labels = [], []
        for row in self._get_meta_info():
            if (int(row.fold) == split) == (mode == "dev"):
                files.append(self._source.address(f"{self.audio_path}/{row.filename}"))
                labels.append(int(row.target))
        super().__init__(files, labels, feat_type, **kwargs)

    def _get_meta_info(self) -> list[Any]:
        text = self._source.content(self.meta).decode("utf-8")
        rows = list(csv.reader(io.StringIO(text)))[1:]
        try:
            found = [self.meta_info(*row) for row in rows if row]
            if not all(row.fold.isdigit() and row.target.isdigit() for row in found):
                raise TypeError("a fold or a target is not a number")
        except TypeError as error:
            raise damaged("ESC50", self.meta, str(error)) from None
        return found

    def _open(self, file: str) -> Any:
        return self._source.open(file)
