"""Layers whose weights and activations are bytes: how numbers get there and back, and what is computed with them."""
