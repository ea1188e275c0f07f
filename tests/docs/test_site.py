"""The site's builder: docstrings, signatures and links become pages; what is wrong is said. MkDocs itself is not needed."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import proa as paddle
from tools.public_names import PublicName, reachable
from tools.site import check, docstrings, names, notebooks, reference, stage

ROOT = Path(__file__).parents[2]

DOCSTRING = """The sum of `x` and y*2. More about it.

    A second paragraph with a <tag>.

    Args:
        x (Tensor, optional): the first
            operand, a|b.
        *others: the rest.

    Returns:
        The sum.

    Raises:
        ValueError: if shapes differ.

    Examples:
        >>> 1 + 1
        2

        >>> for i in range(1):
        ...     print(i)
        0
    """


def test_a_docstring_is_taken_apart() -> None:
    parsed = docstrings.parse(DOCSTRING)
    assert parsed.summary == "The sum of `x` and y*2."
    assert parsed.description.endswith("A second paragraph with a <tag>.")
    assert list(parsed.sections) == ["Parameters", "Returns", "Raises", "Examples"]
    assert [(each.name, each.type, each.text) for each in parsed.entries("Parameters")] == [
        ("x", "Tensor, optional", "the first\noperand, a|b."),
        ("*others", "", "the rest."),
    ]
    assert parsed.entries("Raises")[0].name == "ValueError"


def test_text_of_docstrings_is_shown_as_it_was_written() -> None:
    assert docstrings.prose("a <b> and *c*, `d * <e>`") == r"a &lt;b&gt; and \*c\*, `d * <e>`"
    assert docstrings.cell("a|b and\n `c|d`") == "a&#124;b and `c|d`"


def test_examples_are_one_listing() -> None:
    shown = docstrings.paragraphs(docstrings.parse(DOCSTRING).sections["Examples"])
    assert shown == "```pycon\n>>> 1 + 1\n2\n\n>>> for i in range(1):\n...     print(i)\n0\n```"


@pytest.mark.parametrize(
    "odd", ["", "One line", "Args:", "Args:\n", "Examples:\n    text without an example", ">>> 1", "a\n\n>>> 1\n1"]
)
def test_odd_docstrings_lose_nothing(odd: str) -> None:
    parsed = docstrings.parse(odd)
    everything = " ".join([parsed.description, *parsed.sections.values()])
    assert all(word in everything for word in odd.split() if word != "Examples:")


def test_signatures_are_those_of_python() -> None:
    def example(a, /, b: int, *c, d: str = "x", **e) -> float: ...

    def starred(a, *, b=inspect): ...

    assert names.signature(example, "example") == "example(a, /, b: int, *c, d: str = 'x', **e) -> float"
    assert names.signature(starred, "starred") == "starred(a, *, b=inspect)".replace(
        "b=inspect", f"b={inspect.__name__}"
    )
    long = names.signature(paddle.io.DataLoader, "DataLoader")
    assert long.startswith("DataLoader(\n    dataset")
    assert long.endswith("\n)")


def test_every_path_leads_to_one_page() -> None:
    surface = names.collect("proa.linalg")
    listed = {path for paths in surface.namespaces.values() for path in paths}
    assert "proa.linalg.svd" in listed
    by_value = {id(value) for path, value in reachable() if path in listed}
    assert len(by_value) == len(surface.pages)
    files = [page.file.lower() for page in surface.pages.values()]
    assert len(set(files)) == len(files)


def test_a_page_has_signature_parameters_and_example() -> None:
    def scale(x, factor=2.0):
        """Times a factor.

        Args:
            x (Tensor): what is scaled.
            factor: how much.

        Examples:
            >>> 2 * 3
            6
        """

    page = names.Page(PublicName("proa.scale", "function", scale), ["proa.tensor.scale"], file="proa/scale.md")
    text = reference.name_page(names.Surface({"proa.scale": page}, {}), page)
    assert "```python\nscale(x, factor=2.0)\n```" in text
    assert "| <code>x</code> | <code>Tensor</code> |  | what is scaled. |" in text
    assert "| <code>factor</code> |  | <code>2.0</code> | how much. |" in text
    assert "```pycon\n>>> 2 * 3\n6\n```" in text
    assert "`proa.tensor.scale`" in text


def _repository(folder: Path, page: str) -> Path:
    (folder / "docs").mkdir()
    for name in stage.ROOT_PAGES:
        (folder / name).write_text("# A page\n")
    (folder / "program.py").write_text("print(1)\n")
    (folder / "docs" / "index.md").write_text("# Start\n")
    (folder / "docs" / "page.md").write_text(page)
    return folder


def test_links_are_turned_to_where_pages_are(tmp_path: Path) -> None:
    text = "[a](../CHANGELOG.md#x) [b](../program.py) [c](../README.md) [d](t/n.ipynb)\n```\n[e](../program.py)\n```\n"
    stage.copy_pages(_repository(tmp_path, text), tmp_path / "out")
    written = (tmp_path / "out" / "page.md").read_text()
    assert "[a](project/CHANGELOG.md#x) [b](sources/program.py.md) [c](index.md) [d](t/n.md)" in written
    assert "[e](../program.py)" in written  # code stays as it is
    assert "print(1)" in (tmp_path / "out" / "sources" / "program.py.md").read_text()


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"docs/page.md links to ../gone.py"):
        stage.copy_pages(_repository(tmp_path, "[a](../gone.py)"), tmp_path / "out")


def test_notebooks_show_code_outputs_and_pictures() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]},
        {"output_type": "display_data", "data": {"image/png": "aGk=", "text/plain": "<Figure>"}},
    ]
    cells = [
        {"cell_type": "markdown", "source": "# Title\n[other](other.ipynb)"},
        {"cell_type": "code", "source": "print(1)", "outputs": outputs},
    ]
    text, pictures = notebooks.page({"cells": cells}, "name")
    assert "[other](other.md)" in text
    assert "```python\nprint(1)\n```" in text
    assert "1\n2\n```" in text
    assert pictures == {"name-1.png": b"hi"}
    cells[1]["outputs"] = [{"output_type": "error", "ename": "KeyError"}]
    with pytest.raises(ValueError, match="the notebook name holds an error: KeyError"):
        notebooks.page({"cells": cells}, "name")


def test_tutorials_were_run_to_their_end() -> None:
    paths = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
    assert len(paths) >= 3
    for path in paths:
        code = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1)), path


def test_broken_links_and_places_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html#there">1</a><a href="#top">2</a><img src="p.svg">'
    )
    (tmp_path / "b.html").write_text('<a href="a.html">1</a><a href="/a.html#top">2</a><a href="gone.html">3</a>')
    assert check.broken_links(tmp_path) == [
        "a.html: b.html#there has no such place",
        "a.html: p.svg is not there",
        "b.html: gone.html is not there",
    ]
