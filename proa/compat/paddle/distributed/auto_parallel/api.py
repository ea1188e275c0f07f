"""Inner names of `paddle.distributed.auto_parallel.api`."""


def in_auto_parallel_align_mode() -> bool:
    """Whether gradients are summed as a dynamic job sums them, for comparisons."""
    return False
