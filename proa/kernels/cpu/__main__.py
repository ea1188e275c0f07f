"""`python -m proa.kernels.cpu`: compiles the native kernels now (when an image is made, say), instead of at first use."""

from __future__ import annotations

import sys

from .library import folder, why_not

if __name__ == "__main__":
    reason = why_not()
    print(reason or f"The native kernels are in {folder()}.")
    sys.exit(1 if reason else 0)
