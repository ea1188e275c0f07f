"""`paddle.hub`: models from a folder, an archive or a repository that describes them in a `hubconf.py`.

`hubconf.py` is Python code of whoever wrote the repository, and it is executed on purpose: use repositories you trust.
Archives are unpacked safely (`archive.py`), and files of weights are data: nothing in them is executed.
"""

from __future__ import annotations

from .repository import help, list, load
from .weights import load_state_dict_from_url

__all__ = ["help", "list", "load", "load_state_dict_from_url"]
