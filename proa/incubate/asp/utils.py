"""Masks with `n` of every `m` elements left: along rows, or along rows and columns of square blocks."""

from __future__ import annotations

import enum
import functools
import itertools
from typing import Any

import numpy as np

from ...core.errors import type_error, value_error
from ...eager.annotations import TensorLike


class MaskAlgo(enum.Enum):
    """How a mask is found."""

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(enum.Enum):
    """How a mask is checked."""

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: MaskAlgo) -> CheckMethod:
        return CheckMethod.CHECK_1D if mask_algo is MaskAlgo.MASK_1D else CheckMethod.CHECK_2D


def calculate_density(x: TensorLike) -> float:
    """The share of elements that are not zero.

    Args:
        x: a tensor or an array.

    Returns:
        A number from 0 to 1.

    Examples:
        >>> paddle.incubate.asp.calculate_density(paddle.to_tensor([1.0, 0.0, 2.0, 0.0]))
        0.5
    """
    array = np.asarray(x)
    return float(np.count_nonzero(array)) / array.size if array.size else 0.0


def _check_counts(where: str, n: int, m: int) -> None:
    if not 0 < n <= m:
        raise value_error(where, "n must be from 1 to m", f"n: {n}, m: {m}")


def _rows(mat: np.ndarray, m: int) -> np.ndarray:
    """Rows filled up to whole groups, as [groups, m]."""
    return np.pad(mat, ((0, 0), (0, -mat.shape[1] % m))).reshape(-1, m)


def _blocks(mat: np.ndarray, m: int) -> np.ndarray:
    """The matrix filled up to whole blocks, as [block rows, block columns, m, m]."""
    filled = np.pad(mat, ((0, -mat.shape[0] % m), (0, -mat.shape[1] % m)))
    return filled.reshape(filled.shape[0] // m, m, filled.shape[1] // m, m).transpose(0, 2, 1, 3)


def _whole(blocks: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The inverse of `_blocks`."""
    down, across, m, _ = blocks.shape
    return blocks.transpose(0, 2, 1, 3).reshape(down * m, across * m)[: shape[0], : shape[1]]


def get_mask_1d(mat: np.ndarray, n: int, m: int) -> np.ndarray:
    """Ones at the `n` largest of every `m` elements of a row."""
    _check_counts("get_mask_1d", n, m)
    groups = np.abs(_rows(mat, m).astype(np.float64))
    mask = np.zeros_like(groups)
    np.put_along_axis(mask, np.argsort(-groups, axis=1, kind="stable")[:, :n], 1.0, axis=1)
    return mask.reshape(mat.shape[0], -1)[:, : mat.shape[1]].astype(mat.dtype)


def check_mask_1d(mat: np.ndarray, n: int, m: int) -> bool:
    """Whether at most `n` of every `m` elements of a row are not zero."""
    matrix = mat.reshape(1, -1) if mat.ndim < 2 else mat
    return bool((np.count_nonzero(_rows(matrix, m), axis=1) <= n).all())


def get_mask_2d_greedy(mat: np.ndarray, n: int, m: int) -> np.ndarray:
    """Ones at large elements of each block, the largest first, at most `n` in a row or column of it."""
    _check_counts("get_mask_2d_greedy", n, m)
    blocks = np.abs(_blocks(mat, m))
    mask = np.zeros(blocks.shape, mat.dtype)
    for place in np.ndindex(*blocks.shape[:2]):
        block, chosen = blocks[place], mask[place]
        for index in np.argsort(-block, axis=None, kind="stable"):
            row, column = divmod(int(index), m)
            if chosen[row].sum() < n and chosen[:, column].sum() < n:
                chosen[row, column] = 1
    return _whole(mask, mat.shape)


@functools.cache
def _patterns(n: int, m: int) -> np.ndarray:
    """All masks of a block with `n` ones in each row and column, as [patterns, m, m]."""
    lines = np.array([[i in chosen for i in range(m)] for chosen in itertools.combinations(range(m), n)], np.float64)
    found = [
        lines[list(rows)]
        for rows in itertools.product(range(len(lines)), repeat=m)
        if (lines[list(rows)].sum(0) == n).all()
    ]
    return np.stack(found)


def get_mask_2d_best(mat: np.ndarray, n: int, m: int) -> np.ndarray:
    """Ones at `n` elements of each row and column of each block, so that the sum of their sizes is largest."""
    _check_counts("get_mask_2d_best", n, m)
    if m > 4:
        raise value_error(
            "get_mask_2d_best", "there are too many masks to try for m above 4", f"m: {m}", "use the greedy one"
        )
    patterns = _patterns(n, m)
    blocks = np.abs(_blocks(mat, m)).astype(np.float64)
    sums = blocks.reshape(*blocks.shape[:2], m * m) @ patterns.reshape(len(patterns), m * m).T
    return _whole(patterns[sums.argmax(axis=-1)], mat.shape).astype(mat.dtype)


def check_mask_2d(mat: np.ndarray, n: int, m: int) -> bool:
    """Whether at most `n` elements of each row and column of each block are not zero."""
    blocks = _blocks(mat.reshape(1, -1) if mat.ndim < 2 else mat, m) != 0
    return bool((blocks.sum(-1) <= n).all() and (blocks.sum(-2) <= n).all())


def _as_matrix(tensor: np.ndarray) -> tuple[np.ndarray, Any]:
    """A tensor as the matrix whose rows are masked, and how its mask gets the tensor's shape again."""
    shape = tensor.shape
    if tensor.ndim == 4:  # [width, height, inputs, outputs], as a convolution's weight is turned: along the inputs
        turned = tensor.transpose(0, 1, 3, 2)
        return turned.reshape(-1, shape[2]), lambda mask: mask.reshape(turned.shape).transpose(0, 1, 3, 2)
    if tensor.ndim not in (1, 2, 3):
        raise value_error("asp", "a tensor must have from 1 to 4 axes", f"shape: {list(shape)}")
    return tensor.reshape(-1 if tensor.ndim > 1 else 1, shape[-1]), lambda mask: mask.reshape(shape)


def create_mask(tensor: np.ndarray, func_name: MaskAlgo = MaskAlgo.MASK_1D, n: int = 2, m: int = 4) -> np.ndarray:
    """The mask of a tensor: along its last axis, of four axes along the third."""
    if not isinstance(func_name, MaskAlgo):
        raise type_error("create_mask", "func_name must be a MaskAlgo", f"{func_name!r}")
    matrix, back = _as_matrix(np.asarray(tensor))
    return back(globals()[func_name.value](matrix, n, m))


def check_sparsity(tensor: np.ndarray, func_name: CheckMethod = CheckMethod.CHECK_1D, n: int = 2, m: int = 4) -> bool:
    """Whether a tensor is as sparse as a mask of `create_mask`."""
    if not isinstance(func_name, CheckMethod):
        raise type_error("check_sparsity", "func_name must be a CheckMethod", f"{func_name!r}")
    return globals()[func_name.value](_as_matrix(np.asarray(tensor))[0], n, m)
