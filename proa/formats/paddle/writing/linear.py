"""Products, factorisations, Fourier transforms."""

from __future__ import annotations

from ....ops.transform.fourier import _NORMS
from .builder import Builder, Made
from .registry import Call, translates


@translates("matmul")
def matmul(b: Builder, c: Call) -> Made:
    attributes = {"transpose_x": bool(c.attributes[0]), "transpose_y": bool(c.attributes[1])}
    return b.emit("matmul", [c.operands[0], c.operands[1]], attributes, c.types[0])


@translates("linear")
def linear(b: Builder, c: Call) -> Made:
    x, weight, bias = c.operands
    product = b.emit("matmul", [x, weight], {"transpose_x": False, "transpose_y": False}, c.types[0])
    return product if bias is None else b.binary("add", product, bias)


@translates("cross")
def cross(b: Builder, c: Call) -> Made:
    return b.binary("cross", c.operands[0], c.operands[1], axis=int(c.attributes[0]))


@translates("inverse", "det")
def inverse(b: Builder, c: Call) -> Made:
    return b.emit(c.name, [c.operands[0]], {}, c.types[0])


@translates("slogdet")
def slogdet(b: Builder, c: Call) -> list[Made]:
    x = c.operands[0]
    if x.dtype.startswith("complex"):
        raise NotImplementedError("Paddle has it for real matrices only")
    sizes = x.sizes[:-2]
    both = b.emit("slogdet", [x], {}, (c.dtype, (2, *sizes)))
    return [b.reshape(b.slice(both, [0], [i], [i + 1], [0]), sizes) for i in (0, 1)]


@translates("cholesky")
def cholesky(b: Builder, c: Call) -> Made:
    return b.same("cholesky", c.operands[0], upper=bool(c.attributes[0]))


@translates("triangular_solve")
def triangular_solve(b: Builder, c: Call) -> Made:
    upper, transpose, unit = c.attributes
    attributes = {"upper": bool(upper), "transpose": bool(transpose), "unitriangular": bool(unit)}
    return b.emit("triangular_solve", [c.operands[0], c.operands[1]], attributes, c.types[0])


@translates("solve", "solve_again")
def solve(b: Builder, c: Call) -> Made:
    return b.emit("solve", [c.operands[0], c.operands[1]], {}, c.types[0])


@translates("qr")
def qr(b: Builder, c: Call) -> list[Made]:
    return b.emit_all("qr", [c.operands[0]], {"mode": "complete" if c.attributes[0] else "reduced"}, *c.types)


@translates("svd")
def svd(b: Builder, c: Call) -> list[Made]:
    return b.emit_all("svd", [c.operands[0]], {"full_matrices": bool(c.attributes[0])}, *c.types)


@translates("svdvals")
def svdvals(b: Builder, c: Call) -> Made:
    return b.emit("svdvals", [c.operands[0]], {}, c.types[0])


@translates("eigh")
def eigh(b: Builder, c: Call) -> list[Made]:
    return b.emit_all("eigh", [c.operands[0]], {"UPLO": str(c.attributes[0])}, *c.types)


@translates("eigvalsh")
def eigvalsh(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    return b.emit_all("eigh", [x], {"UPLO": str(c.attributes[0])}, c.types[0], x.type)[0]


@translates("eig")
def eig(b: Builder, c: Call) -> list[Made]:
    return b.emit_all("eig", [c.operands[0]], {}, *c.types)


@translates("eigvals")
def eigvals(b: Builder, c: Call) -> Made:
    return b.emit("eigvals", [c.operands[0]], {}, c.types[0])


# ---- Fourier -----------------------------------------------------------------------------------------------------


@translates("fft_c2c", "fft_r2c", "fft_c2r")
def fourier(b: Builder, c: Call) -> Made:
    axes, forward, scale, *rest = c.attributes
    attributes = {"axes": list(axes), "normalization": _NORMS[forward][scale], "forward": bool(forward)}
    if rest and rest[-1]:  # `doubled`, `halved`
        raise NotImplementedError("it is the gradient of a real transform")
    if c.name == "fft_r2c":
        attributes["onesided"] = True
    if c.name == "fft_c2r":
        attributes["last_dim_size"] = int(rest[0])
    return b.emit(c.name, [c.operands[0]], attributes, c.types[0])


@translates("frame")
def frame(b: Builder, c: Call) -> Made:
    length, hop = c.attributes
    return b.emit("frame", [c.operands[0]], {"frame_length": length, "hop_length": hop, "axis": -1}, c.types[0])


@translates("overlap_add")
def overlap_add(b: Builder, c: Call) -> Made:
    x = c.operands[0]
    hop, length = c.attributes
    natural = (x.sizes[-1] - 1) * hop + x.sizes[-2]
    result = b.emit("overlap_add", [x], {"hop_length": hop, "axis": -1}, (c.dtype, (*x.sizes[:-2], natural)))
    last = result.ndim - 1
    return result if natural == length else b.slice(result, [last], [0], [min(length, natural)])
