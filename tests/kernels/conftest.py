"""Native kernels are tried on small arrays here: elsewhere those are left to XLA."""

from __future__ import annotations

import pytest

from proa.kernels.cpu import products, updates


@pytest.fixture(autouse=True)
def small_work_is_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "WORTHWHILE", 4096)
    monkeypatch.setattr(updates, "WORTHWHILE", 0)
