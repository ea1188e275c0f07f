"""Inner names of `paddle.utils.unique_name`."""

from ....utils.unique_name import generate


def generate_with_ignorable_key(key: str) -> str:
    """A new name that begins with the key."""
    return generate(key)
