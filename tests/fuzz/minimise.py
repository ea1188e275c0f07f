"""Makes a failing program shorter: statements are dropped as long as it fails in the same way."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from .generator import PROLOGUE


def candidates(source: str) -> Iterator[str]:
    """The program without one of its statements, large statements first."""
    lines = source.splitlines()
    spans: list[tuple[int, int, bool]] = []
    for node in ast.walk(ast.parse(source)):
        for field in ("body", "orelse", "handlers", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            for child in body:
                if isinstance(child, ast.stmt) and child.end_lineno is not None:
                    spans.append((child.lineno, child.end_lineno, len(body) == 1))
    spans = [span for span in spans if span[0] > len(PROLOGUE)]
    for first, last, alone in sorted(spans, key=lambda span: (span[0] - span[1], -span[0])):
        indentation = len(lines[first - 1]) - len(lines[first - 1].lstrip())
        filler = [" " * indentation + "pass"] if alone and indentation else []
        if filler and lines[first - 1 : last] == filler:
            continue
        yield "\n".join(lines[: first - 1] + filler + lines[last:]) + "\n"
    yield from fewer_repetitions(source)


def fewer_repetitions(source: str) -> Iterator[str]:
    for match in re.finditer(r"range\((\d+)\)", source):
        count = int(match.group(1))
        for fewer in (1, 2, count - 1):
            if fewer < count:
                yield source[: match.start(1)] + str(fewer) + source[match.end(1) :]


def minimise(source: str, still_fails: Callable[[str], bool], attempts: int = 600) -> str:
    """Drop statements greedily until no single one can go, or the attempts are used up."""
    shrunk = True
    while shrunk and attempts > 0:
        shrunk = False
        for candidate in candidates(source):
            if attempts == 0:
                break
            try:
                compile(candidate, "candidate", "exec")
            except SyntaxError:
                continue
            attempts -= 1
            if still_fails(candidate):
                source, shrunk = candidate, True
                break
    return source
