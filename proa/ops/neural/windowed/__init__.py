"""Functions of windows that move over an input: convolution and pooling."""
