# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.signal`: functions of the package that are exported here (collected at import)."""

from proa.ops.transform.frames import frame as frame
from proa.ops.transform.frames import overlap_add as overlap_add
from proa.ops.transform.signal import istft as istft
from proa.ops.transform.signal import stft as stft
