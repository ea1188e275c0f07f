"""Modules from elsewhere, imported by name."""

from __future__ import annotations

import pytest

from proa.core.elsewhere import from_elsewhere


@pytest.mark.parametrize("name", ["numpy", "jax.numpy", "proawhatever", "a.proa"])
def test_names_of_other_packages_stay_as_they_are(name):
    assert from_elsewhere(name) == name


@pytest.mark.parametrize("name", ["proa", "proa.nn", "proa.nn.functional"])
def test_names_of_the_package_are_refused(name):
    with pytest.raises(ImportError, match=f"{name} is a part of proa itself"):
        from_elsewhere(name)
