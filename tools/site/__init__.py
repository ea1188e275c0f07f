"""The documentation site: `python -m tools.site` (`make docs-site`) writes it to build/site.

| file | what it does |
| --- | --- |
| `stage.py` | copies the pages of docs/ and of the repository's root, and mends their links |
| `reference.py`, `names.py`, `docstrings.py` | a page for each public function and class, and for each namespace |
| `notebooks.py` | the tutorials, with their stored outputs, as pages |
| `pictures.py` | the pictures of docs/pictures, from real reports (`python -m tools.site.pictures`) |
| `check.py` | every page in a headless browser (`python -m tools.site.check`) |

The order of the pages is in mkdocs.yml.
"""
