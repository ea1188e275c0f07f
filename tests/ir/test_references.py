"""Reference counts as the recorder reads them, on whatever interpreter runs."""

from __future__ import annotations

from sys import getrefcount

import numpy as np

import proa as paddle
from proa.ir.recorder import LOCAL
from proa.ir.recording import references
from proa.ir.tiers import executables
from proa.ir.transforms import donation


def test_the_baseline_is_what_an_unshared_object_has_and_another_owner_is_one_more():
    alone, shared = object(), object()
    owner = [shared]
    things = [shared, alone]
    del alone, shared
    counts = []
    while things:
        thing = things.pop()
        counts.append(getrefcount(thing))
    assert counts == [references.HELD_BY_A_NAME, references.HELD_BY_A_NAME + 1]
    assert owner


def test_only_what_nobody_else_refers_to_is_donated():
    kept = np.ones(3)
    assert donation.donatable([np.zeros(3), kept, np.ones(2)]) == (0, 2)


def test_a_value_that_nobody_can_reach_is_not_computed(monkeypatch):
    x = paddle.ones([3])
    x.numpy()
    y = x * 2
    assert (y + 1).stop_gradient  # made, and dropped at once
    z = y + 2
    segment = LOCAL.segment
    z.numpy()
    assert segment.done
    assert y._value is not None  # a name refers to it
    del y
    a = x * 3
    b = a + 1
    del a
    outputs = []
    original = executables.find_entry
    monkeypatch.setattr(
        executables, "find_entry", lambda node, wanted: outputs.append(wanted) or original(node, wanted)
    )
    assert b.numpy().tolist() == [4.0, 4.0, 4.0]
    assert [len(wanted) for wanted in outputs] == [1]
