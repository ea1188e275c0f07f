"""Inner names of `paddle.framework.random`."""

from ....core.generator import default_generator


def _manual_program_seed(seed: int) -> None:
    """Seeds the random numbers of static programs: those of everything."""
    default_generator.manual_seed(seed)
