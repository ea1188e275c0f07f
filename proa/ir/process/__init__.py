"""The process around XLA: forks, Ctrl-C, and the end of it all."""
