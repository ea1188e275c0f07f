"""QAT and PTQ: layers are replaced by ones with quanters or observers, and converted when those know their grids."""

from __future__ import annotations

import abc
import copy
from typing import Any

from ..core.errors import failed_check, runtime_error, type_error, warn
from ..nn.layer import Layer
from ..nn.quant.format import ConvertibleQuantedLayer, LinearQuanterDequanter, scales_of
from ..nn.quant.stub import QuanterStub
from .base import BaseObserver
from .config import QuantConfig
from .wrapper import ObserveWrapper


class Quantization(metaclass=abc.ABCMeta):
    """What calibrating and training have in common."""

    def __init__(self, config: QuantConfig) -> None:
        if not isinstance(config, QuantConfig):
            raise type_error(type(self).__name__, "config must be a QuantConfig", f"{config!r}")
        self._config = copy.copy(config)

    @abc.abstractmethod
    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model, with observers or quanters."""

    def _prepared(self, model: Layer, inplace: bool) -> Layer:
        if not isinstance(model, Layer):
            raise type_error(type(self).__name__, "model must be a Layer", f"{type(model).__name__}")
        model = model if inplace else copy.deepcopy(model)
        self._config._specify(model)
        replaced = self._replacement(model)
        if replaced is not model:
            return replaced
        self._replace_inside(model, {})
        return model

    def _replacement(self, layer: Layer) -> Layer:
        """What stands in a layer's place; itself if nothing does."""
        config = self._config
        if not config._is_quantifiable(layer):
            return layer
        if type(layer) in config.qat_layer_mappings and not config._is_customized_leaf(layer):
            return config._get_qat_layer(layer)
        return config._get_observe_wrapper(layer) if config._need_observe(layer) else layer

    def _replace_inside(self, layer: Layer, done: dict[int, Layer]) -> None:
        """A layer that stands at several places stays one layer."""
        for name, child in list(layer._sub_layers.items()):
            if child is None:
                continue
            if id(child) not in done:
                done[id(child)] = self._replacement(child)
                if done[id(child)] is child and not self._config._is_customized_leaf(child):
                    self._replace_inside(child, done)
            layer._sub_layers[name] = done[id(child)]

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """The model for inference: fixed grids, weights in int8 (or as floats, if they are to remain).

        Layers that saw no data while the model was calibrated stay as they were, and are named.
        """
        if not isinstance(model, Layer):
            raise type_error(type(self).__name__, "model must be a Layer", f"{type(model).__name__}")
        model = model if inplace else copy.deepcopy(model)
        found = [layer for layer in model.sublayers(include_self=True) if isinstance(layer, _HOLDERS)]
        if found and not any(_has_seen(layer) for layer in found):
            raise runtime_error(
                f"{type(self).__name__}.convert",
                "no observer has seen any data",
                fix="call the quantised model on some batches between quantize() and convert()",
            )
        unseen: list[str] = []
        converted = self._converted("", model, remain_weight, unseen)
        if converted is model:
            self._convert_inside(model, remain_weight, "", unseen, set())
        if unseen:
            warn(f"({type(self).__name__}.convert) these layers saw no data and are not quantised: {', '.join(unseen)}")
        return converted

    def _convert_inside(self, layer: Layer, remain_weight: bool, path: str, unseen: list[str], done: set[int]) -> None:
        for name, child in list(layer._sub_layers.items()):
            if child is None or id(child) in done:
                continue
            done.add(id(child))
            where = f"{path}{name}"
            changed = self._converted(where, child, remain_weight, unseen)
            layer._sub_layers[name] = changed
            if not isinstance(changed, _HOLDERS):
                self._convert_inside(changed, remain_weight, f"{where}.", unseen, done)

    def _converted(self, where: str, layer: Layer, remain_weight: bool, unseen: list[str]) -> Layer:
        if not isinstance(layer, _HOLDERS) or getattr(layer, "converted", False):
            return layer
        if not _has_seen(layer):
            unseen.append(where or type(layer).__name__)
            return _without_observers(layer)
        if isinstance(layer, ConvertibleQuantedLayer):
            return layer._convert(remain_weight)
        if isinstance(layer._observer, LinearQuanterDequanter) or layer._observer is None:
            return layer
        layer._observer = LinearQuanterDequanter.from_quanter(layer._observer)
        return layer

    def _details(self) -> str:
        return self._config.details()

    def __str__(self) -> str:
        return self._details()


_HOLDERS = (ConvertibleQuantedLayer, ObserveWrapper, QuanterStub)


def _watchers(layer: Any) -> list[Any]:
    """The quanters and observers of activations of a layer."""
    if isinstance(layer, ConvertibleQuantedLayer):
        return [getattr(layer, name, None) for name in layer.activation_quanters()]
    return [layer._observer]


def _has_seen(layer: Any) -> bool:
    return all(scales_of(watcher) is not None for watcher in _watchers(layer) if isinstance(watcher, BaseObserver))


def _without_observers(layer: Any) -> Layer:
    """The layer, computing in floats."""
    if isinstance(layer, ObserveWrapper):
        return layer._observed
    names = [name for name in ("activation_quanter", "weight_quanter", "_observer") if hasattr(layer, name)]
    for name in names:
        setattr(layer, name, None)
    return layer


class QAT(Quantization):
    """Quantisation-aware training: numbers are rounded while the model is trained, so that it learns to live with it.

    Args:
        config: a `QuantConfig` of quanters.

    Examples:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> qat = paddle.quantization.QAT(paddle.quantization.QuantConfig(activation=quanter, weight=quanter))
        >>> model = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)))
        >>> model(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model with quanters in front of its layers and their weights; train it, then `convert` it.

        Args:
            model: a Layer in training mode.
            inplace: whether it is changed itself; otherwise a copy.

        Examples:
            >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
            >>> qat = paddle.quantization.QAT(paddle.quantization.QuantConfig(activation=quanter, weight=quanter))
            >>> model = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)))
            >>> type(model[0]).__name__
            'QuantedLinear'
        """
        if isinstance(model, Layer) and not model.training:
            raise failed_check(
                "QAT.quantize",
                "the model is in evaluation mode",
                fix="call model.train() first, or use PTQ to calibrate",
            )
        return self._prepared(model, inplace)


class PTQ(Quantization):
    """Post-training quantisation: observers watch a trained model on some data, and say how far each grid reaches.

    Args:
        config: a `QuantConfig` of observers.

    Examples:
        >>> observer = paddle.quantization.observers.AbsmaxObserver()
        >>> ptq = paddle.quantization.PTQ(paddle.quantization.QuantConfig(activation=observer, weight=observer))
        >>> observed = ptq.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)).eval())
        >>> outputs = observed(paddle.ones([3, 4]))  # calibrates
        >>> ptq.convert(observed)(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model with observers; run it on calibration data, then `convert` it.

        Args:
            model: a Layer in evaluation mode.
            inplace: whether it is changed itself; otherwise a copy.

        Examples:
            >>> observer = paddle.quantization.observers.AbsmaxObserver()
            >>> ptq = paddle.quantization.PTQ(paddle.quantization.QuantConfig(activation=observer, weight=observer))
            >>> ptq.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)).eval())(paddle.ones([3, 4])).shape
            paddle.Size([3, 2])
        """
        if isinstance(model, Layer) and model.training:
            raise failed_check("PTQ.quantize", "the model is in training mode", fix="call model.eval() first")
        return self._prepared(model, inplace)
