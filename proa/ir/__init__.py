"""The spine below the tensors: op table, Program, trace tree, recorder, tier 0 and tier 1.

Central files: `program.py` and `recorder.py`. May import `proa.core` only. Knows nothing of tensors beyond the few slots
that the recorder fills (`_value`, `_segment`, `_index`, `_aval`).
"""
