"""A million ratings of films by people."""

from __future__ import annotations

import re
import zipfile
from typing import Any

import numpy as np

from ...io import Dataset
from ...utils.dataset_files import choose_mode, damaged, find_file, whole_file

_URL = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip"
_MD5 = "c4d9eecfca2ab87c1945afe126590906"
_AGES = (1, 18, 25, 35, 45, 50, 56)
_TITLE = re.compile(r"^(.*)\((\d+)\)$")


class MovieInfo:
    """A film: its number, kinds and title (without the year)."""

    def __init__(self, index: str, categories: list[str], title: str) -> None:
        self.index, self.categories, self.title = int(index), categories, title

    def value(self, categories_dict: dict[str, int], movie_title_dict: dict[str, int]) -> list[list[int]]:
        """[number], the kinds' numbers, the numbers of the title's words."""
        return [
            [self.index],
            [categories_dict[name] for name in self.categories],
            [movie_title_dict[word.lower()] for word in self.title.split()],
        ]

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class UserInfo:
    """A person: number, sex, age and occupation."""

    def __init__(self, index: str, gender: str, age: str, job_id: str) -> None:
        self.index, self.is_male, self.age, self.job_id = int(index), gender == "M", _AGES.index(int(age)), int(job_id)

    def value(self) -> list[list[int]]:
        """[number], [0 for men or 1 for women], [group of ages], [occupation]."""
        return [[self.index], [0 if self.is_male else 1], [self.age], [self.job_id]]

    def __repr__(self) -> str:
        gender = "M" if self.is_male else "F"
        return f"<UserInfo id({self.index}), gender({gender}), age({_AGES[self.age]}), job({self.job_id})>"


class Movielens(Dataset):
    """Ratings of films: (user, sex, age, occupation, film, kinds, title, rating from -3 to 5), each an array.

    Args:
        data_file: the archive; None to download it.
        mode: 'train' or 'test'.
        test_ratio: the probability of a rating to be in the test set.
        rand_seed: the seed of that draw.
        download: whether a missing file may be downloaded.

    Examples:
        >>> *_, rating = paddle.text.Movielens()[0]  # doctest: +SKIP
        >>> paddle.text.Movielens(mode="all")
        Traceback (most recent call last):
            ...
        proa.core.errors.FailedCheck: (Movielens) mode must be one of train, test; received mode: 'all'.
    """

    def __init__(
        self,
        data_file: str | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        where = "Movielens"
        self.mode = choose_mode(where, mode, ("train", "test"))
        self.data_file = find_file(where, "data_file", data_file, _URL, _MD5, "movielens", download)
        self.test_ratio, self.rand_seed = test_ratio, rand_seed
        with whole_file(where, self.data_file), zipfile.ZipFile(self.data_file) as archive:
            films, users, ratings = (
                _lines(where, self.data_file, archive, name) for name in ("movies", "users", "ratings")
            )
        try:
            self._load_meta_info(films, users)
            self._load_data(ratings)
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(where, self.data_file, f"{type(error).__name__}: {error}") from None

    def _load_meta_info(self, films: list[list[str]], users: list[list[str]]) -> None:
        self.movie_info: dict[int, MovieInfo] = {}
        words: dict[str, None] = {}
        kinds: dict[str, None] = {}
        for index, title, categories in films:
            match = _TITLE.match(title)
            info = MovieInfo(index, categories.split("|"), match[1] if match else title)
            self.movie_info[info.index] = info
            kinds.update(dict.fromkeys(info.categories))
            words.update(dict.fromkeys(word.lower() for word in info.title.split()))
        self.movie_title_dict = {word: number for number, word in enumerate(words)}
        self.categories_dict = {name: number for number, name in enumerate(kinds)}
        self.user_info = {int(index): UserInfo(index, gender, age, job) for index, gender, age, job, _ in users}

    def _load_data(self, ratings: list[list[str]]) -> None:
        draws = np.random.RandomState(self.rand_seed).random_sample(len(ratings))
        self.data: list[list[Any]] = []
        for draw, (user, film, rating, _) in zip(draws, ratings, strict=True):
            if (draw < self.test_ratio) == (self.mode == "test"):
                described = self.movie_info[int(film)].value(self.categories_dict, self.movie_title_dict)
                self.data.append([*self.user_info[int(user)].value(), *described, [float(rating) * 2 - 5.0]])

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)


def _lines(where: str, path: str, archive: zipfile.ZipFile, name: str) -> list[list[str]]:
    try:
        content = archive.read(f"ml-1m/{name}.dat")
    except KeyError:
        raise damaged(where, path, f"there is no ml-1m/{name}.dat in it") from None
    return [line.strip().split("::") for line in content.decode("latin1").splitlines() if line.strip()]
