"""How processes exchange arrays, objects and messages."""
