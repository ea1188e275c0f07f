"""Tensors that lie on the devices of a mesh: placements, layouts, and the layers, loaders and optimisers of such tensors."""
