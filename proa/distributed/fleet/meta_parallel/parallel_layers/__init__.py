"""Layers of models that are divided among processes."""

from .pp_layers import LayerDesc, LocalSharedLayerDesc, PipelineLayer, SharedLayerDesc

__all__ = ["LayerDesc", "LocalSharedLayerDesc", "PipelineLayer", "SharedLayerDesc"]
