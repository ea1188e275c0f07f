"""Strategies, roles and topologies of a job."""

from . import topology as topology
