"""The classes: keys, composition, what they draw, and what they refuse."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from PIL import Image

import proa as paddle

T = paddle.vision.transforms


@pytest.fixture
def array() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def seed() -> None:
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (Paddle draws from there)


class Doubling(T.BaseTransform):
    def _get_params(self, inputs: tuple[Any, ...]) -> int:
        return len(inputs)

    def _apply_image(self, image: Any) -> Any:
        return image * 2

    def _apply_mask(self, mask: Any) -> Any:
        return mask + self.params


def test_keys_say_what_the_parts_are() -> None:
    assert Doubling()(3) == 6
    assert Doubling(keys=("image", "mask"))((1, 10, "label")) == (2, 13, "label")
    assert Doubling()((1, 2)) == (2, 2)
    assert Doubling(keys=("image", "mask"))((1,)) == 2
    with pytest.raises(NotImplementedError, match="no method _apply_label"):
        Doubling(keys=("image", "label"))
    with pytest.raises(ValueError, match="keys must be a sequence"):
        Doubling(keys=3)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="write _apply_boxes"):
        T.Resize(3, keys=["image", "boxes"])((np.zeros((4, 4, 3), "uint8"), [1, 2]))


def test_compose_says_where_it_failed(array: np.ndarray) -> None:
    transform = T.Compose([T.Resize(10), T.CenterCrop(8), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)])
    result = transform(Image.fromarray(array))
    assert result.shape == [3, 8, 8]
    wanted = T.functional.center_crop(Image.fromarray(array).resize((15, 10), Image.Resampling.BILINEAR), 8)
    np.testing.assert_allclose(result.numpy(), np.asarray(wanted).transpose(2, 0, 1) / 127.5 - 1, atol=1e-5)
    with pytest.raises(TypeError) as caught:
        T.Compose([T.Resize(10), T.ToTensor(), lambda x: x, T.Pad(1)])("picture")
    assert "in transform 0 of Compose: Resize" in str(caught.value.__notes__)
    assert repr(T.Compose([])) == "Compose(\n)"


def test_the_same_seeds_take_the_same_crop_as_in_paddle() -> None:
    """Places that PaddlePaddle 3.3.1 drew for a 20 x 30 image after random.seed(0) and numpy.random.seed(0)."""
    places = np.stack(np.mgrid[:20, :30], -1).astype(np.float32)
    places = np.concatenate([places, places[..., :1]], -1)
    seed()
    assert T.RandomResizedCrop(8)._get_param(places) == (1, 6, 18, 20)
    seed()
    assert T.RandomCrop(8)(places)[0, 0, :2].tolist() == [6, 13]
    seed()
    assert T.RandomHorizontalFlip(0.8)(places) is places
    seed()
    assert T.RandomHorizontalFlip(0.9)(places)[0, 0, 1] == 29
    seed()
    angle, moves, scale, shear = T.RandomAffine(10)._get_param((30, 20), (-10, 10), (0.1, 0.2), (0.5, 2), [-10, 10])
    assert (angle, moves, scale, shear) == (
        6.888437030500963, (1, 0), 0.888375125439445, (0.22549442737217085, 0.0),
    )  # fmt: skip
    seed()
    starts, ends = T.RandomPerspective().get_params(30, 20, 0.5)
    assert starts == [[0, 0], [29, 0], [29, 19], [0, 19]]
    assert ends == [[6, 4], [25, 1], [26, 16], [6, 15]]
    seed()
    top, left, height, width, _ = T.RandomErasing(1.0)._get_param(places, 3)
    assert (height, width) == (14, 8)
    assert (top, left) == (3, 3)


def test_a_crop_that_never_fits_is_the_middle() -> None:
    picture = np.arange(20 * 60).reshape(20, 60).astype("float32")
    transform = T.RandomResizedCrop(20, scale=(5.0, 6.0))
    assert transform._get_param(picture) == (0, 16, 20, 27)
    assert transform._get_param(picture.T) == (16, 0, 27, 20)


def test_random_crop_pads_when_needed(array: np.ndarray) -> None:
    for picture in (array, Image.fromarray(array), paddle.to_tensor(array.transpose(2, 0, 1).astype("float32"))):
        result = T.RandomCrop((25, 33), pad_if_needed=True, fill=3)(picture)
        size = result.size if isinstance(result, Image.Image) else result.shape
        assert tuple(size) in ((33, 25), (25, 33, 3), (3, 25, 33))
    same = T.RandomCrop((20, 30))(array)
    np.testing.assert_array_equal(same, array)
    with pytest.raises(ValueError, match=r"larger than the image.*20 x 30.*pad_if_needed"):
        T.RandomCrop(40)(array)


def test_factors_stay_in_their_range(array: np.ndarray) -> None:
    assert T.BrightnessTransform(0.4).value == [0.6, 1.4]
    assert T.BrightnessTransform(3).value == [0, 4]
    assert T.SaturationTransform((0.5, 1.5)).value == (0.5, 1.5)
    assert T.HueTransform(0.1).value == [-0.1, 0.1]
    unchanged = T.ColorJitter(0, 0, 0, 0)(array)
    np.testing.assert_array_equal(unchanged, array)
    seed()
    bright = T.BrightnessTransform((2.0, 2.0))(array)
    np.testing.assert_array_equal(bright, np.clip(array.astype(int) * 2, 0, 255))
    tensor = T.ColorJitter(0.4, 0.4, 0.4, 0.4)(paddle.to_tensor(array.transpose(2, 0, 1).astype("float32") / 255))
    assert 0.0 <= float(tensor.min()) <= float(tensor.max()) <= 1.0


def test_erasing_kinds(array: np.ndarray) -> None:
    seed()
    noisy = T.RandomErasing(1.0, value="random")(paddle.to_tensor(array.transpose(2, 0, 1).astype("float32")))
    changed = (noisy.numpy() != array.transpose(2, 0, 1)).any(axis=0)
    assert changed.sum() == 14 * 8
    assert T.RandomErasing(0.0)(array) is array
    assert T.RandomErasing(1.0, scale=(0.9, 0.99), ratio=(5, 6))(array) is array
    gray = T.RandomErasing(1.0, value=9)(array[:, :, 0])
    assert (gray == 9).sum() >= 14
    with pytest.raises(ValueError, match="one for each of the 3 channels"):
        T.RandomErasing(1.0, value=[1, 2])(array)


def test_transpose_and_grayscale(array: np.ndarray) -> None:
    np.testing.assert_array_equal(T.Transpose()(Image.fromarray(array)), array.transpose(2, 0, 1))
    assert T.Transpose()(array[:, :, 0]).shape == (1, 20, 30)
    assert T.Transpose((1, 0, 2))(paddle.to_tensor(array)).shape == [30, 20, 3]
    assert T.Grayscale(3)(array).shape == (20, 30, 3)
    assert T.Normalize(0.5, 2.0).mean == [0.5, 0.5, 0.5]
    assert T.Normalize([0.5], [0.5])(paddle.ones([1, 2, 2])).shape == [1, 2, 2]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: T.Resize("x"), TypeError, "size must be"),
        (lambda: T.RandomResizedCrop(3, scale=(0, 1)), ValueError, "scale must be"),
        (lambda: T.RandomHorizontalFlip(2), ValueError, "prob must be between 0 and 1"),
        (lambda: T.RandomVerticalFlip("x"), ValueError, "prob must be between 0 and 1"),
        (lambda: T.BrightnessTransform(-1), ValueError, "brightness must not be negative"),
        (lambda: T.ContrastTransform("x"), TypeError, "contrast must be a number or a pair"),
        (lambda: T.SaturationTransform([2, 1]), ValueError, "in order"),
        (lambda: T.HueTransform(0.7), ValueError, "hue must be in order and within"),
        (lambda: T.ColorJitter(-1), ValueError, "brightness"),
        (lambda: T.RandomRotation(-1), ValueError, "degrees must not be negative"),
        (lambda: T.RandomRotation((1, 2, 3)), ValueError, "degrees must be a number or a pair"),
        (lambda: T.RandomAffine(1, translate=(2, 2)), ValueError, "from 0 to 1"),
        (lambda: T.RandomAffine(1, translate=3), TypeError, "translate must be a pair"),
        (lambda: T.RandomAffine(1, scale=(-1, 1)), ValueError, "scale must be positive"),
        (lambda: T.RandomAffine(1, shear=-3), ValueError, "shear"),
        (lambda: T.RandomPerspective(0.5, 2), ValueError, "distortion_scale"),
        (lambda: T.RandomErasing(1.0, scale=3), TypeError, "scale must be a pair"),
        (lambda: T.RandomErasing(1.0, ratio=(0, 1)), ValueError, "ratio must be positive"),
        (lambda: T.RandomErasing(value="x"), ValueError, "'random'"),
        (lambda: T.Pad("x"), TypeError, "padding"),
        (lambda: T.Pad(1, "x"), TypeError, "fill"),
        (lambda: T.Pad(1, 0, "x"), ValueError, "padding_mode"),
        (lambda: T.Transpose()("x"), TypeError, "Transpose"),
        (lambda: T.BaseTransform()(1), NotImplementedError, "write _apply_image"),
    ],
)
def test_wrong_settings_are_refused_at_once(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
