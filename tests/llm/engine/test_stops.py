"""Stop texts across pieces: what is shown is the text before the first of them, however it is cut."""

import random

import pytest

from proa.llm.engine.stops import Stops


def _shown(text: str, stops: list[str]) -> tuple[str, bool]:
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def test_any_cut_shows_the_same_text() -> None:
    draw = random.Random(1)
    found = 0
    for _ in range(3000):
        text = "".join(draw.choice("ab\n") for _ in range(draw.randint(0, 24)))
        stops = ["".join(draw.choice("ab\n") for _ in range(draw.randint(1, 4))) for _ in range(draw.randint(0, 3))]
        matcher, shown, place = Stops(stops), "", 0
        while place < len(text) and matcher.found is None:
            step = draw.randint(1, 5)
            shown += matcher.add(text[place : place + step])
            assert not any(stop in shown for stop in stops)
            place += step
        if matcher.found is None:
            shown += matcher.rest()
        # A stop that is complete is found at once, so nothing behind it was looked at.
        expected, stopped = _shown(text[:place], stops)
        assert (shown, matcher.found is not None) == (expected, stopped)
        found += stopped
    assert 500 < found < 2900


def test_what_follows_a_stop_is_not_shown() -> None:
    matcher = Stops(["END"])
    assert matcher.add("abc E") == "abc "
    assert matcher.add("N") == ""
    assert matcher.add("D more") == ""
    assert matcher.found == "END"
    assert matcher.add("again") == ""
    assert matcher.rest() == ""


@pytest.mark.parametrize("pieces", [["ab", "c"], ["a", "b", "c"]])
def test_the_earliest_of_several_counts(pieces: list[str]) -> None:
    matcher = Stops(["c", "bc"])
    assert "".join(map(matcher.add, pieces)) == "a"
