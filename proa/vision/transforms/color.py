"""Transforms of values: conversion, normalisation, colour, erased rectangles."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import failed_type_check, type_error, value_error
from ...eager.tensor import Tensor
from ...ops.basic import transpose
from ...ops.create.random import normal
from . import functional as F
from . import random_draws
from .base import BaseTransform, Compose
from .geometric import probability
from .kinds import describe_image, is_array, is_number, is_pil, size_of


class ToTensor(BaseTransform):
    """The image as a tensor; bytes become float32 in [0, 1].

    Args:
        data_format: 'CHW' or 'HWC'.
        keys: as of `BaseTransform`.

    Examples:
        >>> image = paddle.vision.transforms.ToTensor()(np.full([4, 5, 3], 255, "uint8"))
        >>> image.shape, image.max().item()
        (paddle.Size([3, 4, 5]), 1.0)
    """

    def __init__(self, data_format: str = "CHW", keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, image: Any) -> Any:
        return F.to_tensor(image, self.data_format)


class Transpose(BaseTransform):
    """The axes of an image in another order; PIL images become arrays.

    Args:
        order: the axes; `[H, W, C]` becomes `[C, H, W]` by default.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.Transpose()(np.zeros([4, 5, 3])).shape
        (3, 4, 5)
    """

    def __init__(self, order: Sequence[int] = (2, 0, 1), keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.order = order

    def _apply_image(self, image: Any) -> Any:
        if isinstance(image, Tensor):
            return transpose(image, list(self.order))
        if is_pil(image):
            image = np.asarray(image)
        if not is_array(image):
            raise type_error(
                "Transpose", "img must be a PIL image, a NumPy array or a Tensor", f"img: {describe_image(image)}"
            )
        return (image[:, :, None] if image.ndim == 2 else image).transpose(self.order)


class Normalize(BaseTransform):
    """`(image - mean) / std`, channel by channel.

    Args:
        mean: for each channel; one number stands for three channels.
        std: likewise.
        data_format: 'CHW' or 'HWC'.
        to_rgb: whether the channels of an array are reversed first.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.Normalize(mean=100.0, std=50.0)(np.full([3, 1, 1], 150.0, "float32")).flatten().tolist()
        [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        data_format: str = "CHW",
        to_rgb: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.mean: Any = [mean, mean, mean] if is_number(mean) else mean
        self.std: Any = [std, std, std] if is_number(std) else std
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, image: Any) -> Any:
        return F.normalize(image, self.mean, self.std, self.data_format, self.to_rgb)


class Grayscale(BaseTransform):
    """The greys of a colour image.

    Args:
        num_output_channels: 1, or 3 for equal ones.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.Grayscale()(np.full([2, 2, 3], 100, "uint8")).shape
        (2, 2, 1)
    """

    def __init__(self, num_output_channels: int = 1, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, image: Any) -> Any:
        return F.to_grayscale(image, self.num_output_channels)


def _range(where: str, name: str, value: Any, centre: float, bounds: tuple[float, float]) -> Any:
    """(least, greatest) of a factor, from how far it may go from the centre or from both ends; None: no change."""
    if is_number(value):
        if value < 0:
            raise value_error(where, f"{name} must not be negative when it is one number", f"{name}: {value}")
        ends: Any = [centre - value, centre + value]
        if centre:
            ends[0] = max(ends[0], 0)
    elif isinstance(value, (list, tuple)) and len(value) == 2 and all(is_number(part) for part in value):
        ends = value
    else:
        raise type_error(where, f"{name} must be a number or a pair (least, greatest)", f"{name}: {value!r}")
    if not bounds[0] <= ends[0] <= ends[1] <= bounds[1]:
        raise value_error(where, f"{name} must be in order and within {bounds}", f"{name}: {value!r}")
    return None if ends[0] == ends[1] == centre else ends


class _FactorTransform(BaseTransform):
    """One factor drawn from a range, and a function that applies it."""

    _name = ""
    _centre = 1.0
    _bounds = (0.0, math.inf)

    def __init__(self, value: Any, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value = _range(type(self).__name__, self._name, value, self._centre, self._bounds)

    def _apply_image(self, image: Any) -> Any:
        if self.value is None:
            return image
        return self._adjust(image, random.uniform(self.value[0], self.value[1]))

    def _adjust(self, image: Any, factor: float) -> Any:
        raise NotImplementedError


class BrightnessTransform(_FactorTransform):
    """A random brightness from 1 - value to 1 + value.

    Args:
        value: how much; not negative.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.BrightnessTransform(0.5)(np.full([2, 2, 3], 100, "uint8")).shape
        (2, 2, 3)
    """

    _name = "brightness"

    def _adjust(self, image: Any, factor: float) -> Any:
        return F.adjust_brightness(image, factor)


class ContrastTransform(_FactorTransform):
    """A random contrast from 1 - value to 1 + value.

    Args:
        value: how much; not negative.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.ContrastTransform(0.5)(np.full([2, 2, 3], 100, "uint8")).shape
        (2, 2, 3)
    """

    _name = "contrast"

    def _adjust(self, image: Any, factor: float) -> Any:
        return F.adjust_contrast(image, factor)


class SaturationTransform(_FactorTransform):
    """A random saturation from 1 - value to 1 + value.

    Args:
        value: how much; not negative.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.SaturationTransform(0.5)(np.full([2, 2, 3], 100, "uint8")).shape
        (2, 2, 3)
    """

    _name = "saturation"

    def _adjust(self, image: Any, factor: float) -> Any:
        if is_array(image):
            # Paddle draws once more for arrays; without it the same seeds would give other images.
            factor = random_draws.uniform((max(0, 1 - factor), 1 + factor))
        return F.adjust_saturation(image, factor)


class HueTransform(_FactorTransform):
    """A random turn of the hue from -value to value.

    Args:
        value: at most 0.5, half a turn.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.HueTransform(0.5)(np.full([2, 2, 3], 100, "uint8"))[0, 0].tolist()  # grey has no hue
        [100, 100, 100]
    """

    _name = "hue"
    _centre = 0.0
    _bounds = (-0.5, 0.5)

    def _adjust(self, image: Any, factor: float) -> Any:
        return F.adjust_hue(image, factor)


class ColorJitter(BaseTransform):
    """Brightness, contrast, saturation and hue at random, in random order.

    Args:
        brightness: from 1 - brightness to 1 + brightness, or a range.
        contrast: likewise.
        saturation: likewise.
        hue: from -hue to hue, at most 0.5, or a range.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(np.full([2, 2, 3], 100, "uint8")).shape
        (2, 2, 3)
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0,
        contrast: float | Sequence[float] = 0,
        saturation: float | Sequence[float] = 0,
        hue: float | Sequence[float] = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue
        self._get_param(brightness, contrast, saturation, hue, shuffle=False)  # refuses wrong ranges at once

    def _get_param(self, brightness: Any, contrast: Any, saturation: Any, hue: Any, shuffle: bool = True) -> Compose:
        transforms: list[BaseTransform] = []
        if brightness is not None:
            transforms.append(BrightnessTransform(brightness, self.keys))
        if contrast is not None:
            transforms.append(ContrastTransform(contrast, self.keys))
        if saturation is not None:
            transforms.append(SaturationTransform(saturation, self.keys))
        if hue is not None:
            transforms.append(HueTransform(hue, self.keys))
        if shuffle:
            random.shuffle(transforms)
        return Compose(transforms)

    def _apply_image(self, image: Any) -> Any:
        transforms = self._get_param(self.brightness, self.contrast, self.saturation, self.hue).transforms
        for transform in transforms:
            image = transform._apply_image(image)
        return image


class RandomErasing(BaseTransform):
    """A random rectangle set to a colour, with a probability.

    Args:
        prob: the probability.
        scale: the range of the rectangle's share of the area.
        ratio: the range of its height over its width.
        value: the colour, or "random" for noise.
        inplace: whether the image itself changes.
        keys: as of `BaseTransform`.

    Examples:
        >>> erased = paddle.vision.transforms.RandomErasing(prob=1.0)(paddle.ones([3, 16, 16]))
        >>> 0 < (erased == 0).sum().item() < erased.size
        True
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
        inplace: bool = False,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        where = "RandomErasing"
        self.prob = probability(where, prob)
        for name, pair, greatest in (("scale", scale, 1.0), ("ratio", ratio, math.inf)):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise failed_type_check(where, f"{name} must be a pair (least, greatest)", f"{name}: {pair!r}")
            if not 0 <= pair[0] <= pair[1] <= greatest:
                raise value_error(where, f"{name} must be in order, from 0 to {greatest:g}", f"{name}: {pair!r}")
        if ratio[0] == 0:
            raise value_error(where, "ratio must be positive", f"ratio: {ratio!r}")
        if isinstance(value, str):
            if value != "random":
                raise value_error(
                    where, "value must be a number, one for each channel, or 'random'", f"value: {value!r}"
                )
        elif not is_number(value) and not isinstance(value, (list, tuple)):
            raise type_error(where, "value must be a number, one for each channel, or 'random'", f"value: {value!r}")
        self.scale, self.ratio, self.inplace = scale, ratio, inplace
        self.value: Any = value

    def _get_param(self, image: Any, channels: int) -> tuple[int, int, int, int, Any] | None:
        """(top, left, height, width, colour), or None when ten draws were too large."""
        width, height = size_of("RandomErasing", image)
        logarithms = tuple(math.log(bound) for bound in self.ratio)
        for _ in range(10):
            area = random_draws.uniform(self.scale) * height * width
            aspect = math.exp(random_draws.uniform(logarithms))
            rows, columns = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if not (rows < height and columns < width):
                continue
            color = self._color(image, rows, columns, channels)
            top = random_draws.below(height - rows + 1)
            return top, random_draws.below(width - columns + 1), rows, columns, color
        return None

    def _color(self, image: Any, rows: int, columns: int, channels: int) -> Any:
        if isinstance(self.value, str):
            if isinstance(image, Tensor):
                return normal(shape=[channels, rows, columns])
            noise = random_draws.noise(rows, columns, channels)
            if is_array(image) and image.dtype.kind == "f":
                return noise
            # Through integers, because what a negative float becomes as a byte is not defined.
            return (noise * 255).astype(np.int64).astype(np.uint8)
        if is_number(self.value):
            return self.value
        if isinstance(image, Tensor):
            return F.tensor_from_data(np.array(self.value, image._aval.dtype).reshape(-1, 1, 1))
        return np.array(self.value)

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        channels = _channels("RandomErasing", image)
        if not isinstance(self.value, str) and not is_number(self.value) and len(self.value) not in (1, channels):
            raise value_error(
                "RandomErasing", f"value must be a number, or one for each of the {channels} channels",
                f"img: {describe_image(image)}, value: {self.value!r}",
            )  # fmt: skip
        chosen = self._get_param(image, channels)
        return image if chosen is None else F.erase(image, *chosen, self.inplace)


def _channels(where: str, image: Any) -> int:
    size_of(where, image)
    if isinstance(image, Tensor):
        return image._aval.shape[-3] if image._aval.ndim > 2 else 1
    if is_pil(image):
        return len(image.getbands())
    return image.shape[2] if image.ndim == 3 else 1
