"""Which element types a runtime computes an operator in, and what stands in for the others.

ONNX allows an operator many types; ONNX Runtime has kernels for some of them on a CPU. What is written must run, so an
operator whose type has no kernel there is computed in the nearest one that has, between two casts. Half precision needs
nothing: the runtime does the same with it by itself.

A type is a letter here, as in NumPy: f d float32 and float64, h float16, v bfloat16, b s i l and B S I L signed and unsigned
integers of 8 to 64 bits, ? booleans.
"""

from __future__ import annotations

LETTERS = {
    "float32": "f", "float64": "d", "float16": "h", "bfloat16": "v", "int8": "b", "int16": "s", "int32": "i", "int64": "l",
    "uint8": "B", "uint16": "S", "uint32": "I", "uint64": "L", "bool": "?",
}  # fmt: skip

_NUMBERS = "BILSbdfils"
_ORDERED = "BILbdfil"
_SUMMED = "dfil"
_REAL = "df"

# Operators that have kernels for some types only (those that are not here have one for every type).
_KERNELS: dict[str, str] = {
    **dict.fromkeys(("Abs", "Add", "Sub", "Mul", "Div", "Mod"), _NUMBERS),
    **dict.fromkeys(("Greater", "GreaterOrEqual", "Less", "LessOrEqual"), _NUMBERS),
    **dict.fromkeys(("Ceil", "Cos", "Exp", "Floor", "Gemm", "Log", "LogSoftmax", "Reciprocal", "Round", "Sigmoid", "Sin",
                     "Softmax", "Sqrt", "Tanh", "IsInf", "IsNaN", "LSTM", "GRU", "BatchNormalization",
                     "LayerNormalization", "DFT", "RandomUniformLike", "RandomNormalLike"), _REAL),
    **dict.fromkeys(("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "AveragePool", "Celu", "Col2Im", "Conv",
                     "ConvTranspose", "Cosh", "Det", "Elu", "Erf", "Gelu", "GlobalAveragePool", "GridSample",
                     "HardSigmoid", "HardSwish", "InstanceNormalization", "LeakyRelu", "PRelu", "RNN", "Sinh", "Softplus",
                     "Tan", "Mish", "Multinomial"), "f"),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum",
                     "ReduceSumSquare", "CumSum", "Einsum", "Pow"), _SUMMED),
    **dict.fromkeys(("ReduceMax", "ReduceMin", "ArgMax", "ArgMin"), "Bbdfil"),
    **dict.fromkeys(("Max", "Min", "Clip"), _ORDERED),
    **dict.fromkeys(("And", "Or", "Xor", "Not"), "?"),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"), "BILSbils"),
    "BitShift": "BIL", "Equal": "?" + _NUMBERS, "EyeLike": "Ldfil", "MatMul": "ILdfil", "MaxPool": "Bbdf", "Neg": "bdfils",
    "NonZero": "?Bfil", "OneHot": "fil", "Pad": "?" + _ORDERED, "Range": "dfils", "Relu": "bdfi", "Resize": "Bbfi",
    "Sign": _NUMBERS, "TopK": "Bbdfils", "Trilu": "?dfil", "Where": "BIbdfil", "Expand": "?" + _NUMBERS,
    "Tile": "?" + _NUMBERS, "QuantizeLinear": "f",
}  # fmt: skip

# Which inputs have the type that kernels are chosen by, where not all have it.
DATA_INPUTS: dict[str, tuple[int, ...]] = {
    "Where": (1, 2), "TopK": (0,), "CumSum": (0,), "Pad": (0, 2), "Resize": (0,), "Trilu": (0,), "Expand": (0,),
    "Tile": (0,),
    "ReduceMax": (0,), "ReduceMin": (0,), "ReduceMean": (0,), "ReduceProd": (0,), "ReduceSum": (0,), "ReduceL1": (0,),
    "ReduceL2": (0,), "ReduceLogSumExp": (0,), "ReduceSumSquare": (0,), "LSTM": (0, 1, 2, 3, 5, 6), "GRU": (0, 1, 2, 3, 5),
    "RNN": (0, 1, 2, 3, 5), "DFT": (0,), "OneHot": (2,), "Col2Im": (0,), "RandomUniformLike": (), "RandomNormalLike": (),
    "QuantizeLinear": (0,), "EyeLike": (), "Multinomial": (0,),
}  # fmt: skip

# The nearest types that hold what a type holds, best first.
_WIDER = {
    "?": ("B", "i", "f"), "B": ("i", "l", "f"), "b": ("i", "l", "f"), "s": ("i", "l", "f"), "S": ("i", "l", "f"),
    "i": ("l", "d", "f"), "I": ("l", "d", "f"), "l": ("d", "f"), "L": ("l", "d", "f"), "v": ("f",), "h": ("f",), "d": ("f",),
    "f": ("d",),
}  # fmt: skip
_NAMES = {letter: name for name, letter in LETTERS.items()}


def computed_in(operator: str, dtype: str) -> str:
    """The type to compute an operator in: `dtype` itself wherever there is a kernel for it."""
    kernels = _KERNELS.get(operator)
    letter = LETTERS.get(dtype)
    if kernels is None or letter is None or letter == "h" or letter in kernels:
        return dtype
    return next((_NAMES[wider] for wider in _WIDER[letter] if wider in kernels), dtype)
