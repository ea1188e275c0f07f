"""The parts that all families of language models are made of: one attention, one MLP, one norm, one way to know positions.

`block.py` puts them together. What differs between families is in `Config`; how queries meet keys is handed in
(`attend.py`), so that training, a plain cache and a paged one run the same layers. `projection.py` is every product with a
weight that may be quantised or carry an adapter. Nothing here knows a family's name.
"""
