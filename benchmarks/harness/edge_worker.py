"""One model on one runtime for small devices, measured in a process of its own: `edge_worker.py RUNTIME MODEL.onnx SHAPE`.

Imports nothing of proa: it runs in whatever environment has the runtimes. Writes one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

THREADS = 1  # runtimes that spin while they wait would be measured by what else the machine does
Run = Callable[[np.ndarray], np.ndarray]


def ort_format(model: str, folder: str, shape: list[int]) -> tuple[str, Callable[[], Run]]:
    """ONNX Runtime, its own format: the graph after optimisation, in a flat buffer."""
    subprocess.run(
        [sys.executable, "-m", "onnxruntime.tools.convert_onnx_models_to_ort", model, "--output_dir", folder,
         "--optimization_style", "Fixed", "--target_platform", "arm"],
        check=True, capture_output=True,
    )  # fmt: skip
    [path] = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".ort")]
    return path, _onnxruntime(path)


def ort_onnx(model: str, folder: str, shape: list[int]) -> tuple[str, Callable[[], Run]]:
    """ONNX Runtime, the ONNX file as it is: optimised for this processor when it is loaded."""
    return model, _onnxruntime(model)


def _onnxruntime(path: str) -> Callable[[], Run]:
    def load() -> Run:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        return lambda x: session.run(None, {name: x})[0]

    return load


def mnn(model: str, folder: str, shape: list[int]) -> tuple[str, Callable[[], Run]]:
    path = os.path.join(folder, "model.mnn")
    convert = "import sys; from MNN.tools.mnnconvert import main; sys.exit(main())"
    result = subprocess.run(
        [sys.executable, "-c", convert, "-f", "ONNX", "--modelFile", model, "--MNNModel", path, "--bizCode", "MNN"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if not os.path.isfile(path) or not os.path.getsize(path):
        raise RuntimeError(f"MNNConvert wrote nothing: {result.stdout[-200:]} {result.stderr[-200:]}")

    def load() -> Run:
        import MNN

        interpreter = MNN.Interpreter(path)
        session = interpreter.createSession({"numThread": THREADS})
        given = interpreter.getSessionInput(session)
        interpreter.resizeTensor(given, tuple(shape))
        interpreter.resizeSession(session)
        result = interpreter.getSessionOutput(session)

        def run(x: np.ndarray) -> np.ndarray:
            data = MNN.Tensor(tuple(shape), MNN.Halide_Type_Float, x, MNN.Tensor_DimensionType_Caffe)
            given.copyFrom(data)
            interpreter.runSession(session)
            sizes = result.getShape()
            host = MNN.Tensor(sizes, MNN.Halide_Type_Float, np.zeros(sizes, np.float32), MNN.Tensor_DimensionType_Caffe)
            result.copyToHostTensor(host)
            return np.array(host.getNumpyData(), copy=True).reshape(sizes)

        return run

    return path, load


def iree(model: str, folder: str, shape: list[int]) -> tuple[str, Callable[[], Run]]:
    mlir, path = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.vmfb")
    importing = [sys.executable, "-m", "iree.compiler.tools.import_onnx", model, "-o", mlir]
    subprocess.run(importing, check=True, capture_output=True)
    from iree.compiler.tools import compile_file

    compile_file(
        mlir, input_type="onnx", target_backends=["llvm-cpu"], output_file=path,
        extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"],
    )  # fmt: skip

    def load() -> Run:
        from iree import runtime

        config = runtime.Config("local-sync")
        module = runtime.VmModule.mmap(config.vm_instance, path)
        context = runtime.SystemContext(
            vm_modules=[runtime.create_hal_module(config.vm_instance, config.device), module], config=config
        )
        names = [name for name in module.function_names if not name.startswith("__") and "$" not in name]
        function = context.modules[module.name][names[0]]

        def run(x: np.ndarray) -> np.ndarray:
            found = function(x)
            return np.asarray((found[0] if isinstance(found, (list, tuple)) else found).to_host())

        return run

    return path, load


RUNTIMES = {"ort": ort_format, "ort-onnx": ort_onnx, "mnn": mnn, "iree": iree}


def measure(runtime: str, model: str, shape: list[int]) -> dict[str, Any]:
    x = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    wanted = session.run(None, {session.get_inputs()[0].name: x})[0]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        path, load = RUNTIMES[runtime](model, folder, shape)
        converting = time.perf_counter() - started
        size = os.path.getsize(path)
        started = time.perf_counter()
        run = load()
        loading = time.perf_counter() - started
        started = time.perf_counter()
        found = run(x)
        first = time.perf_counter() - started
        times = []
        while len(times) < 5 or (sum(times) < 3 and len(times) < 200):
            started = time.perf_counter()
            run(x)
            times.append(time.perf_counter() - started)
    error = (
        float(np.abs(found - wanted).max() / max(1e-6, np.abs(wanted).max())) if found.shape == wanted.shape else None
    )
    return {
        "bytes": size, "convert_s": round(converting, 2), "load_ms": round(loading * 1000, 1),
        "first_ms": round(first * 1000, 1), "best_ms": round(min(times) * 1000, 2), "error": error,
    }  # fmt: skip


if __name__ == "__main__":
    try:
        outcome = measure(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
    except Exception as problem:  # what a runtime cannot do is a result
        outcome = {"problem": f"{type(problem).__name__}: {str(problem)[-300:]}"}
    print("\n" + json.dumps(outcome), flush=True)
