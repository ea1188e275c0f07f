"""The pages of the cache: whoever takes and gives back in whatever order, nothing leaks and nothing is shared by mistake."""

import random

import pytest

from proa.llm.engine.pages import PagePool


def _hold(pool: PagePool, tokens: list[int], root: str = "") -> list[int] | None:
    """What the scheduler does: finds the prefix, takes the rest, keeps full pages. The pages, or None."""
    found, identity = pool.find(tokens[:-1], root)
    wanted = -(-len(tokens) // pool.page_size) - len(found)
    taken = pool.take(wanted)
    if taken is None:
        pool.release(found)
        return None
    pages = found + taken
    for number in range(len(found), len(tokens) // pool.page_size):
        begin = number * pool.page_size
        identity = pool.keep(tokens[begin : begin + pool.page_size], pages[number], identity, root)
        if identity < 0:
            break
    return pages


@pytest.mark.parametrize("keep", [True, False])
def test_pages_never_leak_and_never_hold_another_text(keep: bool) -> None:
    draw = random.Random(5)
    pool = PagePool(24, 4, keep)
    held: list[tuple[list[int], str, list[int]]] = []
    content: dict[int, tuple[str, tuple[int, ...]]] = {}  # what was written into each page, with all before it
    for _ in range(4000):
        if held and draw.random() < 0.5:
            _, _, pages = held.pop(draw.randrange(len(held)))
            pool.release(pages)
        else:
            # Few different tokens, so that prefixes are often equal.
            tokens = [draw.randrange(2) for _ in range(draw.randint(1, 30))]
            root = draw.choice("ab")
            reused = pool.find(tokens[:-1], root)[0]
            pool.release(reused)
            for number, page in enumerate(reused):
                assert content[page] == (root, tuple(tokens[: 4 * (number + 1)]))
            pages = _hold(pool, tokens, root)
            if pages is not None:
                for number in range(len(reused), len(tokens) // 4):
                    content[pages[number]] = (root, tuple(tokens[: 4 * (number + 1)]))
                held.append((tokens, root, pages))
        pool.check([pages for _, _, pages in held])
    for _, _, pages in held:
        pool.release(pages)
    assert pool.in_use == 0
    assert pool.available == 23


def test_a_prefix_is_shared_and_the_longest_unused_goes_first() -> None:
    pool = PagePool(5, 2)
    first = _hold(pool, [1, 2, 3, 4, 5])
    assert first is not None
    second = _hold(pool, [1, 2, 3, 9])
    assert second is not None
    assert second[0] == first[0]
    assert second[1] != first[1]
    pool.release(first)
    pool.release(second)
    assert pool.available == 4
    assert pool.find([1, 2, 3, 4], "")[0] == first[:2]
    pool.release(first[:2])
    taken = pool.take(3)  # two that are kept by nobody or longest unused; the common prefix is the last to go
    assert taken is not None
    assert first[0] not in taken
    assert pool.find([1, 2, 8], "")[0] == first[:1]


def test_taking_too_many_changes_nothing() -> None:
    pool = PagePool(4, 8)
    assert pool.take(4) is None
    assert pool.available == 3
    pages = pool.take(3)
    assert pages is not None
    assert sorted(pages) == [1, 2, 3]
    assert pool.take(1) is None
    pool.release(pages)
    with pytest.raises(AssertionError, match="released more often"):
        pool.release([1])


def test_what_is_forgotten_is_not_found_again() -> None:
    pool = PagePool(6, 2)
    pages = _hold(pool, [1, 2, 3], "a")
    other = _hold(pool, [1, 2, 3], "b")
    assert pages is not None
    assert other is not None
    assert pages[0] != other[0]
    pool.release(pages)
    pool.forget("a")
    assert pool.find([1, 2, 3], "a")[0] == []
    assert pool.find([1, 2, 3], "b")[0] == other[:1]
    pool.check([other, other[:1]])
    pool.forget()
    assert pool.find([1, 2, 3], "b")[0] == []


def test_a_pool_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two pages"):
        PagePool(1, 16)
