"""Operations that the machinery itself uses enter themselves."""

from __future__ import annotations

import numpy as np
import pytest

from proa.core.aval import make_aval
from proa.eager.needed import NEEDED, Needed, needed


def test_every_operation_that_is_needed_has_entered_itself():
    assert set(Needed.__annotations__) == set(vars(NEEDED))
    aval = make_aval((2, 3), np.dtype("float32"))
    np.testing.assert_array_equal(NEEDED.zeros_of_aval(aval).numpy(), np.zeros((2, 3), np.float32))
    np.testing.assert_array_equal(NEEDED.sum_to(NEEDED.ones_of_aval(aval), (1, 3)).numpy(), [[2.0, 2.0, 2.0]])


def test_what_is_not_needed_is_refused():
    with pytest.raises(NameError, match="needs no operation stray; it needs: cast, sum_to"):

        @needed
        def stray():
            """Nobody asks for it."""
