"""Normalising layers."""
