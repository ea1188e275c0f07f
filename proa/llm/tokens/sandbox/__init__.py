"""A place to run templates of strangers in.

Jinja's sandbox keeps a template from reaching Python's inner life. It does not keep it from looping for ever or from asking
for all memory, and a template comes with every model that is fetched. Here every step that can take long or make something
large is counted, before it is done where its cost depends on its arguments:

- loops and macros count their rounds (a call is written into the body of each when the template is compiled);
- operators, `~`, slices, filters, methods and output count the characters and elements that they make;
- what walks through nested values (comparing, printing, JSON) counts every one that it will meet;
- of filters and methods there are those that templates use; none that makes much out of little.

A template that exceeds its budget is refused, whatever it was about to do.
"""

from __future__ import annotations

from .budget import Budget, limited
from .environment import Environment

__all__ = ["Budget", "Environment", "limited"]
