"""einsum: sums of products named by letters, carried out by matmul, multiply, transpose and sum.

The steps depend on the equation and the shapes alone. They are worked out once and kept, so that a
call in a loop costs no more than the operations it stands for.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import failed_check, type_error, value_error
from ...eager.declare import public
from ...eager.one_operator import one_operator
from ...eager.samples import A, S, samples
from ...eager.tensor import Tensor
from ..arguments import require_tensor
from ..basic import reshape_to, sum_over, transpose_to
from .linalg import matmul
from .matrix import diagonal_of

# A label is a letter, or a negative number for a dimension of the ellipsis, counted from its end.
Label = str | int
Shape = tuple[int, ...]
# What to call, on which operands (one or two by number), with which further arguments.
Step = tuple[Callable[..., Tensor], int, int | None, tuple[Any, ...]]

_PLANS_KEPT = 4096


def _multiply(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def _labels(term: str, ndim: int, equation: str) -> list[Label]:
    """The labels of an operand, one for each dimension."""
    before, dots, after = term.partition("...")
    letters = before + after
    if not all(c.isascii() and c.isalpha() for c in letters):
        raise value_error("einsum", f"{term!r} is not made of letters and one '...'", f"{equation!r}")
    hidden = ndim - len(letters)
    if hidden < 0 or (hidden and not dots):
        raise failed_check(
            "einsum", f"{term!r} names {len(letters)} dimension(s) of an operand that has {ndim}",
            f"{equation!r}",
        )  # fmt: skip
    return [*before, *range(-hidden, 0), *after]


def _output_labels(output: str | None, terms: list[list[Label]], equation: str) -> list[Label]:
    counts: dict[Label, int] = {}
    for term in terms:
        for label in term:
            counts[label] = counts.get(label, 0) + 1
    hidden = sorted(x for x in counts if isinstance(x, int))
    if output is None:
        letters = sorted(x for x, count in counts.items() if isinstance(x, str) and count == 1)
        return [*hidden, *letters]
    if hidden and "..." not in output:
        raise value_error("einsum", "the output must contain '...' like the operands", f"{equation!r}")
    before, _, after = output.partition("...")
    labels: list[Label] = [*before, *(hidden if "..." in output else []), *after]
    for label in labels:
        if label not in counts or labels.count(label) > 1:
            raise value_error(
                "einsum",
                f"the output label {label!r} must occur once, and in an operand",
                f"{equation!r}",
            )
    return labels


class _Planner:
    """Operands as labels and shapes, and the steps that brought them there."""

    def __init__(self, equation: str, shapes: tuple[Shape, ...]) -> None:
        self.steps: list[Step] = []
        self.shapes = [list(shape) for shape in shapes]
        inputs, arrow, output = equation.replace(" ", "").partition("->")
        terms = inputs.split(",")
        if len(terms) != len(shapes):
            raise failed_check(
                "einsum",
                f"the equation has {len(terms)} operand(s), {len(shapes)} are given",
                f"{equation!r}",
            )
        self.labels = [_labels(t, len(s), equation) for t, s in zip(terms, shapes, strict=True)]
        self.output = _output_labels(output if arrow else None, self.labels, equation)
        sizes: dict[Label, int] = {}
        for term, shape in zip(self.labels, shapes, strict=True):
            for label, size in zip(term, shape, strict=True):
                known = sizes.setdefault(label, size)
                if known == 1:
                    sizes[label] = size
                elif size not in (1, known):
                    raise value_error(
                        "einsum", f"the dimensions called {label!r} are {known} and {size}",
                        f"{equation!r}, shapes: {', '.join(str(list(s)) for s in shapes)}",
                    )  # fmt: skip
        for i in range(len(shapes)):
            self._drop_broadcast(i, sizes)
            self._take_diagonals(i)
        for i in range(1, len(shapes)):
            needed = {*self.output, *(label for term in self.labels[i + 1 :] for label in term)}
            self._combine(0, i, needed)
        self._sum_except(0, set(self.output))
        self._arrange(0, self.output)

    def _drop_broadcast(self, i: int, sizes: dict[Label, int]) -> None:
        """Dimensions of 1 that are broadcast: the operand does not depend on that label."""
        kept = [k for k, label in enumerate(self.labels[i]) if self.shapes[i][k] == sizes[label]]
        if len(kept) < len(self.labels[i]):
            self.labels[i] = [self.labels[i][k] for k in kept]
            self._reshape(i, [self.shapes[i][k] for k in kept])

    def _take_diagonals(self, i: int) -> None:
        labels, shape = self.labels[i], self.shapes[i]
        for label in dict.fromkeys(labels):
            while labels.count(label) > 1:
                first = labels.index(label)
                second = labels.index(label, first + 1)
                self.steps.append((diagonal_of, i, None, (0, first, second)))
                size = shape[first]
                for axis in (second, first):
                    del labels[axis], shape[axis]
                labels.append(label)
                shape.append(size)

    def _sum_except(self, i: int, kept: set[Label]) -> None:
        axes = tuple([k for k, label in enumerate(self.labels[i]) if label not in kept])
        if axes:
            self.steps.append((sum_over, i, None, (axes, False)))
            self.shapes[i] = [n for k, n in enumerate(self.shapes[i]) if k not in axes]
            self.labels[i] = [x for k, x in enumerate(self.labels[i]) if k not in axes]

    def _arrange(self, i: int, order: list[Label]) -> None:
        if self.labels[i] != order:
            perm = tuple([self.labels[i].index(label) for label in order])
            self.steps.append((transpose_to, i, None, (perm,)))
            self.shapes[i] = [self.shapes[i][k] for k in perm]
            self.labels[i] = list(order)

    def _reshape(self, i: int, shape: list[int]) -> None:
        if shape != self.shapes[i]:
            self.steps.append((reshape_to, i, None, (tuple(shape),)))
            self.shapes[i] = list(shape)

    def _combine(self, i: int, j: int, needed: set[Label]) -> None:
        """Multiplies operand `j` into operand `i`; sums over what nobody needs afterwards."""
        self._sum_except(i, {*self.labels[j], *needed})
        self._sum_except(j, {*self.labels[i], *needed})
        left, right = self.labels[i], self.labels[j]
        size = {
            **dict(zip(left, self.shapes[i], strict=True)),
            **dict(zip(right, self.shapes[j], strict=True)),
        }
        batch = [label for label in left if label in right and label in needed]
        inner = [label for label in left if label in right and label not in needed]
        rows = [label for label in left if label not in right]
        columns = [label for label in right if label not in left]
        lead = [size[label] for label in batch]
        if not inner:
            self._arrange(i, batch + rows)
            self._arrange(j, batch + columns)
            self._reshape(i, [*self.shapes[i], *[1] * len(columns)])
            self._reshape(j, [*lead, *[1] * len(rows), *[size[x] for x in columns]])
            self.steps.append((_multiply, i, j, ()))
        else:
            # Either order of the last two groups will do: matmul transposes for free.
            flip_left = left == batch + inner + rows
            self._arrange(i, batch + (inner + rows if flip_left else rows + inner))
            flip_right = right != batch + inner + columns
            self._arrange(j, batch + (columns + inner if flip_right else inner + columns))
            m, k, n = (math.prod([size[x] for x in group]) for group in (rows, inner, columns))
            self._reshape(i, [*lead, *((k, m) if flip_left else (m, k))])
            self._reshape(j, [*lead, *((n, k) if flip_right else (k, n))])
            self.steps.append((matmul, i, j, (flip_left, flip_right)))
            self.shapes[i] = [*lead, m, n]
            self._reshape(i, [*lead, *[size[x] for x in rows + columns]])
        self.labels[i] = batch + rows + columns
        self.shapes[i] = [size[label] for label in self.labels[i]]


@functools.lru_cache(_PLANS_KEPT)
def _plan(equation: str, shapes: tuple[Shape, ...]) -> list[Step]:
    return _Planner(equation, shapes).steps


def _reference_einsum(equation: str, *operands: Any) -> Any:
    wide = [o.astype("float32") if o.dtype.kind == "V" else o for o in operands]
    return np.einsum(equation, *wide)


@samples(
    S("ij,jk", A(2, 3), A(3, 4)), S("ij,jk->ki", A(2, 3), A(3, 4)), S("ii->i", A(3, 3)),
    S("ii", A(3, 3)), S("bhld,bhmd->bhlm", A(2, 2, 3, 4), A(2, 2, 5, 4)),
    S("...ij,...jk->...ik", A(5, 2, 3), A(3, 4)), S("i,j->ij", A(2), A(3)), S("ij->", A(2, 3)),
    S("ij,jk,kl->il", A(2, 3), A(3, 2), A(2, 2)), S("ij,ij->ij", A(2, 3), A(1, 3)),
    S("ba", A(2, 3)), S("...i,i", A(2, 3), A(3)), S("i,i", A(0), A(0)),
    S("ijk,ikl->jl", A(2, 3, 4), A(2, 4, 2)), S("ijkl,mlk->jmi", A(2, 2, 3, 4), A(2, 4, 3)),
    S("iij,jk->ik", A(3, 3, 2), A(2, 2)), S("ij,kl->", A(2, 2), A(2, 3)),
    S("bij,bj->bi", A(2, 3, 4), A(2, 4)),
    S(" i j , j -> i", *[A(*n, dtype="bfloat16", grad=False) for n in ((2, 3), (3,))]),
    S("ij,jk", A(2, 3, dtype="int64"), A(3, 2, dtype="int64")), S("...,...", A(2, 3), A(3)),
    S("ij,jk", A(2, 2, dtype="complex128"), A(2, 2, dtype="complex128")),
    reference=_reference_einsum,
)  # fmt: skip
@public()
@one_operator("einsum")
def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Sums of products in Einstein's notation.

    Letters name dimensions; those that do not occur behind `->` are summed over, `...` stands for further dimensions,
    which are broadcast. Without `->`, letters that occur once stay, in alphabetical order. More than two operands are
    combined from left to right.

    Args:
        equation: such as "ij,jk->ik", a matrix product.
        *operands: the tensors.

    Raises:
        ValueError: the equation does not fit the operands.

    Examples:
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.einsum("ij,jk->ik", x, x).tolist()
        [[7.0, 10.0], [15.0, 22.0]]
        >>> paddle.einsum("ii", x).item()
        5.0
    """
    if not isinstance(equation, str):
        raise type_error("einsum", "the equation must be a string", f"equation: {type(equation).__name__}")
    if not operands:
        raise failed_check("einsum", "no operand is given", f"{equation!r}")
    values = [require_tensor("einsum", f"operand {i}", x) for i, x in enumerate(operands)]
    if any(x._aval.dtype != values[0]._aval.dtype for x in values):
        raise value_error(
            "einsum", "the operands have different data types",
            ", ".join(str(x._aval) for x in values), "convert them with astype()",
        )  # fmt: skip
    # Plans are remembered by the values of sizes: not those of unknown ones, which have expressions.
    plan = _plan.__wrapped__ if any(x._aval.symbolic for x in values) else _plan
    for function, i, j, arguments in plan(equation, tuple([x._aval.shape for x in values])):
        if j is None:
            values[i] = function(values[i], *arguments)
        else:
            values[i] = function(values[i], values[j], *arguments)
    return values[0]
