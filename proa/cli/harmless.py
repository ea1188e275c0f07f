"""Text from elsewhere (a model's answer, a file) without the signs that a terminal would obey."""

from __future__ import annotations

# C0 but for newline and tab, delete, and C1: among the last is a sign that begins a sequence without an escape.
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def harmless(text: str) -> str:
    """The text with its control characters written out (`\\x1b`); newlines, tabs and all scripts stay as they are."""
    return text.translate(_CONTROL)


def on_one_line(value: object) -> str:
    """The same for a table: newlines and invisible signs are written out, too."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))
