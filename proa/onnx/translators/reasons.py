"""Primitives without a translator: why."""

from __future__ import annotations

from ..registry import no_counterpart

no_counterpart(
    "ONNX has no factorisations of matrices and nothing made of them",
    "cholesky", "cofactors", "eig", "eigh", "eigvals", "eigvalsh", "inverse", "lu", "matrix_exp", "matrix_rank",
    "permutation_of_pivots", "pinv", "qr", "solve", "solve_again", "svd", "svdvals", "triangular_solve",
)  # fmt: skip
no_counterpart(
    "ONNX has no such special function",
    "bessel_ratio", "digamma", "erfinv", "gamma_density", "gamma_slope", "gammainc", "gammaincc", "i0", "i0e", "i1",
    "i1e", "lgamma", "polygamma", "sinc_derivative",
)  # fmt: skip
no_counterpart(
    "ONNX does not look at the bits of a number",
    "bitwise_right_shift_logical", "frexp", "nextafter", "power_of_two",
)  # fmt: skip
no_counterpart(
    "it is part of an optimiser's step, and ONNX models do not train",
    "adadelta_update", "adagrad_update", "adam_update", "adamax_update", "asgd_update", "average_update",
    "clip_by_global_norm", "clip_by_norm", "clip_by_total", "clip_by_value", "lamb_update", "lars_update",
    "look_ahead_update", "momentum_update", "moved_along", "nadam_update", "newton_direction", "radam_update",
    "rmsprop_update", "rprop_update", "sgd_update", "sum_of_squares", "unscale_gradients",
)  # fmt: skip
no_counterpart(
    "it belongs to a gradient or to training, and ONNX models do not train",
    "adaptive_average_grad", "attention_grad_key", "attention_grad_query", "attention_grad_value", "avg_pool_grad",
    "clip_grad", "conv_grad_weight", "ctc", "embedding_grad", "exp_below", "exponential_unit_grad", "gelu_grad",
    "hardswish_grad", "leaky_relu_grad", "linear_cross_entropy", "linear_cross_entropy_grad", "max_pool_grad",
    "max_pool_select", "maximum_grad", "normalise_grad_bias", "normalise_grad_input", "normalise_grad_through",
    "normalise_grad_weight", "recurrence_grad", "relu_grad", "renormalised", "rnnt", "running_statistics",
    "sigmoid_grad", "silu_grad", "softmax_cross_entropy_grad", "softplus_grad", "spread_class", "tanh_grad",
    "tie_weights",
)  # fmt: skip
no_counterpart(
    "it exists inside executables for padded sizes only",
    "as_drawn", "divided_by_windows", "gradient_within", "normalise_within", "running_within",
    "weight_gradient_within", "concat_within", "divided_by_count", "fill_beyond", "flip_within", "gathered", "index_within",
    "mask_beyond", "mean_within", "pad_within", "place_from", "real_extent", "repeated_extent", "roll_within",
    "slice_from", "written_from",
)  # fmt: skip
no_counterpart(
    "its weights are packed for this machine's kernels; a graph is exported before they are",
    "fused_conv", "fused_linear", "packed_bytes", "packed_filters", "packed_panels", "quantised_conv",
    "quantised_linear", "squeeze_excite",
)  # fmt: skip
no_counterpart(
    "ONNX has no sampler for this distribution, and none can be made of a fixed number of draws",
    "binomial", "poisson", "standard_gamma",
)  # fmt: skip
no_counterpart(
    "how many steps it takes depends on values, element by element",
    "gcd", "lcm",
)  # fmt: skip
no_counterpart(
    "it prepares a statistic of a whole data set, which no model needs",
    "cov_weights", "edges_between", "histogram",
)  # fmt: skip
no_counterpart(
    "it belongs to kernels of this machine for sparse or quantised attention and experts",
    "csr_pattern", "product_of_chosen", "quantise_dynamic",
)  # fmt: skip
no_counterpart(
    "the steps of a generation engine write into its pools; the model itself can be written",
    "choose_tokens", "likeliest_tokens", "page_levels", "paged_attention", "token_scores", "turn_by_positions",
    "write_pages",
)  # fmt: skip
no_counterpart(
    "products in 8 bits are a way of training; the model is written with its own products",
    "float8_product",
)  # fmt: skip
no_counterpart(
    "weights in the blocks of language models run here; what is written elsewhere are their floats",
    "block_embedding", "block_product", "block_rows",
)  # fmt: skip
no_counterpart(
    "ONNX has no operator that follows parents backwards through a beam search",
    "gather_tree",
)  # fmt: skip
no_counterpart(
    "it calls Python code of the user, which no file can hold",
    "py_func",
)  # fmt: skip
no_counterpart(
    "it exchanges data between processes, and a model in a file is one process",
    "group_all_gather", "group_all_reduce", "group_all_to_all", "group_broadcast", "group_broadcast_all", "group_gather",
    "group_reduce_all", "group_reduce_scatter", "group_scatter", "group_sum_backward", "group_sum_forward",
)  # fmt: skip
