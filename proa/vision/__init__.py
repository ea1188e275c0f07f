"""`paddle.vision`: models, operations, transforms, datasets and image backends.

Loaded when first asked for; its sub-packages are, too, so that a model does not pay for datasets.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .datasets import *  # noqa: F403 - Paddle offers every dataset, model and transform here as well
    from .image import get_image_backend, image_load, set_image_backend
    from .models import *  # noqa: F403
    from .transforms import *  # noqa: F403

    # isort: split
    # Behind the rest: `transforms` has a module of its own name.
    from . import datasets as datasets
    from . import image as image
    from . import models as models
    from . import ops as ops
    from . import transforms as transforms

_MODULES = ("datasets", "image", "models", "ops", "transforms")
_IMAGE_NAMES = ("get_image_backend", "image_load", "set_image_backend")

__all__ = ["get_image_backend", "image_load", "set_image_backend"]


if not TYPE_CHECKING:  # so that a misspelt name is seen

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return importlib.import_module(f"{__name__}.{name}")
        if name in _IMAGE_NAMES:
            return getattr(importlib.import_module(f"{__name__}.image"), name)
        # Paddle offers every model and transform here as well.
        if not name.startswith("_"):
            for module in ("models", "transforms", "datasets"):
                try:
                    found = importlib.import_module(f"{__name__}.{module}")
                except ModuleNotFoundError as error:
                    if error.name == f"{__name__}.{module}":
                        continue
                    raise
                if name in found.__all__:
                    return getattr(found, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_IMAGE_NAMES})
