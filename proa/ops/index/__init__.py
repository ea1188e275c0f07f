"""Indexing, gathering, scattering, searching, sorting."""
