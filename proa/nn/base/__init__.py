"""What layers are made with: parameter attributes, registries, sizes, defaults, further names."""
