"""What a graph says about itself: text, StableHLO, the HTML page."""

from __future__ import annotations

import inspect
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import proa as paddle
from proa.graph import Graph, capture
from proa.graph.costs import memory_timeline
from proa.graph.report import amount, count
from proa.static import InputSpec

nn = paddle.nn


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(3, 8, 3)
        self.norm = nn.BatchNorm2D(8)
        self.out = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        y = nn.functional.relu(self.norm(self.conv(x)))
        y = y.mean([2, 3])
        return self.out(y)


def net_graph(*shape: int | None) -> Graph:
    net = Net()
    net.eval()
    return capture(net, [InputSpec(list(shape), "float32", "image")])


def test_the_numbers_are_those_of_the_layers() -> None:
    found = net_graph(2, 3, 16, 16).explain()
    assert found.operations["convolution"] == 2 * (2 * 8 * 14 * 14) * (3 * 3 * 3)
    assert found.operations["product"] == 2 * (2 * 4) * 8
    assert found.operations["reduction"] == 2 * 8 * 14 * 14
    assert found.kinds["normalise_by"] == 1
    assert found.kinds_after["normalise_by"] == 0
    assert len(found.parameters) == 8
    assert found.parameter_bytes == 4 * (8 * 27 + 8 + 4 * 8 + 8 * 4 + 4)
    # The result of the convolution and that of relu at the same time.
    assert found.peak_bytes == 2 * (2 * 8 * 14 * 14) * 4
    assert found.costs.get("results", 32) == 32


def test_the_text_says_what_each_pass_did() -> None:
    text = str(net_graph(2, 3, 16, 16).explain())
    for part in (
        "Net(image: float32[2, 3, 16, 16])",
        "folded_batch_norms",
        "5 captured, 4 after",
        "convolution",
        "FLOPs",
    ):
        assert part in text


def test_unknown_sizes_need_examples() -> None:
    graph = net_graph(None, 3, None, None)
    assert "sizes are unknown" in str(graph.explain())
    with pytest.raises(ValueError, match="give example inputs"):
        graph.stablehlo()
    assert graph.explain([1, 3, 8, 8]).num_operations > 0
    assert graph.explain(paddle.zeros([1, 3, 8, 8])).avals[0].shape == (1, 3, 8, 8)
    graph(paddle.zeros([3, 3, 9, 9]))
    assert graph.explain().avals[0].shape == (3, 3, 9, 9)  # of the last run


@pytest.mark.parametrize(
    ("examples", "error"),
    [
        (([1, 3, 8, 8], [1]), "1 example inputs are needed"),
        (([1, 4, 8, 8],), "input image must be"),
        (([1, 3, None, 8],), "no unknown sizes"),
        ((5,), "a tensor, an InputSpec or a shape"),
    ],
)
def test_bad_examples(examples: tuple[Any, ...], error: str) -> None:
    with pytest.raises((ValueError, TypeError), match=error):
        net_graph(None, 3, None, None).explain(*examples)


def test_stablehlo_is_the_program_after_the_passes() -> None:
    graph = capture(lambda x: x * 0.5 * (1 + paddle.erf(x / 1.3)), [InputSpec([2, 3])])
    text = graph.stablehlo()
    assert "module @" in text
    assert "tensor<2x3xf32>" in text


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert tag not in ("script", "link", "img", "iframe")
        assert not any(name in ("src", "href") for name, _ in attrs)
        if tag not in ("meta", "polygon"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "polygon":
            assert self.open.pop() == tag


def test_the_page_is_whole_and_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    net_graph(2, 3, 16, 16).report(path)
    text = path.read_text()
    checker = _Checker()
    checker.feed(text)
    assert checker.open == []
    assert "svg" in checker.tags
    assert "http" not in text.replace("http-equiv", "")
    line = inspect.getsourcelines(Net.forward)[1] + 1
    assert f"test_report.py:{line}<" in text  # relu(norm(conv(x)))
    for part in ("folded_batch_norms", "StableHLO", "Instructions as captured", "Intermediate values take at most"):
        assert part in text
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    graph = capture(lambda x: x + 1.0, [InputSpec([2], name="<script>alert(1)</script>")], name="<b>&")
    text = Path(graph.report(tmp_path / "r.html")).read_text()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_a_report_of_unknown_sizes_and_one_that_cannot_be_written(tmp_path: Path) -> None:
    graph = net_graph(None, 3, None, None)
    assert "Sizes are unknown" in Path(graph.report(tmp_path / "r.html")).read_text()
    with pytest.raises(OSError):
        graph.report(tmp_path / "missing" / "r.html")


def test_memory_is_freed_after_the_last_use() -> None:
    graph = capture(lambda x: ((x + 1.0).exp().sum() + x).tanh(), [InputSpec([256])])
    # add 1 KiB; exp: two alive; sum: one and a number; add: a number and one; tanh: two
    assert memory_timeline(graph.program) == [1024, 2048, 1028, 1028, 2048]


def test_amounts_in_words() -> None:
    assert [amount(10), amount(2048), amount(3 << 20), amount(5 << 30)] == ["10 B", "2.0 KiB", "3.0 MiB", "5.0 GiB"]
    assert [count(7), count(1500), count(2.5e9)] == ["7", "1.50 k", "2.50 G"]
