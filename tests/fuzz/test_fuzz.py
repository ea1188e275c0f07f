"""Random programs in both modes, and tests of the generator, the comparison and the watchdog themselves."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from tests.fuzz import cli
from tests.fuzz.compare import Statistics, check_plan, compare
from tests.fuzz.execute import Failure, Outcome, execute
from tests.fuzz.generator import PROLOGUE, generate, generate_plain
from tests.fuzz.minimise import minimise
from tests.fuzz.pool import ROOT, Worker
from tests.fuzz.program import Program
from tests.fuzz.runtime import Entry
from tests.fuzz.statements import wrong
from tests.fuzz.worker import load, save

# Programs written by hand need no tensors: NumPy stands in for the module under test.
STAND_IN = "numpy"


# The random programs


@pytest.mark.timeout(600)
def test_sixty_programs_agree_in_both_modes(capsys):
    status = cli.main(["--programs", "60", "--jobs", "2"])
    assert status == 0, capsys.readouterr().out


@pytest.mark.fuzz
@pytest.mark.timeout(14400)
def test_ten_thousand_programs_agree_in_both_modes(capsys):
    status = cli.main(["--programs", os.environ.get("PROA_FUZZ_PROGRAMS", "10000"), "--jobs", "2"])
    assert status == 0, capsys.readouterr().out


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("variable", "value"),
    [("PROA_HOT_THRESHOLD", "1"), ("PROA_WINDOW", "5")],
    ids=["compiled at first sight", "short segments"],
)
def test_programs_agree_under_other_settings(monkeypatch, capsys, variable, value):
    monkeypatch.setenv(variable, value)
    status = cli.main(["--programs", "300", "--seed", "1000000", "--jobs", "2"])
    assert status == 0, capsys.readouterr().out


# The generator


def digest(seeds: range) -> str:
    text = "".join(generate(seed).source for seed in seeds)
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_seed_always_gives_the_same_program():
    code = "from tests.fuzz.test_fuzz import digest; print(digest(range(40)))"  # in a process with another hash seed
    environment = dict(os.environ, PYTHONHASHSEED="12345", PYTHONPATH=str(ROOT))
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == digest(range(40))
    assert generate(1).source != generate(2).source


def test_the_module_changes_the_import_lines_only():
    for seed in range(20):
        ours, theirs = generate(seed, "proa").source.splitlines(), generate(seed, "paddle").source.splitlines()
        different = [a for a, b in zip(ours, theirs, strict=True) if a != b]
        assert different[0] == "import proa as paddle"
        assert different[1:] in ([], ["import proa.nn.functional as F"])


REQUIRED = {
    "add_", "argmax", "boolean mask", "branch on value", "carried value", "cast", "caught error", "changing scalar",
    "clear_grad", "comparison", "concat", "convolution", "deletion", "dropout", "early read", "elementwise", "expand",
    "float64", "function", "gradient", "gradient in thread", "gradient through view", "hook", "hot error", "hot loop",
    "in-place on alias", "in-place on base of view", "in-place on view", "integer", "integer tensor index",
    "kept for later", "loop", "loop over rows", "loop over values", "loss", "manual update", "masked setitem",
    "matmul", "no_grad", "None in subscript", "paddle.grad", "random", "rebinding", "reduction", "reshape",
    "retain_graph", "retain_grads", "second order", "setitem", "several results", "slice view", "slice with step",
    "softmax", "sorting", "split", "stack", "threads", "through NumPy", "training", "transpose", "unsqueeze", "view",
    "where", "while on value", "wrong",
}  # fmt: skip


def plain(seed: int) -> Program:
    """A program of the kind that is neither about shared memory nor about threads that read."""
    return generate_plain(seed, "proa", random.Random(f"fuzz program {seed}"))


def test_every_feature_appears_within_three_hundred_seeds():
    found = set().union(*(plain(seed).features for seed in range(300)))
    assert found >= REQUIRED, sorted(REQUIRED - found)


def test_every_kind_of_wrong_statement_appears():
    kinds = {plain(seed).wrong_kind for seed in range(1500)}
    assert kinds >= {entry.name for entry in wrong.TABLE}


def test_programs_are_short_and_many_of_them_are_hot():
    programs = [plain(seed) for seed in range(300)]
    lengths = sorted(len(program.source.splitlines()) for program in programs)
    hot = sum("hot loop" in program.features for program in programs) / len(programs)
    assert 20 <= lengths[len(lengths) // 2] <= 50
    assert lengths[-1] < 160
    assert 0.3 < hot < 0.6
    for program in programs:
        compile(program.source, program.file_name, "exec")


def test_a_wrong_line_is_a_line_of_the_program():
    programs = [program for program in map(plain, range(200)) if program.wrong_line is not None]
    assert len(programs) > 20
    for program in programs:
        lines = program.source.splitlines()
        assert program.wrong_line is not None
        assert len(PROLOGUE) < program.wrong_line <= len(lines)
        assert any(word in lines[program.wrong_line - 1] for word in ("bad", "backward"))


# Running a program


def written(*lines: str, **facts) -> Program:
    header = ("import numpy as np", "from tests.fuzz.runtime import record, run_threads")
    return Program(seed=-1, source="\n".join((*header, *lines)) + "\n", features=frozenset(), **facts)


def run(*lines: str, **facts) -> Outcome:
    return execute(written(*lines, **facts), STAND_IN)


def test_values_are_recorded_by_name_and_occurrence():
    outcome = run("for step in range(2):", "    record('x', np.full(2, step))", "record('nothing', None)")
    assert outcome.failure is None
    assert list(outcome.entries) == ["x#0", "x#1", "nothing#0"]
    assert np.asarray(outcome.entries["x#1"].value).tolist() == [1, 1]
    assert outcome.entries["x#1"].line == 4
    assert outcome.entries["nothing#0"].value is None


def test_an_error_belongs_to_the_last_line_inside_the_program():
    outcome = run("def f():", "    np.zeros(2).reshape(3)", "f()")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.line, outcome.failure.deferred) == ("ValueError", 4, False)


def test_the_location_that_an_error_carries_comes_first():
    outcome = run("x = 1", "error = IndexError('late')", "error.proa_location = ('<fuzz -1>', 3)", "raise error")
    assert outcome.failure is not None
    assert (outcome.failure.line, outcome.failure.deferred) == (3, True)


def test_an_error_in_a_thread_ends_the_program_at_its_line():
    outcome = run("def f():", "    raise KeyError('x')", "def g():", "    record('g', 1)", "run_threads(f, g)")
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.line) == ("KeyError", 4)
    assert outcome.entries["g#0"].value == 1


# The comparison


def outcome_of(failure: Failure | None = None, **values) -> Outcome:
    entries = {
        f"{name}#0": Entry(f"{name}#0", None if value is None else np.asarray(value)) for name, value in values.items()
    }
    return Outcome(entries, failure, 0.0)


def kinds(first: Outcome, second: Outcome, **facts) -> list[str]:
    return [difference.kind for difference in compare(written("pass", **facts), first, second)]


def test_equal_outcomes_have_no_difference():
    x = np.array([0.5, -1.5], np.float32)
    assert kinds(outcome_of(x=x, n=3, nothing=None), outcome_of(x=x.copy(), n=3, nothing=None)) == []


@pytest.mark.parametrize("magnitude", [0.01, 1.0, 50.0])
def test_float32_must_agree_to_one_in_a_million(magnitude):
    x = np.array([magnitude, 0.25 * magnitude], np.float32)
    allowed = 1e-6 * max(1.0, magnitude)
    close, far = x.copy(), x.copy()
    close[1] += 0.8 * allowed
    far[1] += 1.5 * allowed
    assert kinds(outcome_of(x=x), outcome_of(x=close)) == []
    assert kinds(outcome_of(x=x), outcome_of(x=far)) == ["value"]


def test_float64_must_agree_much_closer_unless_float32_flowed_in():
    x = np.array([0.5, 1.0])
    assert kinds(outcome_of(x=x), outcome_of(x=x + 1e-9)) == ["value"]
    assert kinds(outcome_of(x=x), outcome_of(x=x + 1e-14)) == []
    assert kinds(outcome_of(x=x), outcome_of(x=x + 1e-9), mixed_precision=True) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([True]), np.array([False])),
        (np.zeros(2, np.float32), np.zeros((2, 1), np.float32)),
        (np.zeros(2, np.float32), np.zeros(2)),
        (np.zeros(2, np.float32), None),
        (np.zeros(2, np.float32), np.array([0.0, np.nan], np.float32)),
        (np.array([np.inf], np.float32), np.array([np.inf], np.float32)),  # programs stay finite
    ],
)
def test_other_values_are_a_difference(first, second):
    assert kinds(outcome_of(x=first), outcome_of(x=second)) == ["value"]


def test_another_stop_gradient_is_a_difference():
    first, second = outcome_of(x=np.float32(1)), outcome_of(x=np.float32(1))
    first.entries["x#0"].stop_gradient, second.entries["x#0"].stop_gradient = True, False
    assert kinds(first, second) == ["stop_gradient"]


def test_errors_must_have_the_same_type_and_line():
    reference = outcome_of(Failure("ValueError", 7, "first"))
    assert kinds(reference, outcome_of(Failure("ValueError", 7, "other words"))) == []
    assert kinds(reference, outcome_of(Failure("ValueError", 8, ""))) == ["error line"]
    assert kinds(reference, outcome_of(Failure("IndexError", 7, ""))) == ["error type"]
    assert kinds(reference, outcome_of()) == ["error"]
    assert kinds(outcome_of(), reference) == ["error"]


def test_only_a_late_error_lets_the_program_record_more():
    reference = outcome_of(Failure("IndexError", 7, ""), x=1)
    late = outcome_of(Failure("IndexError", 7, "", deferred=True), x=1, y=2)
    early = outcome_of(Failure("IndexError", 7, ""), x=1, y=2)
    assert kinds(reference, late) == []
    assert kinds(reference, early) == ["missing"]
    assert kinds(late, reference) == ["missing"]


def test_a_program_must_end_as_it_was_planned():
    good, bad = written("pass"), written("pass", wrong_line=5, wrong_kind="some")
    failure = outcome_of(Failure("ValueError", 5, ""))
    assert check_plan(good, outcome_of()) == []
    assert [one.kind for one in check_plan(good, failure)] == ["unplanned error"]
    assert check_plan(bad, failure) == []
    assert [one.kind for one in check_plan(bad, outcome_of())] == ["no error"]
    assert [one.kind for one in check_plan(bad, outcome_of(Failure("ValueError", 4, "")))] == ["unplanned error"]


def test_statistics_tell_how_close_it_was():
    statistics = Statistics()
    x = np.array([0.5], np.float32)
    compare(written("pass"), outcome_of(x=x, y=x), outcome_of(x=x, y=x + np.float32(5.5e-7)), statistics)
    assert (statistics.values, statistics.identical) == (2, 1)
    assert 0.4 < statistics.largest < 0.7
    assert statistics.saved_by_floor == 1


def test_an_outcome_survives_the_way_to_another_interpreter(tmp_path):
    path = str(tmp_path / "outcome.npz")
    outcome = outcome_of(Failure("ValueError", 3, "why"), x=np.arange(3.0), nothing=None)
    outcome.entries["x#0"].stop_gradient = False
    save(path, [outcome, outcome_of(x=np.zeros(2))])
    again, later = load(path)
    assert compare(written("pass"), outcome, again) == []
    assert np.asarray(later.entries["x#0"].value).tolist() == [0, 0]
    assert again.entries["x#0"].stop_gradient is False
    assert again.failure is not None
    assert again.failure.message == "why"


# The watchdog and the minimiser


def ask(*lines: str, seconds: float = 20.0) -> dict:
    worker = Worker(STAND_IN)
    try:
        request = {"seed": 1, "module": STAND_IN, "modes": [None], "source": "\n".join(lines) + "\n"}
        return worker.ask(request, seconds)
    finally:
        worker.close()


def test_a_worker_answers():
    answer = ask("print('to the error stream')")
    assert (answer["seed"], answer["differences"], answer["failure"]) == (1, [], None)


def test_a_hang_is_reported_with_the_line_it_hangs_in():
    answer = ask("import time", "time.sleep(1000)", seconds=1.0)
    (difference,) = answer["differences"]
    assert difference["kind"] == "hang"
    assert "<fuzz 1>" in difference["text"]


def test_a_crash_is_reported():
    answer = ask("import os", "os._exit(7)")
    (difference,) = answer["differences"]
    assert difference["kind"] == "crash"
    assert "exit code 7" in difference["text"]


HEADER = tuple(line.format(module="proa") for line in PROLOGUE)


def test_minimising_keeps_what_the_failure_needs():
    source = "\n".join((*HEADER, "a = 1", "b = 2", "for step in range(6):", "    a = 3", "    b = bad(a)", "c = b"))
    shortest = minimise(source + "\n", lambda text: "bad(" in text)
    assert shortest.splitlines()[len(HEADER) :] == ["for step in range(1):", "    b = bad(a)"]


def test_a_single_statement_of_a_block_leaves_pass_behind():
    source = "\n".join((*HEADER, "if True:", "    a = 1", "else:", "    b = bad()")) + "\n"
    shortest = minimise(source, lambda text: "bad(" in text)
    assert shortest.splitlines()[len(HEADER) :] == ["if True:", "    pass", "else:", "    b = bad()"]
