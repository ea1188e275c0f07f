"""Makes a failing program shorter: statements are dropped as long as it fails in the same way."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

Check = Callable[[str], bool]


def statements_in(source: str) -> list[tuple[int, int, bool]]:
    """First line, last line and whether it is alone in its block, large statements first."""
    spans: list[tuple[int, int, bool]] = []
    for node in ast.walk(ast.parse(source)):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            for child in body:
                if isinstance(child, ast.stmt) and child.end_lineno is not None:
                    spans.append((child.lineno, child.end_lineno, len(body) == 1))
    spans = [span for span in spans if not is_import(source, span[0])]
    # The last statements go first, as those before them need nothing of theirs.
    return sorted(spans, key=lambda span: (span[0] - span[1], -span[0]))


def is_import(source: str, line: int) -> bool:
    """Whether a line is one of those that every program starts with."""
    return source.splitlines()[line - 1].startswith(("import ", "from "))


def without(source: str, first: int, last: int, alone: bool) -> str:
    """The program without some of its lines; a block keeps `pass` instead of its only statement."""
    lines = source.splitlines()
    indentation = len(lines[first - 1]) - len(lines[first - 1].lstrip())
    filler = [" " * indentation + "pass"] if alone and indentation else []
    return "\n".join(lines[: first - 1] + filler + lines[last:]) + "\n"


def fewer_repetitions(source: str) -> Iterator[str]:
    for match in re.finditer(r"range\((\d+)\)", source):
        count = int(match.group(1))
        for fewer in (1, 2, count - 1):
            if 1 <= fewer < count:
                yield source[: match.start(1)] + str(fewer) + source[match.end(1) :]


def one_round(source: str, still_fails: Check) -> str:
    """Try each statement once."""
    position = 0
    while position < len(spans := statements_in(source)):
        candidate = without(source, *spans[position])
        if candidate != source and still_fails(candidate):
            source = candidate
        else:
            position += 1
    for candidate in fewer_repetitions(source):
        if still_fails(candidate):
            return candidate
    return source


def minimise(source: str, still_fails: Check, attempts: int = 400) -> str:
    """Drop statements greedily until none can go, or the attempts are used up."""

    def check(candidate: str) -> bool:
        nonlocal attempts
        attempts -= 1
        return attempts >= 0 and still_fails(candidate)

    while attempts > 0:
        shorter = one_round(source, check)
        if shorter == source:
            break
        source = shorter
    return source
