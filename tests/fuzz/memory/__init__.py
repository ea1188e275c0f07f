"""Programs about shared memory: views of views, changes through them, names that go away.

`strided.py` is a small model of Paddle's tensors on NumPy. `writer.py` runs each statement in that model while the
program is being written, once for each repetition with that repetition's numbers, and takes it back where it is not
allowed or leaves the numbers that floats hold exactly. So the model's values are what every run must find, and no
tolerance is needed: `proposals.py` may propose whatever it likes.
"""
