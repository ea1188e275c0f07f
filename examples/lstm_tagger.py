"""A bidirectional LSTM that tags the words of Python programs: keyword, function, class, module, parameter, …

    python examples/lstm_tagger.py

The data is on every machine: source files of Python's standard library. `ast` says what each name is; the network sees
only the row of tokens, of rare names only how they are spelled. Files that are tested on are not trained on.
"""

from __future__ import annotations

import ast
import io
import keyword
import sysconfig
import tokenize
from collections import Counter
from pathlib import Path

import numpy as np
from common import Arrays, options, start
from rich.progress import track

import proa as paddle
import proa.nn.functional as F
from proa import nn

LENGTH = 64
BATCH = 32
PLAIN = ["other", "keyword", "operator", "number", "text"]
TAGS = [*PLAIN, "function", "class", "parameter", "called", "attribute", "module", "name"]
SPELLINGS = 5  # lower, UPPER, Capital, _private, anything else


def roles(tree: ast.AST, lines: list[str]) -> dict[tuple[int, int], str]:
    """What the names of a program are, by line and column."""
    found: dict[tuple[int, int], str] = {}

    def after(
        node: ast.stmt, word: str, role: str
    ) -> None:  # the tree has no place for the name: look for it in the line
        column = lines[node.lineno - 1].find(word, node.col_offset)
        if column >= 0:
            found[node.lineno, column] = role

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            after(node, node.name, "class" if isinstance(node, ast.ClassDef) else "function")
        elif isinstance(node, ast.arg):
            found[node.lineno, node.col_offset] = "parameter"
        elif isinstance(node, ast.alias):
            found[node.lineno, node.col_offset] = "module"
        elif isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset:
            found.setdefault((node.end_lineno, node.end_col_offset - len(node.attr)), "attribute")
        if isinstance(node, ast.Call) and node.func.end_lineno and node.func.end_col_offset:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found[node.func.end_lineno, node.func.end_col_offset - len(name)] = "called"
    return found


def tagged(file: Path) -> list[tuple[str, str]]:
    """The tokens of a file, each with its tag; nothing for a file that is not plain ASCII or does not parse."""
    source = file.read_text(encoding="utf-8", errors="replace")
    if not source.isascii():
        return []
    try:
        known = roles(ast.parse(source), source.splitlines())
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (SyntaxError, tokenize.TokenError):
        return []
    result: list[tuple[str, str]] = []
    for token in tokens:
        if token.type == tokenize.NAME:
            tag = "keyword" if keyword.iskeyword(token.string) else known.get(token.start, "name")
            result.append((token.string, tag))
        elif token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
            plain = {tokenize.OP: "operator", tokenize.NUMBER: "number", tokenize.STRING: "text"}.get(
                token.type, "other"
            )
            result.append((token.string if plain == "operator" else f"<{tokenize.tok_name[token.type]}>", plain))
    return result


def spelling(word: str) -> int:
    return [word.islower() and word[0] != "_", word.isupper(), word[:1].isupper(), word[:1] == "_", True].index(True)


def windows(files: list[Path], numbers: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of LENGTH tokens as [row, LENGTH, (word, spelling)] and their tags."""
    tokens = [pair for file in files for pair in tagged(file)]
    codes = np.array([(numbers.get(word, 0), spelling(word)) for word, _ in tokens], "int64")
    tags = np.array([TAGS.index(tag) for _, tag in tokens], "int64")
    whole = len(tokens) // LENGTH * LENGTH
    return codes[:whole].reshape(-1, LENGTH, 2), tags[:whole].reshape(-1, LENGTH)


class Tagger(nn.Layer):
    """Embeddings of word and spelling, two bidirectional LSTM layers, scores for each tag."""

    def __init__(self, num_words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(num_words, 64)
        self.spellings = nn.Embedding(SPELLINGS, 8)
        self.lstm = nn.LSTM(72, 64, num_layers=2, direction="bidirect", dropout=0.2)
        self.head = nn.Linear(128, len(TAGS))

    def forward(self, codes: paddle.Tensor) -> paddle.Tensor:
        x = paddle.concat([self.words(codes[:, :, 0]), self.spellings(codes[:, :, 1])], axis=-1)
        return self.head(self.lstm(x)[0])


def main(arguments: list[str] | None = None) -> float:
    """Trains and returns the share of right tags among names (other tokens are easy) in files not trained on."""
    parser = options(__doc__, epochs=3)
    parser.add_argument("--files", type=int, default=40, help="source files to read (default: %(default)s)")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[: chosen.files]
    train_files = [file for number, file in enumerate(files) if number % 5]
    counts = Counter(word for file in train_files for word, _ in tagged(file))
    numbers = {word: number for number, (word, count) in enumerate(counts.most_common(3000), 1) if count > 3}
    codes, tags = windows(train_files, numbers)
    test_codes, test_tags = windows(files[::5], numbers)
    data = Arrays(codes[: chosen.limit], tags[: chosen.limit])
    loader = paddle.io.DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True)
    test_loader = paddle.io.DataLoader(Arrays(test_codes, test_tags), batch_size=BATCH, drop_last=True)

    model = Tagger(len(numbers) + 1)
    rate = paddle.optimizer.lr.OneCycleLR(max_learning_rate=5e-3, total_steps=chosen.epochs * len(loader))
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
    share = 0.0
    for epoch in range(1, chosen.epochs + 1):
        for rows, targets in track(loader, f"epoch {epoch}", total=len(loader), transient=True):
            loss = F.cross_entropy(model(rows), targets)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
        model.eval()
        with paddle.no_grad():
            guesses = np.concatenate([model(rows).argmax(-1).numpy() for rows, _ in test_loader])
        model.train()
        truth = test_tags[: len(guesses)]
        names = truth >= len(PLAIN)
        share = float((guesses == truth)[names].mean())
        always = float((truth[names] == TAGS.index("name")).mean())
        print(f"epoch {epoch}: right {share:.4f} of {names.sum():,} names ({always:.3f} by always saying 'name')")
    return share


if __name__ == "__main__":
    main()
