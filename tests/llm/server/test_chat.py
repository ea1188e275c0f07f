"""`proa chat`: a conversation in the terminal, and one answer through a pipe."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from proa.cli.chat import Terminal, answer_once
from proa.llm.engine.request import Sampling
from proa.llm.talk import Talk
from tests.llm.server.standin import ByteTokenizer, StandIn, expected_text


@pytest.fixture
def engine() -> StandIn:
    return StandIn()


def _talk(engine: StandIn, context: int = 2048, **sampling: Any) -> Talk:
    chosen = Sampling(**{"temperature": 0.0, "max_tokens": 100, **sampling})
    return Talk(engine, ByteTokenizer(), context, chosen)


def _typed(talk: Talk, *lines: Any) -> str:
    """What a terminal shows when these lines are typed; an exception stands for the keys that raise it."""
    waiting = list(lines)

    def read(_prompt: str) -> str:
        line = waiting.pop(0) if waiting else EOFError()
        if isinstance(line, BaseException):
            raise line
        return line

    out = io.StringIO()
    assert Terminal(talk, out, read).run() == 0
    return out.getvalue()


def test_questions_are_answered_with_all_that_was_said(engine: StandIn) -> None:
    talk = _talk(engine)
    shown = _typed(talk, "hello", "", "and more")
    first = expected_text("[user]hello\n")
    second = expected_text(f"[user]hello\n[assistant]{first}\n[user]and more\n")
    assert first in shown
    assert second in shown
    assert "65 written" in shown
    assert [message["content"] for message in talk.messages] == ["hello", first, "and more", second]


def test_commands(engine: StandIn, tmp_path: Path) -> None:
    talk = _talk(engine)
    path = tmp_path / "saved.json"
    lines = ["/help", "/nonsense", "/retry", "/system be brief", "hello", f"/save {path}", "/new", "/show"]
    lines += ["/set top_k 5", "/set temperature hot", "/set colour red", "/set top_p 7", f"/load {path}", "/show"]
    shown = _typed(talk, *lines, "/retry", "/save", "/load /nowhere", "/exit", "never read")
    answer = expected_text("[system]be brief\n[user]hello\n")
    wanted = ["/retry ", "There is no /nonsense", "Nothing was asked yet", "top_k 5", "temperature is a number"]
    wanted += ["no setting 'colour'", "top_p is above", "2 messages were read", f"assistant: {answer}", "/save needs"]
    for text in (*wanted, "No such file"):
        assert text in shown
    assert shown.count(f"user: hello\nassistant: {answer}") == 1  # /new had emptied it before
    assert len(engine.requests) == 2
    assert talk.sampling.top_k == 5
    assert json.loads(path.read_text()) == {
        "system": "be brief", "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": answer}],
    }  # fmt: skip
    assert [file.name for file in tmp_path.iterdir()] == ["saved.json"]


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"messages": [{"role": "system", "content": "x"}]}', '{"messages": 3}']
)
def test_files_that_are_no_conversations(engine: StandIn, tmp_path: Path, content: str) -> None:
    talk = _talk(engine)
    path = tmp_path / "wrong.json"
    path.write_text(content)
    _typed(talk, "say(a)yas", f"/load {path}")
    assert len(talk.messages) == 2


def test_a_line_goes_on_behind_a_backslash(engine: StandIn) -> None:
    talk = _talk(engine)
    _typed(talk, "one\\", "two")
    assert talk.messages[0]["content"] == "one\ntwo"


def test_control_c_stops_the_answer_and_not_the_program(engine: StandIn) -> None:
    talk = _talk(engine)

    class Interrupting(io.StringIO):
        written = 0

        def write(self, text: str) -> int:
            self.written += 1
            if self.written == 5:
                raise KeyboardInterrupt
            return super().write(text)

    out = Interrupting()
    terminal = Terminal(talk, out)
    terminal.take("slow")
    assert "stopped" in out.getvalue()
    assert 0 < len(talk.messages[1]["content"]) < 64
    terminal.take("say(on we go)yas")
    assert "on we go" in out.getvalue()
    assert engine.num_cancelled == 1
    assert "(Ctrl-D leaves)" in _typed(_talk(engine), KeyboardInterrupt(), "/exit")


def test_the_oldest_messages_are_forgotten_when_there_is_no_room(engine: StandIn) -> None:
    talk = _talk(engine, context=200, max_tokens=30)
    shown = _typed(talk, *(f"say({number})yas {'x' * 50}" for number in range(4)))
    assert "the first 4 messages are no longer seen" in shown
    assert len(engine.requests[-1].prompt) <= 170
    assert bytes(engine.requests[-1].prompt).startswith(b"[user]say(2)")
    assert "too long" in _typed(talk, "x" * 300)
    assert len(talk.messages) == 8


def test_an_engine_that_fails_leaves_the_conversation_open(engine: StandIn) -> None:
    talk = _talk(engine)
    shown = _typed(talk, "fail", "/new", "say(fine)yas")
    assert "the engine broke" in shown
    assert "fine" in shown


def test_through_a_pipe_only_the_answer_is_written(engine: StandIn) -> None:
    out = io.StringIO()
    assert answer_once(_talk(engine), None, io.StringIO("hello\n"), out) == 0
    assert out.getvalue() == expected_text("[user]hello\n") + "\n"
    out = io.StringIO()
    assert answer_once(_talk(engine), "sum up", io.StringIO("a text"), out) == 0
    assert out.getvalue() == expected_text("[user]sum up\n\na text\n") + "\n"
    assert answer_once(_talk(engine), None, io.StringIO(""), out) == 1
    assert answer_once(_talk(engine, context=100), None, io.StringIO("x" * 200), out) == 1


# A window's title, a cleared screen, the clipboard, the same begun by one sign of C1, an overwritten line, a deleted sign.
OBEYED = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;cm0=\x07\x9b31mno\rok\x08\x7f"
HARMLESS = r"\x1b]0;owned\x07\x1b[2J\x1b]52;c;cm0=\x07\x9b31mno\x0dok\x08\x7f"
KEPT = "a\tb\nc é 日本　語 👩\u200d👩 אב"  # nothing that a terminal obeys


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_obeys_no_answer(engine: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    talk, screen = _talk(engine), Screen()
    terminal = Terminal(talk, screen)
    path = tmp_path / "saved.json"
    terminal.take(f"say({OBEYED}{KEPT})yas")
    for line in ("/show", f"/save {path}", f"/load {path}", "/show", f"/{OBEYED}", f"/set {OBEYED} 1"):
        terminal.take(line)
    assert talk.messages[1]["content"] == OBEYED + KEPT  # the conversation itself is as it was
    shown = screen.getvalue()
    assert shown.count(HARMLESS + KEPT) == 5  # the answer; question and answer shown twice
    ours = shown.replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert len(shown) - len(ours) == 8  # the line of figures is dim
    assert not {sign for sign in ours if not sign.isprintable()} - set("\n\t\u3000\u200d")


def test_one_answer_is_harmless_on_a_terminal_and_whole_in_a_pipe(engine: StandIn) -> None:
    for out, expected in ((Screen(), HARMLESS), (io.StringIO(), OBEYED)):
        assert answer_once(_talk(engine), f"say({OBEYED})yas", io.StringIO(""), out) == 0
        assert out.getvalue() == expected + "\n"
