"""Products of matrices, decompositions, einsum."""
