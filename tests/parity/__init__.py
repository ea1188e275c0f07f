"""Parity: every sample of every public function, through proa and through real PaddlePaddle.

`python -m tests.parity` (or `make parity`) runs both in processes of their own, compares what they give and writes a
table. Central file: `compare.py` (what counts as agreeing). `deliberate.toml` lists the differences that are decided.
"""
