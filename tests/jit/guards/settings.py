"""A module whose values the tests change."""

factor = 2.0
table = {"k": 2.0, "other": 0}


def helper(x, scale=2.0):
    return x * scale
