"""Arithmetic, comparisons, reductions, sorting, linear algebra."""

# Operations with the same name in both formats and nothing but operands: form -> names.
SAME = {
    "(X) -> Out": """
        abs acos acosh angle as_complex as_real asin asinh assign atan atanh bernoulli bitwise_not ceil conj cos
        cosh digamma eigvals erf erfinv exp expm1 floor fused_softmax_mask_upper_triangle imag is_empty l1_norm
        lgamma log log10 log1p log2 logical_not logsigmoid poisson real reciprocal rsqrt sign sin sinh sqrt square
        squared_l2_norm tan tanh trunc
    """,
    "(X, Y) -> Out": """
        bitwise_and bitwise_or bitwise_xor bmm complex dot elementwise_pow equal equal_all greater_equal
        greater_than kron less_equal less_than logical_and logical_or logical_xor not_equal solve
    """,
    "(x, y) -> out": """
        copysign gammaincc nextafter trunc_divide
    """,
    "(x) -> out": """
        gammaln i0 i0e i1 i1e rint standard_gamma
    """,
}

ROWS = """
addmm: addmm(Input, X, Y; beta<Beta:float=1.0, alpha<Alpha:float=1.0) -> Out
allclose: allclose(Input, Other, Rtol|rtol:string@float64=1e-5, Atol|atol:string@float64=1e-8;
    equal_nan:bool=false) -> Out
arg_max: argmax(X, axis:long@int64; keepdims:bool=false, flatten:bool=false, dtype:dtype=3) -> Out
arg_min: argmin(X, axis:long@int64; keepdims:bool=false, flatten:bool=false, dtype:dtype=3) -> Out
argsort: argsort(X; axis:int=-1, descending:bool=false, stable:bool=false) -> Out, Indices
atan2: atan2(X1, X2) -> Out
baddbmm: baddbmm(Input, X, Y; beta<Beta:float=1.0, alpha<Alpha:float=1.0) -> Out
bincount: bincount(X, Weights, minlength:int@int32=0) -> Out
bitwise_left_shift: bitwise_left_shift(x, y; is_arithmetic:bool=true) -> out
bitwise_right_shift: bitwise_right_shift(x, y; is_arithmetic:bool=true) -> out
cholesky: cholesky(X; upper:bool=false) -> Out
cholesky_solve: cholesky_solve(X, Y; upper:bool=false) -> Out
clip: clip(X, Min|min:float@float32, Max|max:float@float32) -> Out
clip_by_norm: clip_by_norm(X; max_norm:float) -> Out
cross: cross(X, Y; axis<dim:int=9) -> Out
cummax: cummax(x; axis:int=-1, dtype:dtype=3) -> out, indices
cummin: cummin(x; axis:int=-1, dtype:dtype=3) -> out, indices
cumprod: cumprod(X; dim:int, exclusive:bool=false, reverse:bool=false) -> Out
cumsum: cumsum(X, axis:int@int32=-1; flatten:bool=false, exclusive:bool=false, reverse:bool=false) -> Out
determinant: det(Input) -> Out
dist: dist(X, Y; p:float=2.0) -> Out
eig: eig(X) -> Eigenvalues, Eigenvectors
eigh: eigh(X; UPLO:string=L) -> Eigenvalues, Eigenvectors
eigvalsh: eigvalsh(X; uplo<UPLO:string=L, is_test:bool=false) -> Eigenvalues, Eigenvectors
einsum: einsum(Operands*; equation:string) -> Out, InnerCache*, XShape*
elementwise_add: add(X, Y) -> Out
elementwise_div: divide(X, Y) -> Out
elementwise_floordiv: floor_divide(X, Y) -> Out
elementwise_fmax: fmax(X, Y) -> Out
elementwise_fmin: fmin(X, Y) -> Out
elementwise_heaviside: heaviside(X, Y) -> Out
elementwise_max: maximum(X, Y) -> Out
elementwise_min: minimum(X, Y) -> Out
elementwise_mod: remainder(X, Y) -> Out
elementwise_mul: multiply(X, Y) -> Out
elementwise_sub: subtract(X, Y) -> Out
fft_c2c: fft_c2c(X; axes:longs, normalization:string, forward:bool) -> Out
fft_c2r: fft_c2r(X; axes:longs, normalization:string, forward:bool, last_dim_size:long=0) -> Out
fft_r2c: fft_r2c(X; axes:longs, normalization:string, forward:bool, onesided:bool) -> Out
frame: frame(X; frame_length:int, hop_length:int, axis:int=-1) -> Out
frobenius_norm: frobenius_norm(X, dim:ints@list=[0]; keep_dim:bool=false, reduce_all:bool=false) -> Out
grad_add > add(X, Y) -> Out
histogram: histogram(X, Weight; bins:long=100, min:float=0.0, max:float=0.0, density:bool=false) -> Out
increment: increment(X; value<step:float=1.0) -> Out
inverse: inverse(Input) -> Output
isclose: isclose(Input, Other, Rtol|rtol:string@float64=1e-5, Atol|atol:string@float64=1e-8; equal_nan:bool=false)
    -> Out
isfinite_v2: isfinite(X) -> Out
isinf_v2: isinf(X) -> Out
isnan_v2: isnan(X) -> Out
kthvalue: kthvalue(X; k:long/int=1, axis:int=-1, keepdim:bool=false) -> Out, Indices
lerp: lerp(X, Y, Weight) -> Out
logcumsumexp: logcumsumexp(X; axis:int=-1, flatten:bool=false, exclusive:bool=false, reverse:bool=false) -> Out
logsumexp: logsumexp(X; axis:ints=[], keepdim:bool=false, reduce_all:bool=false) -> Out
lstsq: lstsq(X, Y, rcond:float@float32=0.0; driver:string=gels) -> Solution, Residuals, Rank, SingularValues
lu: lu(X; pivot<pivots:bool=true) -> Out, Pivots, Infos
lu_solve: lu_solve(b, lu, pivots; trans:string) -> out
lu_unpack: lu_unpack(X, Pivots; unpack_ludata:bool=true, unpack_pivots:bool=true) -> Pmat, L, U
matmul_v2: matmul(X, Y; transpose_x<trans_x:bool=false, transpose_y<trans_y:bool=false) -> Out
matrix_nms: matrix_nms(BBoxes, Scores; score_threshold:float, nms_top_k:int, keep_top_k:int,
    post_threshold:float=0.0, use_gaussian:bool=false, gaussian_sigma:float=2.0, background_label:int=0,
    normalized:bool=true) -> Out, Index, RoisNum
matrix_power: matrix_power(X; n:int) -> Out
matrix_rank: matrix_rank(X; tol:float=0.0, use_default_tol:bool=true, hermitian:bool=false) -> Out
matrix_rank_atol_rtol: matrix_rank_atol_rtol(x, atol, rtol; hermitian:bool=false) -> out
max_with_index: max_with_index(x; dim:int/long, keepdim:bool=false, flatten:bool=false) -> values, indices
mean: mean_all(X) -> Out
median: median(x; axis:intarray/longs=[], keepdim:bool=true, mode:string=avg) -> out, medians
min_with_index: min_with_index(x; dim:int/long, keepdim:bool=false, flatten:bool=false) -> values, indices
mode: mode(X; axis:int=-1, keepdim:bool=false) -> Out, Indices
multi_dot: multi_dot(X*) -> Out
mv: mv(X, Vec) -> Out
nanmedian: nanmedian(X; axis:intarray/ints=[], keepdim:bool=true, mode:string=avg) -> Out, MedianIndex
nansum: nansum(x; axis:intarray/longs=[], dtype:dtype=-1, keepdim:bool=false) -> out
norm: norm(X; axis:int, epsilon:float=1e-10, is_test:bool=false) -> Out, Norm
overlap_add: overlap_add(X; hop_length:int, axis:int=-1) -> Out
polygamma: polygamma(x; n:int) -> out
p_norm: p_norm(X; porder:float=2.0, axis:int=-1, epsilon:float=1e-12, keepdim:bool=false, asvector:bool=false) -> Out
pow: pow(X; y<factor:float=1.0) -> Out
qr: qr(X; mode:string=reduced) -> Q, R
reduce_all: all(X; axis<dim:longs=[0], keepdim<keep_dim:bool=false) -> Out
reduce_amax: amax(X; axis<dim:longs=[0], keepdim<keep_dim:bool=false) -> Out
reduce_amin: amin(X; axis<dim:longs=[0], keepdim<keep_dim:bool=false) -> Out
reduce_any: any(X; axis<dim:longs=[0], keepdim<keep_dim:bool=false) -> Out
reduce_as: reduce_as(x, target) -> out
reduce_max: max(X, dim:ints@list=[0]; keepdim<keep_dim:bool=false) -> Out
reduce_mean: mean(X, dim:ints@list=[0]; keepdim<keep_dim:bool=false) -> Out
reduce_min: min(X, dim:ints@list=[0]; keepdim<keep_dim:bool=false) -> Out
reduce_prod: prod(X, dim:ints@list=[0]; keepdim<keep_dim:bool=false, reduce_all:bool=false) -> Out
reduce_sum: sum(X, dim:ints@list=[0]; dtype<out_dtype:dtype=-1, keepdim<keep_dim:bool=false) -> Out
renorm: renorm(X; p:float, axis:int, max_norm:float) -> Out
round: round(X; decimals:int=0) -> Out
scale: scale(X, ScaleTensor|scale:float@float32=1.0; bias:float=0.0, bias_after_scale:bool=true) -> Out
searchsorted: searchsorted(SortedSequence, Values; out_int32:bool=false, right:bool=false) -> Out
slogdeterminant: slogdet(Input) -> Out
stanh: stanh(X; scale_a:float=0.67, scale_b:float=1.7159) -> Out
stft: stft(X, Window; n_fft:int, hop_length:int, normalized:bool, onesided:bool) -> Out
sum: add_n(X*) -> Out
svd: svd(X; full_matrices:bool=false) -> U, S, VH
svdvals: svdvals(x) -> s
top_k_v2: topk(X, K|k:int@int32=1; axis:int=-1, largest:bool=true, sorted:bool=true) -> Out, Indices
trace: trace(Input; offset:int=0, axis1:int=0, axis2:int=1) -> Out
triangular_solve: triangular_solve(X, Y; upper:bool=true, transpose:bool=false, unitriangular:bool=false) -> Out
truncated_gaussian_random: truncated_gaussian_random(; shape:ints, mean:float=0.0, std:float=1.0, seed:int=0,
    a:float=-2.0, b:float=2.0, dtype:dtype=5) -> Out
unique: unique(X; return_index:bool=false, return_inverse:bool=false, return_counts:bool=false, axis:ints=[],
    dtype:dtype=3, is_sorted:bool=false) -> Out, Indices, Index, Counts
unique_consecutive: unique_consecutive(X; return_inverse:bool=false, return_counts:bool=false, axis:ints=[],
    dtype:dtype=5) -> Out, Index, Counts
variance: variance(x; axis:longs=[], keepdim:bool=false) -> out
view_dtype: view_dtype(input; dtype:dtype) -> out
view_shape: view_shape(input; dims:longs=[]) -> out
top_k > topk(X, K|k:int@int32=1; axis<-:int=-1, largest<-:bool=true, sorted<-:bool=true) -> Out, Indices
var: var(x; axis:longs=[], keepdim:bool=false, unbiased:bool=true, correction:double=1.0) -> out
std: std(x; axis:longs=[], keepdim:bool=false, unbiased:bool=true, correction:double=1.0) -> out
"""
