"""Who owns which page of the key/value cache: a fixed number of pages, counted owners, and prefixes that are kept.

Nothing here knows arrays. A page that is full may be *kept*: under its tokens and the page before it, so that another
sequence with the same beginning shares it. Kept pages that nobody uses are free all the same: they are given away, the one
unused for longest first, when no other page is left. So the pool never grows and never leaks, whatever requests do.

Invariants: page 0 belongs to nobody (what is filled up points there); a page has an owner, or is kept, or is in the free
list; the key of a kept page is exact (its tokens and the identity of the page before), so there is no collision to fear.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from ...core.errors import value_error

NOBODYS = 0


class _Kept:
    """A page whose content is known: it is found by `key`, and `identity` stands for it and all before it."""

    __slots__ = ("identity", "key", "page")

    def __init__(self, key: Any, identity: int, page: int) -> None:
        self.key, self.identity, self.page = key, identity, page


class PagePool:
    """`pages` pages of `page_size` tokens each; page 0 is nobody's."""

    def __init__(self, pages: int, page_size: int, keep_prefixes: bool = True) -> None:
        if pages < 2 or page_size < 1:
            raise value_error(
                "PagePool", "a pool has at least two pages of at least one token", f"{pages}, {page_size}"
            )
        self.pages, self.page_size, self.keep_prefixes = pages, page_size, keep_prefixes
        self.owners = [0] * pages
        self._free = list(range(pages - 1, 0, -1))
        self._kept: dict[Any, _Kept] = {}
        self._kept_by_page: dict[int, _Kept] = {}
        self._unused: OrderedDict[int, _Kept] = OrderedDict()  # kept, without owner; the longest unused first
        self._identities = 0

    @property
    def available(self) -> int:
        """Pages that can be taken now."""
        return len(self._free) + len(self._unused)

    @property
    def in_use(self) -> int:
        return self.pages - 1 - self.available

    def take(self, count: int) -> list[int] | None:
        """So many pages of one's own, or None if there are not enough; then nothing has changed."""
        if count > self.available:
            return None
        return [self._take_one() for _ in range(count)]

    def _take_one(self) -> int:
        if self._free:
            page = self._free.pop()
        else:
            page, kept = self._unused.popitem(last=False)
            self._forget(kept)
        self.owners[page] = 1
        return page

    def _forget(self, kept: _Kept) -> None:
        del self._kept[kept.key], self._kept_by_page[kept.page]

    def release(self, pages: Iterable[int]) -> None:
        """Gives back one owner's share of pages. Later ones are let go first: a prefix is of use to more others."""
        for page in reversed(list(pages)):
            self.owners[page] -= 1
            if self.owners[page] > 0:
                continue
            if self.owners[page] < 0:
                raise AssertionError(f"page {page} was released more often than taken")
            kept = self._kept_by_page.get(page)
            if kept is None:
                self._free.append(page)
            else:
                self._unused[page] = kept

    # ---- prefixes ---------------------------------------------------------------------------------

    def keep(self, tokens: Sequence[int], page: int, before: int, root: Any) -> int:
        """Notes that a page holds these tokens, behind those that `before` stands for (0: it is the first, of `root`).

        What stands for it and all before it, to be handed in with the next page. If another page holds the same already,
        this one stays as it is.
        """
        key = (root, before, tuple(tokens))
        found = self._kept.get(key)
        if found is None:
            if not self.keep_prefixes or page in self._kept_by_page:
                return -1
            self._identities += 1
            found = self._kept[key] = self._kept_by_page[page] = _Kept(key, self._identities, page)
        return found.identity

    def find(self, tokens: Sequence[int], root: Any) -> tuple[list[int], int]:
        """Pages that hold the beginning of `tokens`, now also owned by the caller, and what stands for the last."""
        size, pages, identity = self.page_size, [], 0
        for begin in range(0, len(tokens) - size + 1, size):
            kept = self._kept.get((root, identity, tuple(tokens[begin : begin + size])))
            if kept is None:
                break
            pages.append(kept.page)
            identity = kept.identity
            self.owners[kept.page] += 1
            self._unused.pop(kept.page, None)
        return pages, identity

    def forget(self, root: Any = None) -> None:
        """Drops what is kept for a root (an adapter that was replaced), or everything (the pages themselves are lost)."""
        for kept in [kept for kept in self._kept.values() if root is None or kept.key[0] == root]:
            self._forget(kept)
            if self._unused.pop(kept.page, None) is not None:
                self._free.append(kept.page)

    def check(self, owned: Sequence[Sequence[int]]) -> None:
        """AssertionError unless every page is accounted for; `owned`: the pages of each sequence."""
        counts = [0] * self.pages
        for pages in owned:
            for page in pages:
                counts[page] += 1
        assert counts == self.owners, "owners are miscounted"
        assert not counts[NOBODYS], "somebody owns page 0"
        free = set(self._free) | set(self._unused)
        assert len(self._free) + len(self._unused) == len(free), "a page is free twice"
        assert free == {p for p in range(1, self.pages) if not counts[p]}, "a page leaked"
        assert set(self._kept_by_page) == {k.page for k in self._kept.values()}, "kept pages do not agree"
