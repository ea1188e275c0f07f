"""Special functions of one or two variables."""
