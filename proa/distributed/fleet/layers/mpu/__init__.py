"""Tensor parallelism.

mp_layers.py      layers whose weights are divided; split.py: the same as a function of static programs
mp_ops.py         what they do between processes; sequence_ops.py: exchanges along the sequence
random.py         what processes draw alike, and what each draws for itself
"""
