"""`proa chat MODEL`: a conversation in the terminal, or one answer through a pipe."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TextIO

from ..llm.talk import SETTINGS, Talk
from .harmless import harmless
from .problems import complain

_CONTEXT = 4096
_WIDENING = 8  # a conversation of 512 tokens, then one of 4096

HELP = """\
/help                what can be typed
/new                 begin again
/retry               another answer to the last question
/system [TEXT]       what the model is told first; without TEXT: nothing
/set [NAME VALUE]    how answers are chosen; without NAME: show it
/show                the conversation so far
/save FILE           write it as JSON        /load FILE   go on with one
/exit                leave (or Ctrl-D)
Ctrl-C stops an answer. A line that ends with \\ goes on in the next one."""


def run(arguments: argparse.Namespace) -> int:
    try:
        talk, close = open_talk(arguments)
    except (OSError, ValueError, TypeError, ImportError) as error:
        return complain("chat", error)
    try:
        if is_single(arguments):
            return answer_once(talk, arguments.prompt, sys.stdin, sys.stdout)
        return Terminal(talk, sys.stdout).run()
    finally:
        close()


def is_single(arguments: argparse.Namespace) -> bool:
    """Whether one answer is wanted, not a conversation."""
    return arguments.prompt is not None or not sys.stdin.isatty()


def open_talk(arguments: argparse.Namespace) -> tuple[Talk, Callable[[], None]]:
    """The conversation that the command line describes, and what ends it."""
    from ..llm.server.opening import open_model

    # One answer at a time, and two widths of the tables of pages: few programs, so that the first prompt comes soon.
    served = open_model(
        arguments.model,
        dtype=arguments.dtype,
        context=arguments.context or _CONTEXT,
        rows=1,
        widening=_WIDENING,
        warm_up="none" if is_single(arguments) else "short",  # one answer compiles what it needs and no more
    )
    if served.engine is None:
        raise ValueError(f"{arguments.model} is a model for embeddings; it writes no text")
    talk = Talk(served.engine, served.tokenizer, served.context, system=arguments.system or "")
    for name in SETTINGS:
        value = getattr(arguments, name, None)
        if value is not None:
            talk.set(name, str(value))
    return talk, lambda: served.engine.close(drain=False)


def answer_once(talk: Talk, prompt: str | None, given: TextIO, out: TextIO) -> int:
    """What a pipe brings is one message, behind the prompt where there is one; the answer alone is written.

    A terminal gets it without control characters; a file or another program gets what the model wrote.
    """
    read = "" if given.isatty() else given.read()
    text = "\n\n".join(part for part in (prompt, read.strip()) if part)
    if not text:
        print("proa chat: nothing was asked; write to the pipe, or give --prompt", file=sys.stderr)
        return 1
    try:
        for piece in talk.ask(text):
            out.write(harmless(piece) if out.isatty() else piece)
            out.flush()
        out.write("\n")
        out.flush()
    except ValueError as error:
        print(f"proa chat: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


class Terminal:
    """Reads lines, answers them, obeys commands. Ctrl-C stops an answer, not the program."""

    def __init__(self, talk: Talk, out: TextIO, read: Callable[[str], str] = input) -> None:
        self.talk = talk
        self._out = out
        self._read = read
        self._commands: dict[str, Callable[[str], None]] = {
            "help": lambda _: self._say(HELP), "new": lambda _: self.talk.forget(), "retry": self._retry,
            "system": self._system, "set": self._set, "show": self._show, "save": self._save, "load": self._load,
        }  # fmt: skip

    def run(self) -> int:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - lines can be edited, and earlier ones come back
        self._say("/help says what can be typed; Ctrl-D leaves.")
        while True:
            try:
                line = self._line()
            except EOFError:
                self._say("")
                return 0
            except KeyboardInterrupt:
                self._say("\n(Ctrl-D leaves)")
                continue
            if line in ("/exit", "/quit", "/bye"):
                return 0
            self.take(line)

    def take(self, line: str) -> None:
        """Does what one line says. Whatever goes wrong with it is told, and the conversation goes on."""
        try:
            if not line:
                return
            if not line.startswith("/"):
                self._stream(self.talk.ask(line))
                return
            name, _, rest = line[1:].partition(" ")
            command = self._commands.get(name)
            if command is None:
                self._say(f"There is no /{name}; /help says what there is.")
            else:
                command(rest.strip())
        except (ValueError, TypeError, OSError, RuntimeError) as error:
            self._say(str(error))

    def _line(self) -> str:
        line = self._read("> ")
        while line.endswith("\\"):
            line = line[:-1] + "\n" + self._read("… ")
        return line.strip()

    def _stream(self, pieces: Generator[str, None, None]) -> None:
        stopped = False
        try:
            for piece in pieces:
                self._out.write(harmless(piece))
                self._out.flush()
        except KeyboardInterrupt:
            stopped = True
        finally:
            pieces.close()
        forgotten = (
            f"; the first {self.talk.num_forgotten} messages are no longer seen" if self.talk.num_forgotten else ""
        )
        self._out.write(f"\n{_dim(self._out)}({'stopped; ' if stopped else ''}{self.talk.figures}{forgotten})")
        self._out.write(f"{_plain(self._out)}\n")
        self._out.flush()

    def _retry(self, _: str) -> None:
        pieces = self.talk.retry()
        if pieces is None:
            self._say("Nothing was asked yet.")
        else:
            self._stream(pieces)

    def _system(self, text: str) -> None:
        self.talk.system = text
        self._say("The model is told this first." if text else "The model is told nothing first.")

    def _set(self, text: str) -> None:
        if text:
            name, _, value = text.replace("=", " ").partition(" ")
            self.talk.set(name, value.strip())
        self._say(", ".join(f"{name} {getattr(self.talk.sampling, name)}" for name in SETTINGS))

    def _show(self, _: str) -> None:
        for message in self.talk.messages:
            self._say(f"{message['role']}: {message['content']}")

    def _save(self, path: str) -> None:
        if not path:
            raise ValueError("/save needs the name of a file")
        target = Path(path).expanduser()
        content = json.dumps({"system": self.talk.system, "messages": self.talk.messages}, indent=1, ensure_ascii=False)
        partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
        try:
            partial.write_text(content, encoding="utf-8")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        self._say(f"{len(self.talk.messages)} messages are in {target}.")

    def _load(self, path: str) -> None:
        found = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
        messages = found.get("messages") if isinstance(found, dict) else None
        if not isinstance(messages, list) or not all(_is_message(each) for each in messages):
            raise ValueError(f"{path} holds no conversation that /save has written")
        self.talk.system, self.talk.messages = str(found.get("system") or ""), messages
        self._say(f"{len(messages)} messages were read.")

    def _say(self, text: str) -> None:
        self._out.write(f"{harmless(text)}\n")
        self._out.flush()


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict) and value.get("role") in ("user", "assistant") and isinstance(value.get("content"), str)
    )


def _dim(out: TextIO) -> str:
    return "\x1b[2m" if out.isatty() and "NO_COLOR" not in os.environ else ""


def _plain(out: TextIO) -> str:
    return "\x1b[0m" if _dim(out) else ""
