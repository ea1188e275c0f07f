"""Operations that change shape, order or number of elements."""
