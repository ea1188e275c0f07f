"""Models with parameters in half precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import proa as paddle
from proa import inference
from proa.formats.paddle.files import read_model

FIXTURES = Path(__file__).parents[1] / "formats" / "paddle" / "reading" / "fixtures" / "json"


def converted(folder: Path, precision: inference.PrecisionType, **options: object) -> Path:
    files = [str(FIXTURES / f"picture.{ending}") for ending in ("json", "pdiparams")]
    made = [str(folder / f"half.{ending}") for ending in ("json", "pdiparams")]
    inference.convert_to_mixed_precision(*files, *made, precision, inference.PlaceType.CPU, **options)  # type: ignore[arg-type]
    return folder / "half"


@pytest.mark.parametrize("precision", [inference.PrecisionType.Half, inference.PrecisionType.Bfloat16])
def test_half_the_space_and_nearly_the_same_numbers(precision: inference.PrecisionType, tmp_path: Path) -> None:
    prefix = converted(tmp_path, precision)
    assert all(array.dtype.itemsize == 2 for array in read_model(prefix).parameters.values())
    with np.load(FIXTURES / "picture.npz") as kept:
        given, wanted = kept["in_0"], kept["out_0_0"]
    [found, _] = inference.create_predictor(inference.Config(str(prefix))).run([paddle.to_tensor(given)])
    assert found.dtype == paddle.float32
    np.testing.assert_allclose(found.numpy(), wanted, atol=0.03)
    assert np.abs(found.numpy() - wanted).max() > 0


def test_what_is_listed_stays_as_it_is(tmp_path: Path) -> None:
    prefix = converted(tmp_path / "new" / "folder", inference.PrecisionType.Half, black_list={"conv2d"})
    kinds = {name: array.dtype.name for name, array in read_model(prefix).parameters.items()}
    assert kinds["conv2d_0.w_0"] == "float32"
    assert kinds["linear_0.w_0"] == "float16"


def test_other_precisions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be Half or Bfloat16"):
        converted(tmp_path, inference.PrecisionType.Int8)
