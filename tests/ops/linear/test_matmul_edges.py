"""Matrix products in every arrangement of ranks, transpositions and batches, and bad operands."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import proa as paddle

RANKS = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (2, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((2, 3), (3, 0)),
    ((0, 2, 3), (3, 4)),
]


def _swapped(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) > 1 else shape


def _numpy_product(x: np.ndarray, y: np.ndarray, transpose_x: bool, transpose_y: bool) -> np.ndarray:
    x = np.swapaxes(x, -1, -2) if transpose_x and x.ndim > 1 else x
    y = np.swapaxes(y, -1, -2) if transpose_y and y.ndim > 1 else y
    return np.matmul(x, y)


def _summed_to(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1), keepdims=True).reshape(shape)


def _numpy_gradients(x: np.ndarray, y: np.ndarray, g: np.ndarray, transpose_x: bool, transpose_y: bool) -> Any:
    """Gradients the long way: everything as plain matrices, transposed and summed explicitly."""
    a = x[None, :] if x.ndim == 1 else np.swapaxes(x, -1, -2) if transpose_x else x
    b = y[:, None] if y.ndim == 1 else np.swapaxes(y, -1, -2) if transpose_y else y
    g = g[..., None] if y.ndim == 1 else g
    g = g[..., None, :] if x.ndim == 1 else g
    of_a = _summed_to(np.matmul(g, np.swapaxes(b, -1, -2)), a.shape)
    of_b = _summed_to(np.matmul(np.swapaxes(a, -1, -2), g), b.shape)
    of_x = of_a[0] if x.ndim == 1 else np.swapaxes(of_a, -1, -2) if transpose_x else of_a
    of_y = of_b[:, 0] if y.ndim == 1 else np.swapaxes(of_b, -1, -2) if transpose_y else of_b
    return of_x, of_y


@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize(("left", "right"), RANKS)
def test_values_and_gradients(left: tuple[int, ...], right: tuple[int, ...], flags: tuple[bool, bool]) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=_swapped(left) if flags[0] else left)
    y = random.normal(size=_swapped(right) if flags[1] else right)
    expected = _numpy_product(x, y, *flags)
    g = random.normal(size=expected.shape)
    of_x, of_y = _numpy_gradients(x, y, g, *flags)
    for repetition in range(4):  # the third time it is compiled
        a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (x, y))
        product = paddle.matmul(a, b, *flags)
        assert product.shape == list(expected.shape)
        found = paddle.grad(product, [a, b], paddle.to_tensor(g))
        np.testing.assert_allclose(product.numpy(), expected, atol=1e-12, err_msg=f"repetition {repetition}")
        np.testing.assert_allclose(found[0].numpy(), of_x, atol=1e-12, err_msg=f"repetition {repetition}")
        np.testing.assert_allclose(found[1].numpy(), of_y, atol=1e-12, err_msg=f"repetition {repetition}")


@pytest.mark.parametrize(
    ("left", "right", "flags"),
    [
        ((2, 3), (4, 5), (False, False)),
        ((2, 3), (3, 5), (True, False)),
        ((2, 3), (3, 5), (False, True)),
        ((2,), (3,), (False, False)),
        ((1,), (3,), (False, False)),
        ((5, 2, 3), (6, 3, 4), (False, False)),
        ((5, 2, 3), (5, 4, 3), (False, False)),
    ],
)
def test_shapes_that_do_not_fit_are_named(left: Any, right: Any, flags: Any) -> None:
    x, y = paddle.ones(list(left)), paddle.ones(list(right))
    with pytest.raises(ValueError) as caught:
        paddle.matmul(x, y, *flags)
    text = str(caught.value)
    assert text.startswith("(matmul)")
    assert f"float32{list(left)}" in text
    assert f"float32{list(right)}" in text


def test_operands_that_cannot_be_multiplied() -> None:
    x = paddle.ones([2, 2])
    with pytest.raises(ValueError, match=r"float32\[2, 2\].*float64\[2, 2\]"):
        x @ paddle.ones([2, 2], "float64")
    with pytest.raises(ValueError, match="no dimension"):
        x @ paddle.to_tensor(1.0)
    with pytest.raises(ValueError, match="no dimension"):
        x @ 2.0
    with pytest.raises(TypeError, match="booleans"):
        paddle.matmul(x > 0, x > 0)
    with pytest.raises(TypeError, match="Tensor"):
        paddle.matmul(x, None)


def test_the_operator_takes_arrays_on_both_sides() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    array = np.array([[0.0, 1.0], [1.0, 0.0]], "float32")
    np.testing.assert_array_equal((x @ array).numpy(), [[2, 1], [4, 3]])
    reflected = array @ x
    assert isinstance(reflected, paddle.Tensor)
    np.testing.assert_array_equal(reflected.numpy(), [[3, 4], [1, 2]])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_sum_in_float32(dtype: str) -> None:
    random = np.random.default_rng(3)
    x = paddle.to_tensor(random.normal(size=(8, 4000)), dtype=dtype)
    exact = x.numpy().astype("float64") @ x.numpy().astype("float64").T
    for _ in range(4):
        product = paddle.matmul(x, x, transpose_y=True)
        assert product.dtype == dtype
        # Within one rounding of the result, however many terms were summed.
        np.testing.assert_allclose(product.numpy().astype("float64"), exact, rtol=1e-2, atol=0.5)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
def test_integer_products_are_exact(dtype: str) -> None:
    random = np.random.default_rng(4)
    small = random.integers(0, 5, (6, 7)).astype(dtype)
    for _ in range(4):
        found = paddle.matmul(paddle.to_tensor(small), paddle.to_tensor(small), transpose_y=True).numpy()
        np.testing.assert_array_equal(found, small @ small.T)


def test_integers_beyond_the_digits_of_floating_numbers() -> None:
    big = np.array([[2**40 + 1, 3], [5, 2**31 + 7]])
    for _ in range(4):
        np.testing.assert_array_equal((paddle.to_tensor(big) @ paddle.to_tensor(big)).numpy(), big @ big)


def test_gradients_record_no_transposes() -> None:
    """Transposition is folded into the products, forward and backward."""
    from proa.ir.recorder import LOCAL

    recorded = []
    for flags in itertools.product([False, True], repeat=2):
        x = paddle.to_tensor(np.ones((4, 4)), stop_gradient=False)
        y = paddle.to_tensor(np.ones((4, 4)), stop_gradient=False)
        paddle.matmul(x, y, *flags).backward()
        program = LOCAL.segment.node.program(())
        recorded += [instruction.operation.name for instruction in program.instructions]
        assert x.grad.numpy().shape == (4, 4)
    assert "matmul" in recorded
    assert "transpose" not in recorded


# ---- linear --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (2, 3), (5, 2, 3), (0, 3), (2, 1, 2, 3)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_linear_and_its_gradients(shape: tuple[int, ...], with_bias: bool) -> None:
    random = np.random.default_rng(5)
    arrays = [random.normal(size=shape), random.normal(size=(3, 4)), random.normal(size=4)][: 3 if with_bias else 2]
    expected = arrays[0] @ arrays[1] + (arrays[2] if with_bias else 0)
    g = random.normal(size=expected.shape)
    rows, grads = arrays[0].reshape(-1, 3), g.reshape(-1, 4)
    for _ in range(4):
        tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
        result = paddle.nn.functional.linear(*tensors)
        found = paddle.grad(result, tensors, paddle.to_tensor(g))
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-12)
        np.testing.assert_allclose(found[0].numpy(), g @ arrays[1].T, atol=1e-12)
        np.testing.assert_allclose(found[1].numpy(), rows.T @ grads, atol=1e-12)
        if with_bias:
            np.testing.assert_allclose(found[2].numpy(), grads.sum(0), atol=1e-12)


def test_linear_is_one_instruction_forward_and_three_backward() -> None:
    from proa.ir.recorder import LOCAL

    x = paddle.to_tensor(np.ones((2, 3)), stop_gradient=False)
    weight = paddle.to_tensor(np.ones((3, 4)), stop_gradient=False)
    bias = paddle.to_tensor(np.ones(4), stop_gradient=False)
    paddle.nn.functional.linear(x, weight, bias).backward()
    names = [instruction.operation.name for instruction in LOCAL.segment.node.program(()).instructions]
    assert names == ["linear", "ones", "matmul", "matmul", "sum"]
    assert x.grad.shape == [2, 3]


def test_linear_errors() -> None:
    linear = paddle.nn.functional.linear
    x, weight = paddle.ones([2, 3]), paddle.ones([3, 4])
    with pytest.raises(ValueError, match=r"\(linear\).*float32\[2, 2\].*float32\[3, 4\].*in_features"):
        linear(paddle.ones([2, 2]), weight)
    with pytest.raises(ValueError, match="in_features"):
        linear(x, paddle.ones([4]))
    with pytest.raises(ValueError, match="in_features"):
        linear(x, paddle.ones([2, 3, 4]))
    with pytest.raises(ValueError, match=r"out_features|broadcast"):
        linear(x, weight, paddle.ones([3]))
    with pytest.raises(ValueError, match=r"out_features|broadcast"):
        linear(x, weight, paddle.ones([5, 2, 4]))
    with pytest.raises(ValueError, match="bias has another data type"):
        linear(x, weight, paddle.ones([4], "float64"))


# ---- the other products --------------------------------------------------------------------------


def test_ranks_and_shapes_of_the_other_products() -> None:
    ones = paddle.ones
    for call, pattern in [
        (lambda: paddle.bmm(ones([3, 4]), ones([4, 5])), r"\(bmm\).*3 dimension"),
        (lambda: paddle.bmm(ones([2, 3, 4]), ones([3, 4, 5])), r"\(bmm\).*float32\[2, 3, 4\]"),
        (lambda: paddle.bmm(ones([1, 3, 4]), ones([3, 4, 5])), r"\(bmm\)"),
        (lambda: paddle.mv(ones([3]), ones([3])), r"\(mv\)"),
        (lambda: paddle.mv(ones([2, 3]), ones([2])), r"\(matmul\)"),
        (lambda: paddle.dot(ones([3]), ones([2])), r"\(dot\).*float32\[3\].*float32\[2\]"),
        (lambda: paddle.dot(ones([2, 2, 2]), ones([2, 2, 2])), r"\(dot\)"),
        (lambda: paddle.inner(ones([3]), ones([2])), r"\(inner\)"),
        (lambda: paddle.addmm(ones([3, 3]), ones([2, 3]), ones([3, 2])), r"\(addmm\).*\[2, 2\]"),
        (lambda: paddle.addmm(paddle.to_tensor(1.0), ones([2, 3]), ones([3, 2])), r"\(addmm\)"),
        (lambda: paddle.cross(ones([2, 2]), ones([2, 2])), r"\(cross\).*three"),
        (lambda: paddle.cross(ones([2, 3]), ones([3])), r"\(cross\)"),
        (lambda: paddle.t(ones([2, 3, 4])), r"\(t\)"),
        (lambda: paddle.trace(ones([2])), r"\(trace\)"),
        (lambda: paddle.trace(ones([2, 2]), 0, 1, 1), r"\(trace\).*differ"),
        (lambda: paddle.diagonal(ones([2, 2]), 0, 0, 3), r"\(diagonal\).*out of range"),
        (lambda: paddle.diag(ones([2, 2, 2])), r"\(diag\)"),
        (lambda: paddle.tril(ones([3])), r"\(tril\)"),
        (lambda: paddle.triu(paddle.to_tensor(1.0)), r"\(triu\)"),
    ]:
        with pytest.raises(ValueError, match=pattern):
            call()
    with pytest.raises(TypeError, match="diagonal must be an integer"):
        paddle.tril(ones([2, 2]), 1.5)


def test_a_transposed_matrix_and_a_diagonal_share_memory() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    transposed, diagonal, copied = x.t(), paddle.diagonal(x), paddle.diag(x)
    diagonal.add_(paddle.to_tensor([10.0, 20.0]))
    assert x.tolist() == [[11.0, 2.0], [3.0, 24.0]]
    assert transposed.tolist() == [[11.0, 3.0], [2.0, 24.0]]
    assert copied.tolist() == [1.0, 4.0]
    x.zero_()
    assert diagonal.tolist() == [0.0, 0.0]
    vector = paddle.ones([3])
    assert paddle.t(vector) is vector


def test_diagonals_off_the_middle_write_back() -> None:
    for offset, shape in itertools.product((-1, 0, 2), ([3, 4], [4, 3], [2, 3, 3])):
        x = paddle.zeros(shape)
        view = paddle.diagonal(x, offset, -2, -1)
        view.add_(paddle.ones(view.shape))
        expected = np.broadcast_to(np.eye(*shape[-2:], k=offset), shape)
        np.testing.assert_array_equal(x.numpy(), expected)


def test_triangles_drop_nan() -> None:
    x = paddle.full([2, 2], np.nan)
    assert paddle.tril(x)[0, 1].item() == 0.0
    assert paddle.triu(x)[1, 0].item() == 0.0


def test_diag_pads() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    matrix = paddle.diag(x, offset=-1, padding_value=9)
    assert matrix.tolist() == [[9.0, 9.0, 9.0], [1.0, 9.0, 9.0], [9.0, 2.0, 9.0]]
    matrix.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


# ---- einsum --------------------------------------------------------------------------------------


def test_random_equations_against_numpy() -> None:
    random = np.random.default_rng(6)
    sizes = {"a": 2, "b": 3, "c": 1, "d": 4}
    for _ in range(40):
        terms = [
            "".join(random.permutation(list(sizes))[: random.integers(1, 4)]) for _ in range(random.integers(1, 4))
        ]
        used = sorted(set("".join(terms)))
        output = "".join(random.permutation(used)[: random.integers(0, len(used) + 1)])
        equation = f"{','.join(terms)}->{output}"
        arrays = [random.normal(size=[sizes[c] for c in term]) for term in terms]
        found = paddle.einsum(equation, *[paddle.to_tensor(a) for a in arrays])
        np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), atol=1e-12, err_msg=equation)


def test_attention_needs_no_transposes() -> None:
    from proa.ir.recorder import LOCAL

    q, k = (paddle.to_tensor(np.ones((2, 3, 4, 5))) for _ in range(2))
    scores = paddle.einsum("bhld,bhmd->bhlm", q, k)
    names = [instruction.operation.name for instruction in LOCAL.segment.node.program(()).instructions]
    assert names == ["matmul"]
    assert scores.shape == [2, 3, 4, 4]


@pytest.mark.parametrize(
    ("equation", "shapes", "pattern"),
    [
        ("ij,jk", [(2, 3), (2, 2)], "called 'j' are 3 and 2"),
        ("ijk,jk", [(2, 3), (3, 2)], "names 3 dimension"),
        ("ij", [(2, 3), (2, 3)], "2 are given"),
        ("ij->k", [(2, 3)], "output label 'k'"),
        ("ij->ii", [(2, 3)], "output label 'i'"),
        ("i$->i", [(2, 3)], "letters"),
        ("...i->i", [(2, 3)], r"must contain '\.\.\.'"),
    ],
)
def test_bad_equations(equation: str, shapes: list[Any], pattern: str) -> None:
    with pytest.raises(ValueError, match=rf"\(einsum\).*{pattern}"):
        paddle.einsum(equation, *[paddle.ones(list(shape)) for shape in shapes])


def test_einsum_operands() -> None:
    with pytest.raises(ValueError, match="different data types"):
        paddle.einsum("i,i", paddle.ones([2]), paddle.ones([2], "float64"))
    with pytest.raises(TypeError, match="Tensor"):
        paddle.einsum("i,i", paddle.ones([2]), [1.0, 2.0])
    with pytest.raises(ValueError, match="no operand"):
        paddle.einsum("i")
