"""How weights are named in files, and how a file's tensors become parameters and back.

A family has a list of rules. `ours` is the dotted name of a parameter, `theirs` the name in Hugging Face's files; `{}` is
the number of a layer and `{e}` that of an expert. Products are stored transposed there (`[out, in]`), unless the rule says
otherwise. Reading goes by our parameters: each one must be found, in its shape, and every tensor of the file must be used
or be named as one that may be left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.errors import value_error

Take = Callable[[str], np.ndarray]


@dataclass(frozen=True)
class Rule:
    """One of our parameters (or several, side by side) is one tensor of the file, or one for each expert."""

    ours: str | tuple[str, ...]
    theirs: str
    transposed: bool = False
    lead: bool = False  # theirs has an axis of length 1 in front
    joined: int = -1  # the axis along which several of ours lie in theirs, as they lie here

    @property
    def parts(self) -> tuple[str, ...]:
        return (self.ours,) if isinstance(self.ours, str) else self.ours


def product(ours: str, theirs: str) -> Rule:
    """The weight of a Projection."""
    return Rule(f"{ours}.weight", f"{theirs}.weight", transposed=True)


def biased(ours: str, theirs: str) -> list[Rule]:
    """Weight and bias of a Projection."""
    return [product(ours, theirs), Rule(f"{ours}.bias", f"{theirs}.bias")]


def normed(ours: str, theirs: str) -> list[Rule]:
    """Weight and bias of a layer norm."""
    return [Rule(f"{ours}.{part}", f"{theirs}.{part}") for part in ("weight", "bias")]


@dataclass(frozen=True)
class Names:
    """The rules of a family. `prefix` stands before most names in files; some writers use one of `otherwise` instead."""

    rules: tuple[Rule, ...]
    prefix: str = "model."
    otherwise: tuple[str, ...] = ("",)
    left: str = r"rotary_emb\.inv_freq$|position_ids$"  # names, as a pattern, of tensors that may be left unread
    table: dict[str, Rule] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table = {part: rule for rule in self.rules for part in rule.parts}
        object.__setattr__(self, "table", table)

    def rule(self, ours: str) -> tuple[Rule, str]:
        """The rule of one of our parameters, and the number of its layer."""
        number = re.search(r"\.(\d+)\.", ours)
        general = ours if number is None else ours.replace(number.group(), ".{}.", 1)
        if general not in self.table:
            raise value_error("load", "this family's weights.py has no rule for a parameter", ours)
        return self.table[general], "" if number is None else number.group(1)


class Source:
    """The tensors of a file by name, with the prefix that its writer used; knows which were taken."""

    def __init__(self, names: Names, tensors: Mapping[str, Any]) -> None:
        self.names, self.tensors = names, tensors
        self.taken: set[str] = set()

    def find(self, name: str) -> str | None:
        for prefix in (self.names.prefix, *self.names.otherwise):
            spelled = prefix + name.removeprefix(self.names.prefix) if name.startswith(self.names.prefix) else name
            if spelled in self.tensors:
                return spelled
        return None

    def take(self, name: str) -> np.ndarray:
        found = self.find(name)
        if found is None:
            raise value_error("load", f"the files have no tensor {name!r}", f"{len(self.tensors)} others, such as "
                              + ", ".join(sorted(self.tensors)[:3]), "see whether config.json belongs to them")  # fmt: skip
        self.taken.add(found)
        return np.asarray(self.tensors[found])

    def unused(self) -> list[str]:
        left = re.compile(self.names.left)
        return sorted(n for n in self.tensors if n not in self.taken and not left.search(n))


def read_parameter(source: Source, ours: str, shape: tuple[int, ...], sizes: dict[str, tuple[int, ...]],
                   transposed: bool = True) -> np.ndarray:  # fmt: skip
    """The numbers of one parameter, checked; `transposed=False` for files whose products lie as ours do (Paddle's)."""
    rule, number = source.names.rule(ours)
    theirs = rule.theirs.replace("{}", number)
    turn = rule.transposed and transposed
    if "{e}" in theirs:
        parts = [source.take(theirs.replace("{e}", str(expert))) for expert in range(shape[0])]
        found = np.stack([np.swapaxes(part, -1, -2) if turn else part for part in parts])
    else:
        found = source.take(theirs)
        found = found[0] if rule.lead and found.ndim and len(found) == 1 else found
        found = np.swapaxes(found, -1, -2) if turn and found.ndim > 1 else found
        if len(rule.parts) > 1:
            found = _part_of(found, rule, ours, number, sizes)
    if found.shape != shape:
        raise value_error("load", f"{theirs!r} does not fit the configuration: {ours} is {list(shape)}",
                          f"{list(found.shape)}", "see whether config.json belongs to these weights")  # fmt: skip
    return found


def _part_of(whole: np.ndarray, rule: Rule, ours: str, number: str, sizes: dict[str, tuple[int, ...]]) -> np.ndarray:
    names = [part.replace("{}", number) for part in rule.parts]
    lengths = [sizes[name][rule.joined] for name in names]
    if whole.shape[rule.joined] != sum(lengths):
        raise value_error("load", f"{rule.theirs.replace('{}', number)!r} has the wrong size",
                          f"{list(whole.shape)}", f"expected {sum(lengths)} along axis {rule.joined}")  # fmt: skip
    begin = sum(lengths[: names.index(ours)])
    return np.take(whole, np.arange(begin, begin + lengths[names.index(ours)]), rule.joined)


def written(names: Names, parameters: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Names and tensors of the file, from our parameters."""
    done: set[str] = set()
    for ours in parameters:
        if ours in done:
            continue
        rule, number = names.rule(ours)
        theirs = rule.theirs.replace("{}", number)
        parts = [part.replace("{}", number) for part in rule.parts]
        done.update(parts)
        whole = np.concatenate([parameters[p] for p in parts], rule.joined) if len(parts) > 1 else parameters[ours]
        if "{e}" in theirs:
            for expert, part in enumerate(whole):
                yield theirs.replace("{e}", str(expert)), np.ascontiguousarray(part.T if rule.transposed else part)
        else:
            whole = whole[None] if rule.lead else whole
            yield theirs, np.ascontiguousarray(whole.T if rule.transposed else whole)
