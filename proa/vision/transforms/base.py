"""`Compose` and `BaseTransform`, which every transform is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import message, value_error


class Compose:
    """Transforms one after the other.

    Args:
        transforms: the transforms.

    Examples:
        >>> transforms = paddle.vision.transforms
        >>> transform = transforms.Compose([transforms.Resize(8), transforms.CenterCrop(4), transforms.ToTensor()])
        >>> transform(np.zeros([16, 16, 3], "uint8")).shape
        paddle.Size([3, 4, 4])
    """

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for number, transform in enumerate(self.transforms):
            try:
                data = transform(data)
            except Exception as error:
                error.add_note(f"in transform {number} of Compose: {type(transform).__name__}")
                raise
        return data

    def __repr__(self) -> str:
        return "\n".join([f"{type(self).__name__}(", *(f"    {transform}" for transform in self.transforms), ")"])


class BaseTransform:
    """A transform of an image, or of the parts of a sample: the base of one's own transforms.

    The method `_apply_<key>` does the work for each part. `_get_params` is called once for a sample, and its result
    is `self.params`, so that one random draw can serve all parts.

    Args:
        keys: what the elements of a tuple are: "image", "coords", "boxes" or "mask"; elements beyond the keys pass
            unchanged. None for ("image",).

    Examples:
        >>> class Invert(paddle.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return 255 - image
        >>> Invert()(np.array([[0, 200]])).tolist()
        [[255, 55]]
    """

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        where = type(self).__name__
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence):
            raise value_error(where, "keys must be a sequence of names", f"keys: {keys!r}")
        for key in keys:
            if self._get_apply(key) is None:
                raise NotImplementedError(
                    message(where, f"there is no method _apply_{key}", f"keys: {keys!r}", "write it in a subclass")
                )
        self.keys = keys
        self.params: Any = None

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        """What all elements of a sample share, such as a random place."""
        return None

    def __call__(self, inputs: Any) -> Any:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        outputs = []
        for key, part in zip(self.keys, parts, strict=False):
            apply = self._get_apply(key)
            outputs.append(part if apply is None else apply(part))
        outputs.extend(parts[len(self.keys) :])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _get_apply(self, key: Any) -> Callable[[Any], Any] | None:
        return getattr(self, f"_apply_{key}", None)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"({type(self).__name__}) write _apply_image to transform images.")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(f"({type(self).__name__}) write _apply_boxes to transform boxes.")

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(f"({type(self).__name__}) write _apply_mask to transform masks.")

    def _apply_coords(self, coords: Any) -> Any:
        raise NotImplementedError(f"({type(self).__name__}) write _apply_coords to transform coordinates.")
