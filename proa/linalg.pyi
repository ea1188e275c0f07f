# Written by `python -m tools.stubs`; changes made by hand are lost.
"""`paddle.linalg`: functions of the package that are exported here (collected at import)."""

from proa.eager.tensor import Tensor
from proa.ops.linear.covariance import corrcoef as corrcoef
from proa.ops.linear.covariance import cov as cov
from proa.ops.linear.determinants import slogdet as slogdet
from proa.ops.linear.factors import cholesky as cholesky
from proa.ops.linear.factors import lu as lu
from proa.ops.linear.factors import lu_unpack as lu_unpack
from proa.ops.linear.factors import qr as qr
from proa.ops.linear.functions import cond as cond
from proa.ops.linear.functions import matrix_exp as matrix_exp
from proa.ops.linear.functions import matrix_power as matrix_power
from proa.ops.linear.functions import matrix_rank as matrix_rank
from proa.ops.linear.functions import matrix_transpose as matrix_transpose
from proa.ops.linear.functions import multi_dot as multi_dot
from proa.ops.linear.functions import vecdot as vecdot
from proa.ops.linear.householder import householder_product as householder_product
from proa.ops.linear.householder import ormqr as ormqr
from proa.ops.linear.linalg import cross as cross
from proa.ops.linear.low_rank import pca_lowrank as pca_lowrank
from proa.ops.linear.low_rank import svd_lowrank as svd_lowrank
from proa.ops.linear.matrix import diagonal as diagonal
from proa.ops.linear.products import fp8_fp8_half_gemm_fused as fp8_fp8_half_gemm_fused
from proa.ops.linear.solving import lstsq as lstsq
from proa.ops.linear.solving import lu_solve as lu_solve
from proa.ops.linear.solving import pinv as pinv
from proa.ops.linear.solving import solve as solve
from proa.ops.linear.spectra import eig as eig
from proa.ops.linear.spectra import eigh as eigh
from proa.ops.linear.spectra import eigvals as eigvals
from proa.ops.linear.spectra import eigvalsh as eigvalsh
from proa.ops.linear.spectra import svd as svd
from proa.ops.linear.spectra import svdvals as svdvals
from proa.ops.linear.triangular import cholesky_inverse as cholesky_inverse
from proa.ops.linear.triangular import cholesky_solve as cholesky_solve
from proa.ops.linear.triangular import triangular_solve as triangular_solve
from proa.ops.math.norm import matrix_norm as matrix_norm
from proa.ops.math.norm import norm as norm
from proa.ops.math.norm import vector_norm as vector_norm

def det(x: Tensor, name: str | None = None) -> Tensor:
    """The determinant of square matrices."""

def inv(x: Tensor, name: str | None = None) -> Tensor:
    """The inverse of square matrices."""

def matmul(
    x: Tensor,
    y: Tensor,
    transpose_x: bool = False,
    transpose_y: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The matrix product over the last two axes, the others broadcast; `x @ y` means the same."""
