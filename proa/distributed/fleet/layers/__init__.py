"""Layers that divide their weights among processes (`mpu`)."""
