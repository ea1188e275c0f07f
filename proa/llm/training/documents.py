"""Text and conversations as token files: what `proa train --pack` does, and what training does first with files of text.

    .txt     one document
    .jsonl   a document a line, by its keys: {"text"}, {"messages"}, {"prompt", "completion"},
             {"prompt", "chosen", "rejected"} (a pair; the prompt may be a list of messages)

Of a conversation only the assistant's answers are learned, as the model's chat template writes them. Every file is read line
by line; a line that is not what it should be is named, and nothing is written.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.errors import message, value_error
from .token_file import MAGIC, TokenWriter, token_writer

_WHERE = "proa train --pack"
_KINDS = {
    "pretrain": (("text",), ("messages",), ("prompt", "completion")),
    "chat": (("messages",), ("prompt", "completion")),
    "preference": (("prompt", "chosen", "rejected"),),
}


def is_token_file(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (FileNotFoundError, IsADirectoryError):
        return False


def found_files(patterns: Sequence[str]) -> list[str]:
    """The files that names and patterns (`*.jsonl`) mean, in order."""
    files: list[str] = []
    for pattern in patterns:
        found = [pattern] if os.path.isfile(pattern) else sorted(glob.glob(pattern, recursive=True))
        found = [path for path in found if os.path.isfile(path)]
        if not found:
            raise FileNotFoundError(message(_WHERE, "there is no such file", repr(pattern)))
        files += found
    return files


def pack(sources: Sequence[str], target: Any, tokenizer: Any, task: str = "pretrain") -> int:
    """Writes the documents of text files into a token file; gives how many there are.

    Example:
        >>> pack(["corpus/*.txt"], "corpus.tokens", Tokenizer.from_folder("model"))
    """
    if task not in _KINDS:
        raise value_error(_WHERE, f"task must be one of {', '.join(_KINDS)}", repr(task))
    files, count = found_files(sources), 0
    with token_writer(target, tokenizer.vocab_size, with_given=task != "pretrain") as writer:
        for path in files:
            for place, entry in _entries(path):
                try:
                    count += _add(writer, entry, tokenizer, task)
                except (ValueError, TypeError) as error:
                    raise value_error(_WHERE, f"{path}, {place}: {error}") from None
    return count


def _entries(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not path.endswith((".jsonl", ".json")):
        with open(path, encoding="utf-8") as file:
            yield "the file", {"text": file.read()}
        return
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except ValueError as error:
                raise value_error(_WHERE, f"{path}, line {number} is not JSON: {error}") from None
            if not isinstance(entry, dict):
                raise value_error(_WHERE, f"{path}, line {number} must be an object with keys", type(entry).__name__)
            yield f"line {number}", entry


def _add(writer: TokenWriter, entry: dict[str, Any], tokenizer: Any, task: str) -> int:
    keys = next((keys for keys in _KINDS[task] if all(key in entry for key in keys)), None)
    if keys is None:
        wanted = " or ".join("{" + ", ".join(kind) + "}" for kind in _KINDS[task])
        raise ValueError(f"the keys {wanted} are needed; received {', '.join(entry) or 'none'}")
    for key in keys:
        if not isinstance(entry[key], (str, list)):
            raise ValueError(f"{key} must be a text; received {type(entry[key]).__name__}")
    if keys == ("text",):
        if not entry["text"].strip():
            return 0
        writer.add(_ended(tokenizer.encode(entry["text"]), tokenizer))
        return 1
    for ids, given in _answers(entry, keys, tokenizer):
        writer.add(ids, given if task != "pretrain" else None)
    return 1


def _answers(entry: dict[str, Any], keys: tuple[str, ...], tokenizer: Any) -> Iterator[tuple[list[int], list[bool]]]:
    if keys == ("messages",):
        yield conversation(entry["messages"], tokenizer)
        return
    for key in keys[1:]:
        prompt, answer = entry["prompt"], entry[key]
        if isinstance(prompt, list):
            answer = answer if isinstance(answer, list) else [{"role": "assistant", "content": answer}]
            yield conversation([*prompt, *answer], tokenizer, first=len(prompt))
        else:
            begin, end = tokenizer.encode(prompt), _ended(tokenizer.encode(answer, special=False), tokenizer)
            yield begin + end, [True] * len(begin) + [False] * len(end)


def conversation(messages: Any, tokenizer: Any, first: int = 0) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and which of them are given: all but the assistant's answers from `first` on.

    An answer is what the template adds to the conversation before it, behind the words that ask for an answer.
    """
    if not isinstance(messages, list) or not all(isinstance(m, dict) and "role" in m for m in messages):
        raise ValueError("messages must be a list of {role, content}")
    answers = [n for n, m in enumerate(messages) if m["role"] == "assistant" and n >= first]
    if not answers:
        raise ValueError("there is no answer of the assistant to learn from")
    whole = tokenizer.chat_text(messages[: answers[-1] + 1], add_generation_prompt=False)
    pieces: list[tuple[str, bool]] = []
    done = 0
    for number in answers:
        before = tokenizer.chat_text(messages[:number], add_generation_prompt=True)
        behind = tokenizer.chat_text(messages[: number + 1], add_generation_prompt=False)
        if not (whole.startswith(before) and whole.startswith(behind) and done <= len(before) < len(behind)):
            raise ValueError(
                f"the chat template writes message {number} otherwise when others follow, so it is not known where the "
                "answer is; give conversations with one answer each"
            )
        pieces += [(whole[done : len(before)], True), (whole[len(before) : len(behind)], False)]
        done = len(behind)
    ids: list[int] = []
    given: list[bool] = []
    for text, is_given in pieces:
        tokens = tokenizer.encode(text, special=False)  # the template writes what is special
        ids += tokens
        given += [is_given] * len(tokens)
    return ids, given


def _ended(ids: list[int], tokenizer: Any) -> list[int]:
    """A document with the token that ends one."""
    ends = tokenizer.eos
    return ids if not ends or (ids and ids[-1] in ends) else [*ids, ends[0]]
