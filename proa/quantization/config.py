"""QuantConfig: which layers get which observers and quanters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.errors import failed_check, type_error
from ..nn.activation import ReLU
from ..nn.common import Linear
from ..nn.conv import Conv2D
from ..nn.layer import Layer
from ..nn.pooling import AvgPool2D
from ..nn.quant.qat import QuantedConv2D, QuantedLinear
from ..nn.quant.stub import QuanterStub, Stub
from .factory import QuanterFactory
from .wrapper import ObserveWrapper

DEFAULT_QAT_LAYER_MAPPINGS: dict[type, type] = {Stub: QuanterStub, Linear: QuantedLinear, Conv2D: QuantedConv2D}
DEFAULT_LEAVES: list[type] = [ReLU, AvgPool2D]


class SingleLayerConfig:
    """What rounds the input and the weight of a layer."""

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        for name, given in (("activation", activation), ("weight", weight)):
            if given is not None and not isinstance(given, QuanterFactory):
                raise type_error(
                    "QuantConfig",
                    f"{name} must be an observer or quanter such as AbsmaxObserver(), or None",
                    f"{given!r}",
                )
        self._activation, self._weight = activation, weight

    @property
    def activation(self) -> QuanterFactory | None:
        return self._activation

    @property
    def weight(self) -> QuanterFactory | None:
        return self._weight

    def __str__(self) -> str:
        return f"activation: {self._activation}\nweight: {self._weight}"

    def __repr__(self) -> str:
        return f"SingleLayerConfig(activation={self._activation}, weight={self._weight})"


def _each(given: Any) -> list[Any]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


class QuantConfig:
    """What is quantised and how: for all layers, or for some by object, by name or by type.

    What is said of one layer by its object or name goes before what is said of its type, and that before what holds for the
    layer it is part of; the two arguments hold for all others.

    Args:
        activation: what rounds or watches inputs; None: nothing.
        weight: what rounds or watches weights; None: nothing.

    Examples:
        >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
        >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
        >>> config.add_type_config(paddle.nn.Linear, activation=quanter, weight=quanter)
        >>> model = paddle.quantization.QAT(config).quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2), paddle.nn.ReLU()))
        >>> [type(layer).__name__ for layer in model]
        ['QuantedLinear', 'ReLU']
    """

    def __init__(self, activation: QuanterFactory | None, weight: QuanterFactory | None) -> None:
        nothing = activation is None and weight is None
        self._global_config = None if nothing else SingleLayerConfig(activation, weight)
        self._layer2config: dict[int, SingleLayerConfig] = {}
        self._prefix2config: dict[str, SingleLayerConfig] = {}
        self._type2config: dict[type, SingleLayerConfig] = {}
        self._qat_layer_mapping = dict(DEFAULT_QAT_LAYER_MAPPINGS)
        self._customized_leaves: list[type] = []
        self._details = ""

    # ---- what users say ------------------------------------------------------------------------

    def add_layer_config(
        self,
        layer: Layer | list[Layer],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """For one layer or several, with what is inside of them.

        Args:
            layer: a Layer, or a list of them.
            activation: what rounds or watches inputs.
            weight: what rounds or watches weights.

        Examples:
            >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 2))
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_layer_config(model[0], activation=quanter, weight=quanter)
            >>> [type(layer).__name__ for layer in paddle.quantization.QAT(config).quantize(model)]
            ['QuantedLinear', 'Linear']
        """
        for one in _each(layer):
            if not isinstance(one, Layer):
                raise type_error("QuantConfig.add_layer_config", "layer must be a Layer, or a list of them", f"{one!r}")
            self.add_name_config(one.full_name(), activation, weight)

    def add_name_config(
        self,
        layer_name: str | list[str],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """For layers by their names, as `layer.full_name()` gives them.

        Args:
            layer_name: a name, or a list of them.
            activation: what rounds or watches inputs.
            weight: what rounds or watches weights.

        Examples:
            >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
            >>> model = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 2))
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_name_config(model[1].full_name(), activation=quanter, weight=quanter)
            >>> [type(layer).__name__ for layer in paddle.quantization.QAT(config).quantize(model)]
            ['Linear', 'QuantedLinear']
        """
        for one in _each(layer_name):
            if not isinstance(one, str):
                raise type_error(
                    "QuantConfig.add_name_config",
                    "layer_name must be a layer's full_name(), or a list of them",
                    f"{one!r}",
                )
            self._prefix2config[one] = SingleLayerConfig(activation, weight)

    def add_type_config(
        self,
        layer_type: type[Layer] | list[type[Layer]],
        activation: QuanterFactory | None = None,
        weight: QuanterFactory | None = None,
    ) -> None:
        """For all layers of a class, or of several.

        Args:
            layer_type: a class, or a list of them.
            activation: what rounds or watches inputs.
            weight: what rounds or watches weights.

        Examples:
            >>> quanter = paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver()
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_type_config([paddle.nn.Linear, paddle.nn.Conv2D], weight=quanter)
            >>> model = paddle.quantization.QAT(config).quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)))
            >>> type(model[0]).__name__
            'QuantedLinear'
        """
        for one in _each(layer_type):
            if not (isinstance(one, type) and issubclass(one, Layer)):
                raise type_error(
                    "QuantConfig.add_type_config", "layer_type must be a class of layers, or a list of them", f"{one!r}"
                )
            self._type2config[one] = SingleLayerConfig(activation, weight)

    def add_qat_layer_mapping(self, source: type[Layer], target: type[Layer]) -> None:
        """Layers of class `source` become `target(layer, config)`.

        Examples:
            >>> class Rounded(paddle.nn.Layer):
            ...     def __init__(self, layer, config):
            ...         super().__init__()
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_qat_layer_mapping(paddle.nn.Bilinear, Rounded)
            >>> config.qat_layer_mappings[paddle.nn.Bilinear].__name__
            'Rounded'
        """
        for name, one in (("source", source), ("target", target)):
            if not (isinstance(one, type) and issubclass(one, Layer)):
                raise failed_check(
                    "QuantConfig.add_qat_layer_mapping", f"{name} must be a subclass of paddle.nn.Layer", f"{one!r}"
                )
        self._qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type: type[Layer]) -> None:
        """Layers of this class are treated as a whole: nothing inside of them is quantised.

        Examples:
            >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
            >>> config.add_customized_leaf(paddle.nn.Sequential)
            >>> [layer.__name__ for layer in config.customized_leaves]
            ['Sequential']
        """
        self._customized_leaves.append(layer_type)

    @property
    def customized_leaves(self) -> list[type]:
        """The classes that are treated as a whole.

        Examples:
            >>> paddle.quantization.QuantConfig(activation=None, weight=None).customized_leaves
            []
        """
        return self._customized_leaves

    @property
    def global_config(self) -> SingleLayerConfig | None:
        """What holds for all layers that nothing else is said of.

        Examples:
            >>> print(paddle.quantization.QuantConfig(activation=None, weight=None).global_config)
            None
        """
        return self._global_config

    @property
    def qat_layer_mappings(self) -> dict[type, type]:
        """What layers of a class become in training.

        Examples:
            >>> mappings = paddle.quantization.QuantConfig(activation=None, weight=None).qat_layer_mappings
            >>> mappings[paddle.nn.Linear].__name__
            'QuantedLinear'
        """
        return self._qat_layer_mapping

    @property
    def default_qat_layer_mapping(self) -> dict[type, type]:
        """What layers of a class become in training, unless `add_qat_layer_mapping` says something else.

        Examples:
            >>> mappings = paddle.quantization.QuantConfig(activation=None, weight=None).default_qat_layer_mapping
            >>> mappings[paddle.nn.Conv2D].__name__
            'QuantedConv2D'
        """
        return DEFAULT_QAT_LAYER_MAPPINGS

    # ---- what QAT and PTQ ask ------------------------------------------------------------------

    def _specify(self, model: Layer) -> None:
        """Finds what holds for each layer of a model."""
        self._layer2config = {}
        self._note(model, self._own(model, self._global_config))
        self._details = "\n".join(self._lines("", model, 0))

    def _own(self, layer: Layer, inherited: SingleLayerConfig | None) -> SingleLayerConfig | None:
        return self._prefix2config.get(layer.full_name(), self._type2config.get(type(layer), inherited))

    def _note(self, layer: Layer, config: SingleLayerConfig | None) -> None:
        if config is not None:
            self._layer2config[id(layer)] = config
        for child in layer.children():
            self._note(child, self._own(child, config))

    def _get_config_by_layer(self, layer: Layer) -> SingleLayerConfig | None:
        return self._layer2config.get(id(layer))

    def _is_quantifiable(self, layer: Layer) -> bool:
        return id(layer) in self._layer2config

    def _is_customized_leaf(self, layer: Layer) -> bool:
        return type(layer) in self._customized_leaves

    def _is_real_leaf(self, layer: Layer) -> bool:
        return not layer._sub_layers

    def _is_default_leaf(self, layer: Layer) -> bool:
        return type(layer) in DEFAULT_LEAVES

    def _is_leaf(self, layer: Layer) -> bool:
        return self._is_default_leaf(layer) or self._is_real_leaf(layer) or self._is_customized_leaf(layer)

    def _has_observer_config(self, layer: Layer) -> bool:
        config = self._get_config_by_layer(layer)
        return config is not None and config.activation is not None

    def _need_observe(self, layer: Layer) -> bool:
        return self._is_leaf(layer) and self._has_observer_config(layer)

    def _get_qat_layer(self, layer: Layer) -> Layer:
        return self._qat_layer_mapping[type(layer)](layer, self._get_config_by_layer(layer))

    def _get_observer(self, layer: Layer) -> Any:
        config = self._get_config_by_layer(layer)
        return None if config is None or config.activation is None else config.activation._instance(layer)

    def _get_observe_wrapper(self, layer: Layer) -> ObserveWrapper:
        return ObserveWrapper(self._get_observer(layer), layer)

    # ---- text ----------------------------------------------------------------------------------

    def details(self) -> str:
        """What was configured; after `quantize`, what holds for each layer of the model.

        Examples:
            >>> isinstance(paddle.quantization.QuantConfig(activation=None, weight=None).details(), str)
            True
        """
        return self._details or str(self)

    def _lines(self, name: str, layer: Layer, depth: int) -> Iterable[str]:
        config = self._get_config_by_layer(layer)
        title = f"({name}): {type(layer).__name__}" if name else type(layer).__name__
        yield f"{'  ' * depth}{title}{'' if config is None else f', {config!r}'}"
        for key, child in layer.named_children():
            yield from self._lines(key, child, depth + 1)

    def __str__(self) -> str:
        text = f"Global config:\n{self._global_config}\n"
        if self._type2config:
            text += f"Layer type config:\n{self._type2config}\n"
        if self._prefix2config:
            text += f"Layer prefix config: \n{self._prefix2config}\n"
        return text
