"""Taylor mode: how power series go through operations (`paddle.incubate.autograd.taylor`).

    calls.py      what a series is, the call that a rule gets, arithmetic of series
    algebra.py    rules for arithmetic, what moves elements, exponentials and circular functions
    functions.py  rules for further functions, selections, norms and matrices
    derived.py    the rule of elementwise operations that declare none

A rule is a trait of the operation whose declaration names it (`@op(series=series.algebra.linear("x"))`).
"""

from . import algebra, functions

__all__ = ["algebra", "functions"]
