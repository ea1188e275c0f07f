"""Weights that an engine has packed or handed on are let go, and read again where they are needed."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import inference, nn
from proa.eager.parameter import Parameter
from proa.inference.releasing import ReleasedParameter
from proa.kernels.cpu import fused


class Net(nn.Layer):
    """Two weights large enough to be let go, and a table that every run reads."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(300, 128)
        self.first = nn.Linear(128, 256)
        self.last = nn.Linear(256, 128)

    def forward(self, x: Any) -> Any:
        return self.last(nn.functional.relu(self.first(self.table(x))))


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Net]:
    net = Net()
    net.eval()
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None, None], "int64", "x")])
    return tmp_path / "net", net


def by_numpy(net: Net, x: np.ndarray) -> np.ndarray:
    table, first, last = (p.numpy().astype(np.float64) for p in (net.table.weight, net.first.weight, net.last.weight))
    return np.maximum(table[x] @ first + net.first.bias.numpy(), 0) @ last + net.last.bias.numpy()


def predictor_of(path: Path, engine: str = "xla") -> inference.Predictor:
    config = inference.Config(str(path))
    config.set_engine(engine)
    return inference.create_predictor(config)


def check(predictor: inference.Predictor, net: Net, rows: int, columns: int) -> None:
    x = np.random.default_rng(rows).integers(0, 300, (rows, columns))
    np.testing.assert_allclose(predictor.run([paddle.to_tensor(x)])[0].numpy(), by_numpy(net, x), rtol=1e-4, atol=1e-5)


def released(predictor: inference.Predictor) -> list[tuple[int, ...]]:
    found = predictor._model.loaded.parameters.values()
    return sorted(tuple(p._aval.shape) for p in found if type(p) is ReleasedParameter)


@pytest.mark.skipif(not fused.is_available(), reason="without native kernels nothing is packed")
def test_packed_weights_are_let_go_and_every_shape_is_right(saved: tuple[Path, Net]) -> None:
    path, net = saved
    predictor = predictor_of(path)
    assert released(predictor) == []
    for rows in range(1, 12):  # the first ones are compiled, the others run in buckets or operation by operation
        check(predictor, net, rows, 64)
        assert released(predictor) == [(128, 256), (256, 128)]


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_weights_that_another_library_has_are_let_go(saved: tuple[Path, Net], engine: str) -> None:
    pytest.importorskip(engine)
    path, net = saved
    predictor = predictor_of(path, engine)
    check(predictor, net, 2, 5)
    assert released(predictor) == [(128, 256), (256, 128), (300, 128)]
    check(predictor, net, 3, 7)


def test_files_may_be_removed_or_replaced(saved: tuple[Path, Net], tmp_path: Path) -> None:
    path, net = saved
    predictor = predictor_of(path)
    check(predictor, net, 2, 64)
    other = Net()
    other.eval()
    paddle.jit.save(other, str(tmp_path / "new"), input_spec=[paddle.static.InputSpec([None, None], "int64", "x")])
    os.replace(tmp_path / "new.pdiparams", f"{path}.pdiparams")
    predictor._model.release_all()
    check(predictor, net, 3, 64)
    os.remove(f"{path}.pdiparams")
    seen: list[str] = []
    predictor.register_output_hook(lambda operation, name, tensor: seen.append(operation))
    predictor._model.release_all()
    check(predictor, net, 2, 3)  # hooks see the weights themselves
    assert seen


def test_a_file_that_was_written_over_is_noticed(saved: tuple[Path, Net], tmp_path: Path) -> None:
    path, net = saved
    predictor = predictor_of(path)
    check(predictor, net, 2, 64)
    predictor._model.release_all()
    content = Path(f"{path}.pdiparams").read_bytes()
    predictor.register_output_hook(lambda *_: None)
    for damaged in (content[:1000], bytes(len(content))):
        with open(f"{path}.pdiparams", "r+b") as file:
            file.truncate(0)
            file.write(damaged)
        with pytest.raises(RuntimeError, match=r"net\.pdiparams was written over after the model was loaded"):
            check(predictor, net, 1, 1)
    with open(f"{path}.pdiparams", "r+b") as file:
        file.write(content)
    check(predictor, net, 1, 1)


def test_letting_go_and_looking_from_many_threads(saved: tuple[Path, Net]) -> None:
    model = predictor_of(saved[0])._model
    wanted = {name: p.numpy() for name, p in model.loaded.parameters.items()}
    wrong: list[str] = []

    def work(number: int) -> None:
        for _ in range(100):
            model.release_all()
            for name, parameter in model.loaded.parameters.items():
                if not np.array_equal(parameter.numpy(), wanted[name]):
                    wrong.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert {type(p) for p in model.loaded.parameters.values()} <= {Parameter, ReleasedParameter}


def test_descriptors_are_closed_with_the_predictor(saved: tuple[Path, Net]) -> None:
    import gc

    path, net = saved
    shutil.copy(f"{path}.pdiparams", f"{path}.copy")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        predictor = predictor_of(path)
        check(predictor, net, 1, 4)
    del predictor
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
