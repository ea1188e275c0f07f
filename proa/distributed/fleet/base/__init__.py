"""Strategies, roles and topologies of a job."""
