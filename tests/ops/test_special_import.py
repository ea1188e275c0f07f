"""A short script does not pay for SciPy where it needs a few values of `erf` alone."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import math, sys
import numpy as np, proa as paddle
x = np.linspace(-5, 5, 1001).astype("float32")
made = paddle.nn.functional.gelu(paddle.to_tensor(x)).numpy()
assert "scipy.special" not in sys.modules
wanted = np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.astype("float64")])
np.testing.assert_allclose(made, wanted, atol=3e-7)
large = paddle.erf(paddle.ones([600, 600])).numpy()
assert "scipy.special" in sys.modules
np.testing.assert_allclose(large, math.erf(1.0), rtol=1e-6)
double = paddle.erf(paddle.to_tensor(np.array(0.3))).numpy()
assert double.dtype == np.float64 and double.shape == () and abs(double - math.erf(0.3)) < 1e-15
"""


def test_few_values_need_no_scipy() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
