"""Temporary."""
def tensor_to_string(array, *, shape, dtype_name, place_text, stop_gradient, prefix="Tensor"):
    return f"{prefix}(shape={shape}, dtype={dtype_name}, place={place_text}, stop_gradient={stop_gradient},\n       {array})"
