"""Training loops of models, as each framework writes them."""
