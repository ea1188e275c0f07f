"""Transforms that move pixels: sizes, crops, flips, borders, rotations and the like.

The random ones draw from `random` and `numpy.random` in the order Paddle does: the same seeds take the same crop.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from ...core.errors import failed_check, type_error, value_error
from ...eager.annotations import PaddingLike
from . import functional as F
from . import random_draws
from .base import BaseTransform
from .kinds import borders_of, choice_of, is_number, pair_of, size_of


def probability(where: str, prob: Any) -> float:
    if not is_number(prob) or not 0 <= prob <= 1:
        raise failed_check(where, "prob must be between 0 and 1", f"prob: {prob!r}")
    return prob


class Resize(BaseTransform):
    """The image in another size.

    Args:
        size: height and width; one number is the length of the shorter side, and the shape is kept.
        interpolation: 'nearest', 'bilinear', 'bicubic', 'area' or 'lanczos'.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.Resize([4, 6])(np.zeros([8, 8, 3], "uint8")).shape
        (4, 6, 3)
    """

    def __init__(
        self, size: int | Sequence[int], interpolation: str = "bilinear", keys: Sequence[str] | None = None
    ) -> None:
        super().__init__(keys)
        pair_of("Resize", "size", size)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, image: Any) -> Any:
        return F.resize(image, self.size, self.interpolation)


class RandomResizedCrop(BaseTransform):
    """A random part of the image, resized.

    Args:
        size: height and width of the result, or one number for both.
        scale: the range of the part's share of the area.
        ratio: the range of its width over its height.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomResizedCrop(4)(np.zeros([8, 10, 3], "uint8")).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4, 4.0 / 3),
        interpolation: str = "bilinear",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = pair_of("RandomResizedCrop", "size", size)
        for name, pair in (("scale", scale), ("ratio", ratio)):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not 0 < pair[0] <= pair[1]:
                raise value_error(
                    "RandomResizedCrop", f"{name} must be (least, greatest), positive", f"{name}: {pair!r}"
                )
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _get_param(self, image: Any, attempts: int = 10) -> tuple[int, int, int, int]:
        """(top, left, height, width); the middle when no draw fits."""
        width, height = size_of("RandomResizedCrop", image)
        logarithms = tuple(math.log(bound) for bound in self.ratio)
        for _ in range(attempts):
            area = random_draws.uniform(self.scale) * width * height
            aspect = math.exp(random_draws.uniform(logarithms))
            crop_width, crop_height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < crop_width <= width and 0 < crop_height <= height:
                top = random.randint(0, height - crop_height)
                return top, random.randint(0, width - crop_width), crop_height, crop_width
        crop_width, crop_height = width, height
        if width / height < self.ratio[0]:
            crop_height = round(width / self.ratio[0])
        elif width / height > self.ratio[1]:
            crop_width = round(height * self.ratio[1])
        return (height - crop_height) // 2, (width - crop_width) // 2, crop_height, crop_width

    def _apply_image(self, image: Any) -> Any:
        return F.resize(F.crop(image, *self._get_param(image)), self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of the image.

    Args:
        size: height and width, or one number for both.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.CenterCrop(2)(np.zeros([4, 4, 3])).shape
        (2, 2, 3)
    """

    def __init__(self, size: int | Sequence[int], keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.size = pair_of("CenterCrop", "size", size)

    def _apply_image(self, image: Any) -> Any:
        return F.center_crop(image, self.size)


class RandomHorizontalFlip(BaseTransform):
    """Left becomes right with a probability.

    Args:
        prob: the probability.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomHorizontalFlip(1.0)(np.array([[[1], [2]]]))[:, :, 0].tolist()
        [[2, 1]]
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.prob = probability("RandomHorizontalFlip", prob)

    def _apply_image(self, image: Any) -> Any:
        return F.hflip(image) if random.random() < self.prob else image


class RandomVerticalFlip(BaseTransform):
    """Top becomes bottom with a probability.

    Args:
        prob: the probability.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomVerticalFlip(1.0)(np.array([[[1]], [[2]]]))[:, :, 0].tolist()
        [[2], [1]]
    """

    def __init__(self, prob: float = 0.5, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.prob = probability("RandomVerticalFlip", prob)

    def _apply_image(self, image: Any) -> Any:
        return F.vflip(image) if random.random() < self.prob else image


class Pad(BaseTransform):
    """Adds borders.

    Args:
        padding: one width, (left and right, top and bottom), or (left, top, right, bottom).
        fill: their colour.
        padding_mode: 'constant', 'edge', 'reflect' or 'symmetric'.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.Pad((1, 0, 2, 0))(np.zeros([4, 4, 3], "uint8")).shape
        (4, 7, 3)
    """

    def __init__(
        self,
        padding: PaddingLike,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        borders_of("Pad", padding)
        choice_of("Pad", "padding_mode", padding_mode, F.PAD_MODES)
        if not (is_number(fill) or isinstance(fill, (list, tuple))):
            raise type_error("Pad", "fill must be a number or one for each channel", f"fill: {fill!r}")
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, image: Any) -> Any:
        return F.pad(image, self.padding, self.fill, self.padding_mode)


class RandomCrop(BaseTransform):
    """A random rectangle of a fixed size.

    Args:
        size: height and width, or one number for both.
        padding: borders that are added first, or None.
        pad_if_needed: whether an image that is too small gets borders.
        fill: their colour.
        padding_mode: 'constant', 'edge', 'reflect' or 'symmetric'.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomCrop(4, padding=1)(np.zeros([8, 8, 3], "uint8")).shape
        (4, 4, 3)
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: PaddingLike | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: str = "constant",
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.size = pair_of("RandomCrop", "size", size)
        if padding is not None:
            borders_of("RandomCrop", padding)
        choice_of("RandomCrop", "padding_mode", padding_mode, F.PAD_MODES)
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    def _get_param(self, image: Any, output_size: tuple[int, int]) -> tuple[int, int, int, int]:
        width, height = size_of("RandomCrop", image)
        crop_height, crop_width = output_size
        if (width, height) == (crop_width, crop_height):
            return 0, 0, height, width
        if crop_height > height or crop_width > width:
            raise value_error(
                "RandomCrop", "the crop is larger than the image",
                f"image: {height} x {width}, size: {crop_height} x {crop_width}", "set pad_if_needed=True",
            )  # fmt: skip
        top = random.randint(0, height - crop_height)
        return top, random.randint(0, width - crop_width), crop_height, crop_width

    def _apply_image(self, image: Any) -> Any:
        if self.padding is not None:
            image = F.pad(image, self.padding, self.fill, self.padding_mode)
        width, height = size_of("RandomCrop", image)
        if self.pad_if_needed and width < self.size[1]:
            image = F.pad(image, (self.size[1] - width, 0), self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            image = F.pad(image, (0, self.size[0] - height), self.fill, self.padding_mode)
        return F.crop(image, *self._get_param(image, self.size))


def _angles(where: str, degrees: Any, name: str = "degrees") -> tuple[Any, Any]:
    """A range of angles, from one number (both ways) or from two."""
    if is_number(degrees):
        if degrees < 0:
            raise value_error(where, f"{name} must not be negative when it is one number", f"{name}: {degrees}")
        return -degrees, degrees
    if not isinstance(degrees, (list, tuple)) or len(degrees) != 2:
        raise value_error(where, f"{name} must be a number or a pair (least, greatest)", f"{name}: {degrees!r}")
    return degrees[0], degrees[1]


class RandomRotation(BaseTransform):
    """A turn by a random angle.

    Args:
        degrees: the range of the angle; one number for (-degrees, degrees).
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        expand: whether the result is large enough to hold all of it.
        center: what is turned about; None for the middle.
        fill: the colour outside.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomRotation(30)(np.zeros([8, 8, 3], "uint8")).shape
        (8, 8, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: str = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        self.degrees = _angles("RandomRotation", degrees)
        super().__init__(keys)
        self.interpolation, self.expand, self.center, self.fill = interpolation, expand, center, fill

    def _get_param(self, degrees: Any) -> float:
        return random.uniform(degrees[0], degrees[1])

    def _apply_image(self, image: Any) -> Any:
        return F.rotate(image, self._get_param(self.degrees), self.interpolation, self.expand, self.center, self.fill)


class RandomAffine(BaseTransform):
    """A random turn, move, scale and shear.

    Args:
        degrees: the range of the angle; one number for (-degrees, degrees).
        translate: at most which parts of width and height; None for no move.
        scale: the range of the factor, or None.
        shear: the range of the shear in degrees, or None.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        fill: the colour outside.
        center: what is turned about; None for the middle.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomAffine(30, translate=(0.1, 0.1))(np.zeros([8, 8, 3], "uint8")).shape
        (8, 8, 3)
    """

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: str = "nearest",
        fill: float | Sequence[float] = 0,
        center: Sequence[float] | None = None,
        keys: Sequence[str] | None = None,
    ) -> None:
        where = "RandomAffine"
        self.degrees = [float(angle) for angle in _angles(where, degrees)]
        super().__init__(keys)
        for name, pair in (("translate", translate), ("scale", scale)):
            if pair is not None and (not isinstance(pair, (list, tuple)) or len(pair) != 2):
                raise type_error(where, f"{name} must be a pair", f"{name}: {pair!r}")
        if translate is not None and not all(0.0 <= part <= 1.0 for part in translate):
            raise value_error(where, "translate is in parts of the image, from 0 to 1", f"translate: {translate!r}")
        if scale is not None and not all(part > 0 for part in scale):
            raise value_error(where, "scale must be positive", f"scale: {scale!r}")
        self.shear: list[float] | None = None
        if shear is not None:
            if isinstance(shear, (list, tuple)) and len(shear) == 4:
                self.shear = [float(part) for part in shear]
            else:
                self.shear = [float(part) for part in _angles(where, shear, "shear")]
        if center is not None and (not isinstance(center, (list, tuple)) or len(center) != 2):
            raise type_error(where, "center must be a pair (x, y)", f"center: {center!r}")
        self.translate, self.scale = translate, scale
        self.interpolation, self.fill, self.center = interpolation, fill, center

    def _get_param(self, img_size: Any, degrees: Any, translate: Any = None, scale_ranges: Any = None,
                   shears: Any = None) -> tuple[float, tuple[int, int], float, tuple[float, float]]:  # fmt: skip
        angle = random.uniform(degrees[0], degrees[1])
        moves = (0, 0)
        if translate is not None:
            reach_x, reach_y = float(translate[0] * img_size[0]), float(translate[1] * img_size[1])
            moves = (int(random.uniform(-reach_x, reach_x)), int(random.uniform(-reach_y, reach_y)))
        scale = 1.0 if scale_ranges is None else random.uniform(scale_ranges[0], scale_ranges[1])
        shear_x = shear_y = 0.0
        if shears is not None:
            shear_x = random.uniform(shears[0], shears[1])
            if len(shears) == 4:
                shear_y = random.uniform(shears[2], shears[3])
        return angle, moves, scale, (shear_x, shear_y)

    def _apply_image(self, image: Any) -> Any:
        size = size_of("RandomAffine", image)
        angle, moves, scale, shears = self._get_param(size, self.degrees, self.translate, self.scale, self.shear)
        return F.affine(image, angle, moves, scale, shears, self.interpolation, self.fill, self.center)


class RandomPerspective(BaseTransform):
    """The image seen from a random side, with a probability.

    Args:
        prob: the probability.
        distortion_scale: how far corners move, from 0 to 1.
        interpolation: 'nearest', 'bilinear' or 'bicubic'.
        fill: the colour outside.
        keys: as of `BaseTransform`.

    Examples:
        >>> paddle.vision.transforms.RandomPerspective(prob=1.0)(np.zeros([8, 8, 3], "uint8")).shape
        (8, 8, 3)
    """

    def __init__(
        self,
        prob: float = 0.5,
        distortion_scale: float = 0.5,
        interpolation: str = "nearest",
        fill: float | Sequence[float] = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.prob = probability("RandomPerspective", prob)
        if not is_number(distortion_scale) or not 0 <= distortion_scale <= 1:
            raise value_error(
                "RandomPerspective",
                "distortion_scale must be between 0 and 1",
                f"distortion_scale: {distortion_scale!r}",
            )
        self.distortion_scale, self.interpolation, self.fill = distortion_scale, interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[list[list[int]], list[list[int]]]:
        """Four corners and where they go: each is drawn from a rectangle inside of its corner.

        Args:
            width: that of the image.
            height: that of the image.
            distortion_scale: how far corners move, from 0 to 1.

        Returns:
            Four points (x, y), and where they go.

        Examples:
            >>> start, end = paddle.vision.transforms.RandomPerspective().get_params(8, 6, 0.0)
            >>> start == end, start
            (True, [[0, 0], [7, 0], [7, 5], [0, 5]])
        """
        reach_x, reach_y = int(distortion_scale * (width // 2)) + 1, int(distortion_scale * (height // 2)) + 1
        near_x, near_y = (0, reach_x), (0, reach_y)
        far_x, far_y = (width - reach_x, width), (height - reach_y, height)
        corners = ((near_x, near_y), (far_x, near_y), (far_x, far_y), (near_x, far_y))
        ends = [[int(random.uniform(*across)), int(random.uniform(*down))] for across, down in corners]
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], ends

    def _apply_image(self, image: Any) -> Any:
        if random.random() >= self.prob:
            return image
        startpoints, endpoints = self.get_params(*size_of("RandomPerspective", image), self.distortion_scale)
        return F.perspective(image, startpoints, endpoints, self.interpolation, self.fill)
