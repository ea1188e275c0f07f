"""`Tokenizer`: text as numbers and back, and conversations as text, as the model was trained with them."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...core.errors import type_error, value_error
from ...core.tracebacks import boundary
from .chat import ChatTemplate
from .stream import Stream

if TYPE_CHECKING:
    import tokenizers

    from ..files import GGUF


@dataclass(frozen=True)
class Special:
    """The tokens that have a part to play: their numbers, where the model has them."""

    bos: int | None = None
    eos: tuple[int, ...] = ()  # each of them ends an answer
    pad: int | None = None
    unknown: int | None = None
    named: Mapping[str, str] = field(default_factory=dict)  # as templates name them: bos_token, eos_token …


class Tokenizer:
    """A model's tokenizer.

        tokenizer = Tokenizer.from_folder("models/smollm2")
        ids = tokenizer.encode("Hello")
        tokenizer.decode(ids)

    It may be used by many threads at once. `inner` is the tokenizer of the `tokenizers` package.
    """

    def __init__(
        self, inner: tokenizers.Tokenizer, special: Special, templates: Mapping[str, str] | None = None
    ) -> None:
        self.inner = inner
        self.special = special
        self.templates = dict(templates or {})  # by name: default, and what a model has for tools and the like
        self.vocab_size: int = inner.get_vocab_size()
        self.special_ids = frozenset(
            number for number, token in inner.get_added_tokens_decoder().items() if token.special
        )

    @classmethod
    @boundary
    def from_folder(cls, path: Any) -> Tokenizer:
        """From a model's folder: `tokenizer.json`, or a vocabulary of an older kind; with what the files beside it say."""
        from .folder import read_folder

        return cls(*read_folder(os.fspath(path)))

    @classmethod
    @boundary
    def from_gguf(cls, file: GGUF | str | os.PathLike[str]) -> Tokenizer:
        """From the metadata of a GGUF file."""
        from ..files import GGUF
        from .gguf import read_gguf

        return cls(*read_gguf(file if isinstance(file, GGUF) else GGUF(file)))

    @boundary
    def save(self, folder: Any) -> None:
        """Writes what `from_folder` and transformers read: tokenizer.json, tokenizer_config.json, chat templates, and the
        tokens that end an answer as generation_config.json, unless the folder has one."""
        from .folder import write_folder

        write_folder(os.fspath(folder), self)

    @property
    def bos(self) -> int | None:
        return self.special.bos

    @property
    def eos(self) -> tuple[int, ...]:
        return self.special.eos

    # ---- text ----------------------------------------------------------------------------------

    def encode(self, text: str, special: bool = True, literal: bool = False) -> list[int]:
        """The tokens of a text; `special`: with those that the model wants around it.

        A token such as `<|im_end|>` that stands in the text counts as that token. With `literal` it is text like any
        other, so that words of strangers cannot end a message.
        """
        inner = self._literal if literal else self.inner
        return inner.encode(_checked(text), add_special_tokens=special).ids

    def encode_batch(self, texts: Sequence[str], special: bool = True, literal: bool = False) -> list[list[int]]:
        """The tokens of many texts, on all cores."""
        inner = self._literal if literal else self.inner
        found = inner.encode_batch_fast([_checked(text) for text in texts], add_special_tokens=special)
        return [each.ids for each in found]

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """The text of tokens; bytes that are no character become �."""
        return self.inner.decode([self._known(number) for number in ids], skip_special_tokens=skip_special)

    def stream(self, skip_special: bool = True) -> Stream:
        """A decoder that is given one token after another."""
        return Stream(self, skip_special)

    def token(self, number: int) -> str:
        """A token as the vocabulary spells it."""
        found = self.inner.id_to_token(self._known(number))
        return "" if found is None else found

    def id(self, token: str) -> int | None:
        """The number of a token by its spelling in the vocabulary."""
        return self.inner.token_to_id(token)

    def bytes_of(self, number: int) -> bytes | None:
        """What a token adds to a text: a part of a character, too, which `decode` cannot show. None where nobody can say.

        b"".join(tokenizer.bytes_of(number) for number in ids).decode()
        """
        text = self.decode([number], skip_special=False)
        if "\ufffd" not in text:
            return text.encode()
        spelling = self.token(number)
        if re.fullmatch("<0x[0-9A-F]{2}>", spelling):
            return bytes([int(spelling[3:5], 16)])
        letters = _byte_letters()
        return bytes(letters[letter] for letter in spelling) if set(spelling) <= set(letters) else None

    def to_json(self) -> str:
        """The tokenizer as the text of a `tokenizer.json`."""
        return self.inner.to_str()

    def _known(self, number: Any) -> int:
        """A number that the package takes: it has no words for a negative one."""
        number = int(number)
        if not 0 <= number < 2**32:
            raise value_error("decode", "tokens are numbers from 0 on", repr(number))
        return number

    @functools.cached_property
    def _literal(self) -> tokenizers.Tokenizer:
        """The same, which finds no special tokens in a text. A second one, since this is a state and threads share it."""
        import tokenizers

        copy = tokenizers.Tokenizer.from_str(self.inner.to_str())
        copy.encode_special_tokens = True
        return copy

    # ---- conversations -------------------------------------------------------------------------

    @boundary
    def chat(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, add_generation_prompt: bool = True,
        **variables: Any,
    ) -> list[int]:  # fmt: skip
        """The tokens of a conversation, as the model's template puts it; `variables` are the template's own.

        tokenizer.chat([{"role": "user", "content": "Hello"}])
        """
        text = self.chat_text(messages, tools, add_generation_prompt, **variables)
        return self.encode(text, special=False)  # the template writes what is special

    @boundary
    def chat_text(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None = None, add_generation_prompt: bool = True,
        **variables: Any,
    ) -> str:  # fmt: skip
        """The text of a conversation, as the model's template puts it."""
        return self.template("tool_use" if tools else "default").render(
            messages, tools=tools, add_generation_prompt=add_generation_prompt, **{**self.special.named, **variables}
        )

    def template(self, name: str = "default") -> ChatTemplate:
        """The template of a name, or the model's usual one where it has none of that name."""
        name = name if name in self.templates else "default"
        if name not in self.templates:
            raise value_error(
                "chat", "the model's files hold no chat template", "",
                "put one at tokenizer.templates['default'], or write the text yourself and encode it",
            )  # fmt: skip
        return ChatTemplate(self.templates[name])

    def __repr__(self) -> str:
        return f"Tokenizer({self.vocab_size} tokens, bos {self.bos}, eos {list(self.eos)})"


def _checked(text: Any) -> str:
    if not isinstance(text, str):
        raise type_error("encode", "text is needed", type(text).__name__)
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate: half a character from somewhere that cuts UTF-16.
        return text.encode("utf-8", "replace").decode()
    return text


@functools.cache
def _byte_letters() -> dict[str, int]:
    """The letters by which vocabularies of bytes spell them: a byte that can be printed stands for itself, the others, in
    their order, for the letters from 256 on."""
    plain = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in plain]
    return {**{chr(byte): byte for byte in plain}, **{chr(256 + place): byte for place, byte in enumerate(others)}}
