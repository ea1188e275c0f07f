"""Ground floor: data types, places, abstract values, flags, errors, printing. Imports nothing of proa above it."""
