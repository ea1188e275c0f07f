"""A class and the arguments for it: an observer or quanter is made anew for each layer."""

from __future__ import annotations

import abc
import functools
import sys
from collections.abc import Callable
from typing import Any

from ..core.errors import type_error
from .base import BaseQuanter


class ClassWithArguments(metaclass=abc.ABCMeta):
    """A class and what it will be called with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args, self._kwargs = args, kwargs

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._kwargs

    @abc.abstractmethod
    def _get_class(self) -> type:
        """The class that objects are made of."""

    def __str__(self) -> str:
        texts = [*map(str, self.args), *(f"{key}={value}" for key, value in self.kwargs.items())]
        return f"{type(self).__name__}({','.join(texts)})"

    __repr__ = __str__


class QuanterFactory(ClassWithArguments):
    """Makes a quanter or observer for a layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.partial_class: Any = None

    def _instance(self, layer: Any) -> Any:
        if self.partial_class is None:
            self.partial_class = functools.partial(self._get_class(), *self.args, **self.kwargs)
        # The layer comes first in the constructors, in front of the arguments that were given.
        return self._get_class()(layer, *self.args, **self.kwargs)


ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[[type], type]:
    """Decorates a class of quanters: a factory for it gets the given name in the class's module.

    Examples:
        >>> @paddle.quantization.quanter("Coarse")
        ... class CoarseLayer(paddle.quantization.BaseQuanter):
        ...     def __init__(self, layer, step=0.5):
        ...         super().__init__()
        ...         self.step = step
        ...     def forward(self, x):
        ...         return (x / self.step).round() * self.step
        ...     def scales(self): return None
        ...     def zero_points(self): return None
        ...     def quant_axis(self): return -1
        ...     def bit_length(self): return 8
        >>> CoarseLayer(None)(paddle.to_tensor([0.7])).tolist()
        [0.5]
    """
    if not isinstance(class_name, str) or not class_name.isidentifier():
        raise type_error(
            "quanter", "class_name must be the name of the factory", f"{class_name!r}", "write @quanter('Name')"
        )
    caller = sys._getframe(1)

    def decorate(target: type) -> type:
        if not (isinstance(target, type) and issubclass(target, BaseQuanter)):
            raise type_error("quanter", "decorate a subclass of BaseQuanter", f"{target!r}")

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            QuanterFactory.__init__(self, *args, **kwargs)

        body = {"__init__": __init__, "_get_class": lambda self: target, "__module__": target.__module__}
        factory = type(class_name, (QuanterFactory,), {**body, "__doc__": f"Makes {target.__name__} objects."})
        caller.f_globals[class_name] = factory
        names = caller.f_globals.get("__all__")
        if isinstance(names, list) and class_name not in names:
            names.append(class_name)
        return target

    return decorate
