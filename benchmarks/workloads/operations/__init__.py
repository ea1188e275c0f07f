"""Single operations and chains of them."""
