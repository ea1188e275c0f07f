"""Writes a program for a seed."""

from __future__ import annotations

import random

from . import sections, threads
from .memory.sections import REPETITIONS, memory_program
from .memory.writer import Writer
from .model import Variable
from .program import Program
from .readers import generate_readers
from .scope import Scope
from .statements import gradients, wrong
from .statements.table import write_some

PROLOGUE = (
    "import numpy as np",
    "import {module} as paddle",
    "import {module}.nn.functional as F",
    "from tests.fuzz.runtime import changing, record, run_threads",
)


MEMORY_PROLOGUE = (
    "import numpy as np",
    "import {module} as paddle",
    "from tests.fuzz.runtime import given, is_refused, record, vary",
)
MEMORY_SHARE, READER_SHARE = 0.55, 0.08  # of all programs


def generate(seed: int, module: str = "proa") -> Program:
    """The program of a seed. Another module changes the import lines and nothing else."""
    chance = random.Random(f"fuzz program {seed}")
    kind = chance.random()
    if kind < MEMORY_SHARE:
        return generate_memory(seed, module, chance)
    if kind < MEMORY_SHARE + READER_SHARE:
        return generate_readers(seed, module, chance, REPETITIONS)
    return generate_plain(seed, module, chance)


def generate_memory(seed: int, module: str, chance: random.Random) -> Program:
    """A program about shared memory, which the model runs as well."""
    writer = Writer(chance, REPETITIONS)
    for line in MEMORY_PROLOGUE:
        writer.emit(line.format(module=module))
    memory_program(writer)
    return Program(
        seed=seed,
        source="\n".join(writer.lines) + "\n",
        features=frozenset({"memory", *writer.features}),
        repetitions=REPETITIONS,
        has_model=True,
        known=frozenset(writer.known),
    )


def generate_plain(seed: int, module: str, chance: random.Random) -> Program:
    """A program of any operations, whose numbers are kept within bounds."""
    scope = Scope(chance)
    for line in PROLOGUE:
        scope.emit(line.format(module=module))
    first, second, third = chance.sample(range(1, 6), 3)
    scope.dimensions = first, second, third
    with_gradients = scope.decide(0.5)
    with_threads = scope.decide(0.1)
    if scope.decide(0.12) and not with_threads:
        scope.may_be_random = True
        scope.feature("random")
        scope.emit(f"paddle.seed({chance.randint(0, 10_000)})")
    scope.may_mix_precision = scope.decide(0.08)
    write_inputs(scope, with_gradients)
    for section in chance.choices(SECTIONS, WEIGHTS, k=chance.randint(1, 2)):
        section(scope, with_gradients)
    if with_threads:
        with scope.without("may_be_random"):
            threads.threads(scope, with_gradients)
    elif scope.decide(0.05):
        sections.training(scope)
    if with_gradients:
        finish_with_gradients(scope)
    wrong_line, entry = write_wrong(scope) if scope.decide(0.22) else (None, None)
    record_all(scope)
    if {"hook", "several results"} <= scope.features:
        scope.known.add("hook of an unused result")
    return Program(
        seed=seed,
        source="\n".join(scope.lines) + "\n",
        features=frozenset(scope.features),
        repetitions=REPETITIONS,
        mixed_precision=scope.mixed_precision,
        wrong_line=wrong_line,
        wrong_kind=entry,
        known=frozenset(scope.known),
    )


def write_inputs(scope: Scope, with_gradients: bool) -> None:
    """A few tensors whose shapes are made of three sizes, so that they often fit each other."""
    a, b, c = scope.dimensions
    shapes = [(a, b), (b,), (a, 1), (b, c), (a, b), (c, a, b), (1, b), (), (c,), (a, c)]
    for position in range(scope.chance.randint(2, 4)):
        shape = scope.chance.choice(shapes)
        dtype = "float32"
        if position > 0 and scope.decide(0.08 + 0.3 * scope.may_mix_precision):
            dtype = "float64"
            scope.feature("float64")
        leaf = with_gradients and (position == 0 or scope.decide(0.4))
        scope.literal(shape, dtype, leaf=leaf)
    if scope.decide(0.3):
        scope.literal(scope.chance.choice(((a,), (b,), (a, b))), "int64", prefix="n")
        scope.feature("integer")
    if scope.decide(0.15):
        scope.literal((a, b), "bool", prefix="mask")


def straight(scope: Scope, with_gradients: bool) -> None:
    """Statements that run once, now and then in a no_grad block."""
    write_some(scope, scope.chance.randint(3, 8))
    sections.record_some(scope, scope.chance.randint(0, 2))
    if with_gradients and scope.decide(0.25):
        gradients.without_gradients(scope)


def second_order(scope: Scope, with_gradients: bool) -> None:
    if not with_gradients or not gradients.second_order(scope):
        straight(scope, with_gradients)


SECTIONS = (straight, sections.loop, sections.repeated_function, second_order)
WEIGHTS = (4, 4, 4, 1)


def finish_with_gradients(scope: Scope) -> None:
    """A last gradient of what is in reach, where nothing has used it up."""
    if scope.decide(0.06) and gradients.through_view(scope):
        return
    targets = gradients.computed(scope)
    if targets:
        chosen = scope.chance.sample(targets, min(len(targets), scope.chance.randint(1, 3)))
        gradients.backward(scope, chosen)
        if scope.decide(0.3):
            gradients.after_gradients(scope)
    gradients.record_gradients(scope)


def write_wrong(scope: Scope) -> tuple[int | None, str | None]:
    """A wrong statement and a few that follow it, which must not hide whose fault it was."""
    if scope.decide(0.2):
        line, name = wrong.wrong_in_loop(scope), "computed index out of range in a loop"
        if line is None:
            return None, None
    else:
        entry = scope.chance.choice(wrong.TABLE)
        start = len(scope.lines)
        line, name = entry.write(scope), entry.name
        if line is None:
            del scope.lines[start:]
            return None, None
        scope.known |= {entry.known} if entry.known else set()
    scope.feature("wrong", f"wrong: {name}")
    write_some(scope, scope.chance.randint(0, 2), frozenset({"elementwise", "reduction"}))
    if scope.decide(0.5):
        scope.emit("after = bad * 0.5")
    scope.record("bad")
    return line, name


def record_all(scope: Scope) -> None:
    """The last look at what is in reach: the inputs, which may have changed, and the results."""
    known = scope.variables
    results = [variable for variable in known if variable.depth > 0]
    inputs = [variable for variable in known if variable.depth == 0 and variable not in results]

    def sample(group: list[Variable], count: int) -> list[Variable]:
        return scope.chance.sample(group, min(count, len(group)))

    for variable in sample(inputs, 3) + sample(results, 5):
        scope.record(variable.name)
