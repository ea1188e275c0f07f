"""The `proa` command."""
