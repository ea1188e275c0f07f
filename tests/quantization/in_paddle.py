"""Quantised models of ours in real Paddle: `python -m tests.quantization.in_paddle --paddle PYTHON`.

The network of digits.py in 8 bits, saved in both of Paddle's formats, by its predictor (with and without its passes) and
by its `jit.load`; the answers are compared with ours.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import proa as paddle
from proa.quantization import int8_model
from tests.quantization.digits import NUM_TRAIN, batches, data, trained

_INSIDE = """
import sys, numpy as np, paddle, paddle.inference as inference
folder = sys.argv[1]
x = np.load(folder + "/x.npy")
for form, ending in (("json", ".json"), ("pdmodel", ".pdmodel")):
    for passes in (True, False):
        config = inference.Config(folder + "/" + form + ending, folder + "/" + form + ".pdiparams")
        config.disable_glog_info()
        config.switch_ir_optim(passes)
        predictor = inference.create_predictor(config)
        predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(x)
        predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        np.save(folder + "/%s-predictor-%s.npy" % (form, "passes" if passes else "plain"), found)
np.save(folder + "/json-jit.npy", paddle.jit.load(folder + "/json")(paddle.to_tensor(x)).numpy())
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quantization.in_paddle", description=__doc__)
    parser.add_argument("--paddle", default=os.environ.get("PROA_PARITY_PADDLE_PYTHON"), help="Paddle's interpreter")
    arguments = parser.parse_args()
    if not arguments.paddle:
        parser.error("name an interpreter that has Paddle with --paddle")
    model = int8_model(trained(), [x for x, _ in batches()[:3]])
    x = data()[0][NUM_TRAIN:]
    expected = model(paddle.to_tensor(x)).numpy()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "pdmodel"):
            spec = [paddle.static.InputSpec([None, 1, 8, 8], "float32")]
            paddle.jit.save(model, os.path.join(folder, form), input_spec=spec, format=form)
        np.save(os.path.join(folder, "x.npy"), x)
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        subprocess.run([arguments.paddle, "-c", _INSIDE, folder], check=True, env=environment, stdout=sys.stderr)
        for file in sorted(Path(folder).glob("*-*.npy")):
            found = np.load(file)
            same = float((found.argmax(1) == expected.argmax(1)).mean())
            largest = float(np.abs(found - expected).max() / np.abs(expected).max())
            good = same > 0.998 and largest < 0.1
            failed += not good
            print(
                f"{file.stem:28} answers alike {same:.4f}, largest difference {largest:.1e} {'' if good else 'FAILED'}"
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
