"""TESS: 2800 short recordings of two women, in seven moods."""

from __future__ import annotations

import collections
import posixpath
from typing import Any, ClassVar

from ...core.errors import value_error
from ...utils.dataset_files import choose_mode, damaged
from .dataset import AudioClassificationDataset, Source


class TESS(AudioClassificationDataset):
    """Emotional speech: 2800 recordings of seven emotions.

    Every `n_folds`-th file, from the `split`-th on, is for mode="dev", the others for mode="train". Files are taken
    in the order of their names.

    Args:
        mode: 'train' or 'dev'.
        n_folds: how many folds.
        split: which of them, from 1.
        feat_type: 'raw', 'spectrogram', 'melspectrogram', 'logmelspectrogram' or 'mfcc'.
        archive: the path of TESS_Toronto_emotional_speech_set.zip or of its unpacked folder, or a dictionary with
            "url" and "md5".
        kwargs: arguments of the feature's layer.

    Examples:
        >>> dataset = paddle.audio.datasets.TESS(archive="TESS.zip")  # doctest: +SKIP
        >>> waveform, label = dataset[0]  # doctest: +SKIP
        >>> paddle.audio.datasets.TESS(split=9)
        Traceback (most recent call last):
            ...
        ValueError: (TESS) split must be an integer from 1 to 5; received split: 9.
    """

    archive: ClassVar[Any] = {
        "url": "https://bj.bcebos.com/paddleaudio/datasets/TESS_Toronto_emotional_speech_set.zip",
        "md5": "1465311b24d1de704c4c63e4ccc470c7",
    }
    label_list: ClassVar[list[str]] = ["angry", "disgust", "fear", "happy", "neutral", "ps", "sad"]
    audio_path = "TESS_Toronto_emotional_speech_set"
    meta_info = collections.namedtuple("META_INFO", ("speaker", "word", "emotion"))

    def __init__(
        self,
        mode: str = "train",
        n_folds: int = 5,
        split: int = 1,
        feat_type: str = "raw",
        archive: Any = None,
        **kwargs: Any,
    ) -> None:
        where = "TESS"
        mode = choose_mode(where, mode, ("train", "dev"))
        if not isinstance(n_folds, int) or n_folds < 1:
            raise value_error(where, "n_folds must be a positive integer", f"n_folds: {n_folds!r}")
        if not isinstance(split, int) or not 1 <= split <= n_folds:
            raise value_error(where, f"split must be an integer from 1 to {n_folds}", f"split: {split!r}")
        self._source = Source(where, archive, type(self).archive, self.audio_path)
        files, labels = [], []
        for number, name in enumerate(self._source.names(self.audio_path)):
            label = self._label(name)
            if (number % n_folds + 1 == split) == (mode == "dev"):
                files.append(self._source.address(name))
                labels.append(label)
        super().__init__(files, labels, feat_type, **kwargs)

    def _label(self, name: str) -> int:
        """From names such as OAF_back_angry.wav."""
        parts = posixpath.basename(name)[:-4].split("_")
        if len(parts) != 3 or parts[2] not in self.label_list:
            raise damaged("TESS", name, "its name is not <speaker>_<word>_<emotion>.wav")
        return self.label_list.index(parts[2])

    def _open(self, file: str) -> Any:
        return self._source.open(file)
