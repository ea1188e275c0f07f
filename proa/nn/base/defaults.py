"""Classes of one family that differ in a default: `Conv1D` and `Conv2D` in their data format."""

from __future__ import annotations

import inspect
from collections.abc import Callable


def data_format(value: str) -> Callable[[type], type]:
    """Sets the data format a layer has when none is given, and shows it in the signature."""

    def decorate(cls: type) -> type:
        cls._default_format = value
        signature = inspect.signature(cls)
        parameters = [
            parameter.replace(default=value) if name == "data_format" else parameter
            for name, parameter in signature.parameters.items()
        ]
        cls.__signature__ = signature.replace(parameters=parameters)
        return cls

    return decorate
