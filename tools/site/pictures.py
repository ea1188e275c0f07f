"""The pictures of docs/pictures, drawn from what `paddle.jit.explain()` reports about three small programs.

    python -m tools.site.pictures          # runs them (half a minute) and writes the SVG files

They are kept in the repository, so that pages show them wherever they are read. Draw them again when what they show has
changed; times in them are those of the machine that drew them.
"""

from __future__ import annotations

import html
import os
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"
COLD, COMPILING, HOT, INK, FAINT = "#ef6c00", "#8e24aa", "#00897b", "#263238", "#90a4ae"


@dataclass
class Step:
    """One step of a training loop, as the report saw it."""

    seconds: float
    size: int
    state: str  # cold, compiling or hot


def watch(step: Any, sizes: list[int]) -> list[Step]:
    """Run `step(size)` for each size, and ask the report before and after."""
    import proa as paddle

    steps = []
    for size in sizes:
        before = paddle.jit.explain()
        started = time.perf_counter()
        step(size)
        seconds = time.perf_counter() - started
        after = paddle.jit.explain()
        compiled, cold = after.compiles > before.compiles, after.cold_runs > before.cold_runs
        steps.append(Step(seconds, size, "compiling" if compiled else "cold" if cold else "hot"))
    return steps


def classifier_steps() -> tuple[list[Step], Any]:
    """A small classifier, whose sizes never change; also what was compiled of it in the end."""
    import numpy as np

    import proa as paddle
    from proa import nn

    paddle.seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    numbers = np.random.default_rng(0)
    images, labels = numbers.normal(size=(128, 256)).astype("float32"), numbers.integers(0, 10, 128)

    def step(_: int) -> None:
        loss = nn.functional.cross_entropy(model(paddle.to_tensor(images)), paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        loss.item()

    steps = watch(step, [128] * 240)
    return steps, paddle.jit.explain()


def sentence_steps() -> tuple[list[Step], Any]:
    """A tagger of sentences, each batch with another length."""
    import numpy as np

    import proa as paddle
    from proa import nn

    paddle.seed(0)
    words, hidden, tags = nn.Embedding(1000, 128), nn.Linear(128, 256), nn.Linear(256, 50)
    parameters = [*words.parameters(), *hidden.parameters(), *tags.parameters()]
    optimizer = paddle.optimizer.Adam(1e-3, parameters=parameters)
    numbers = np.random.default_rng(0)

    def step(length: int) -> None:
        sentence = numbers.integers(0, 1000, (16, length))
        scores = tags(paddle.tanh(hidden(words(paddle.to_tensor(sentence)))))
        wanted = paddle.to_tensor(sentence % 50)
        nn.functional.cross_entropy(scores, wanted).backward()
        optimizer.step()
        optimizer.clear_grad()

    steps = watch(step, [int(length) for length in np.random.default_rng(1).integers(16, 256, 400)])
    return steps, paddle.jit.explain()


def drawing(width: int, height: int, title: str, parts: list[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
            f'font-size="13" role="img" aria-label="{html.escape(title)}">',
            f"<title>{html.escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, colour: str = INK, **attributes: str) -> str:
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{more}>{html.escape(words)}</text>'


def legend(x: float, y: float) -> list[str]:
    parts = []
    for colour, words, width in (
        (COLD, "cold: op by op", 120),
        (COMPILING, "compiles", 90),
        (HOT, "hot: one executable", 0),
    ):
        parts += [f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{colour}"/>', text(x + 10, y, words)]
        x += width
    return parts


def steps_picture(steps: list[Step], title: str, by_size: bool = False) -> str:
    """A dot for each step: its time (logarithmic) over its number, or its size over its number."""
    import math

    width, height, left, top, bottom = 760, 300, 88, 54, 40
    values = [float(step.size) if by_size else math.log10(step.seconds * 1e3) for step in steps]
    low, high = (0.0, max(values) * 1.05) if by_size else (math.floor(min(values)), math.ceil(max(values)))
    colours = {"cold": COLD, "compiling": COMPILING, "hot": HOT}
    across = (width - left - 20) / len(steps)

    def place(value: float) -> float:
        return height - bottom - (value - low) / (high - low) * (height - top - bottom)

    marks = [*range(0, int(high), 64)] if by_size else [*range(int(low), int(high) + 1)]
    parts = [text(left, 22, title, font_weight="bold"), *legend(left + 4, 43)]
    for mark in marks:
        label = str(mark) if by_size else f"{10.0**mark:g} ms"
        parts += [
            f'<line x1="{left}" x2="{width - 20}" y1="{place(mark):.1f}" y2="{place(mark):.1f}" stroke="#eceff1"/>',
            text(left - 6, place(mark) + 4, label, FAINT, text_anchor="end"),
        ]
    for number, (step, value) in enumerate(zip(steps, values, strict=True)):
        radius = 4.5 if step.state == "compiling" else 2.4
        x = left + (number + 0.5) * across
        parts.append(f'<circle cx="{x:.1f}" cy="{place(value):.1f}" r="{radius}" fill="{colours[step.state]}"/>')
    for number in range(0, len(steps) + 1, len(steps) // 4):
        parts.append(text(left + number * across, height - 18, str(number), FAINT, text_anchor="middle"))
    label = "length of the sentences" if by_size else "time of a step"
    parts += [text(width / 2, height - 4, "step", FAINT, text_anchor="middle")]
    parts += [text(16, height / 2, label, FAINT, transform=f"rotate(-90 16 {height / 2})", text_anchor="middle")]
    return drawing(width, height, title, parts)


def programs_picture(explanation: Any) -> str:
    """The operations of the compiled programs, in the order they were recorded."""
    width, row, left = 760, 34, 20
    phases = {"forward": "#1e88e5", "backward": "#8e24aa", "update": HOT}
    parts: list[str] = []
    y = 58.0
    programs = sorted(explanation.programs, key=lambda each: -each.hits)[:2]
    for number, program in enumerate(programs, start=1):
        words = f"program {number}: {program.operations} operations, run {program.hits} times, "
        words += f"compiled in {program.compile_seconds:.2f} s ({program.reason})"
        parts.append(text(left, y, words, font_weight="bold"))
        y += 12
        x = float(left)
        names = [instruction.operation.name for instruction in program.program.instructions]
        for name, phase in zip(names, phases_of(names), strict=True):
            size = 7.3 * len(name) + 16
            if x + size > width - 20:
                x, y = float(left), y + row
            colour = phases[phase]
            parts += [
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{size:.1f}" height="24" rx="4" fill="{colour}"/>',
                text(
                    x + size / 2, y + 16, name, "#ffffff", text_anchor="middle", font_family="monospace", font_size="12"
                ),
            ]
            x += size + 8
        y += row + 26
    x = left + 4.0
    for name, colour in phases.items():
        parts += [f'<circle cx="{x}" cy="30" r="5" fill="{colour}"/>', text(x + 10, 34, name)]
        x += 90
    return drawing(width, int(y) - 16, "What became of the training step", parts)


def phases_of(operations: list[str]) -> list[str]:
    """Backward begins where the gradient of the loss, 1, is made or first handed on; the update is one operation."""
    found, phase = [], "forward"
    for name in operations:
        if name == "ones" or "grad" in name:
            phase = "backward"
        found.append("update" if "adam" in name else phase)
    return found


def main() -> None:
    # An empty cache folder, so that compiling is seen.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PROA_CACHE_DIR"] = folder
        # One thread each, so that whatever else runs on the machine is seen least.
        os.environ.update(OPENBLAS_NUM_THREADS="1", PROA_NUM_THREADS="1")
        import proa as paddle

        steps, explanation = classifier_steps()
        FOLDER.mkdir(parents=True, exist_ok=True)
        _write("steps.svg", steps_picture(steps, "240 steps of a small classifier, as they came (one thread)"))
        _write("programs.svg", programs_picture(explanation))
        print(Counter(step.state for step in steps), explanation)
        paddle.jit.reset_statistics()
        steps, explanation = sentence_steps()
        _write("sizes.svg", steps_picture(steps, "400 batches of sentences, each of another length", by_size=True))
        print(Counter(step.state for step in steps), explanation)


def _write(name: str, content: str) -> None:
    (FOLDER / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
