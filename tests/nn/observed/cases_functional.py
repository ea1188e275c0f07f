"""Calls of `nn.functional` whose results in Paddle 3.3.1 were written down (`functional.json`).

Each case is a function of the package under test. `record.py` runs them all in an environment with Paddle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}


def ramp(*shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Fixed, uneven numbers of a shape."""
    size = int(np.prod(shape))
    steps = (np.arange(size) * 7919 % max(size, 1) + 0.5) / max(size, 1)
    return (low + (high - low) * steps).reshape(shape).astype("float32")


def leaf(P: Any, *shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    tensor = P.to_tensor(ramp(*shape, low=low, high=high))
    tensor.stop_gradient = False
    return tensor


def with_grads(P: Any, call: Callable[..., Any], *leaves: Any) -> Any:
    """The result and the gradients of its weighted sum."""
    out = call(*leaves)
    weights = P.to_tensor(ramp(*out.shape, low=0.5, high=1.5)) if out.shape else 1.0
    (out * weights).sum().backward()
    return [out, *[x.grad for x in leaves]]


def case(name: str, call: Callable[[Any], Any]) -> None:
    assert name not in CASES, name
    CASES[name] = call


# ---- resizing ------------------------------------------------------------------------------------

for mode, shape, size in (
    ("nearest", (1, 2, 3, 4), [5, 7]), ("bilinear", (1, 2, 3, 4), [5, 7]), ("bicubic", (1, 2, 3, 4), [5, 7]),
    ("linear", (1, 2, 5), [8]), ("trilinear", (1, 1, 2, 3, 2), [3, 4, 5]),
    ("nearest", (1, 1, 2, 3, 2), [3, 4, 5]), ("area", (1, 2, 5, 6), [3, 4]),
    ("bilinear", (1, 1, 6, 7), [3, 2]), ("bicubic", (1, 1, 6, 7), [3, 2]), ("nearest", (1, 1, 6, 7), [3, 2]),
):  # fmt: skip
    for corners in (False, True):
        for align_mode in (0, 1):
            if (corners or align_mode) and mode in ("nearest", "area"):
                continue
            options = {"mode": mode, "align_corners": corners, "align_mode": align_mode}
            layout = {3: "NCW", 4: "NCHW", 5: "NCDHW"}[len(shape)]
            case(
                f"interpolate {mode} {shape} {size} {corners} {align_mode}",
                lambda P, shape=shape, size=size, options=options, f=layout: with_grads(
                    P, lambda x: P.nn.functional.interpolate(x, size, data_format=f, **options), leaf(P, *shape)
                ),
            )
for mode in ("nearest", "bilinear", "bicubic"):
    for factor in (2, 1.7, [2, 0.5], 0.6):
        for again in (None, True):
            case(
                f"interpolate {mode} by {factor} {again}",
                lambda P, mode=mode, factor=factor, again=again: P.nn.functional.interpolate(
                    P.to_tensor(ramp(1, 1, 5, 4)), scale_factor=factor, mode=mode, recompute_scale_factor=again
                ),
            )
case("interpolate last", lambda P: P.nn.functional.interpolate(
    P.to_tensor(ramp(1, 3, 4, 2)), [5, 3], mode="bilinear", data_format="NHWC"))  # fmt: skip
for mode in ("bilinear", "bicubic"):
    case(f"interpolate {mode} antialias", lambda P, mode=mode: P.nn.functional.interpolate(
        P.to_tensor(ramp(1, 1, 6, 7)), [3, 2], mode=mode, antialias=True))  # fmt: skip
case("interpolate nothing", lambda P: P.nn.functional.interpolate(P.to_tensor(ramp(1, 1, 2, 2))))
case("interpolate both", lambda P: P.nn.functional.interpolate(P.to_tensor(ramp(1, 1, 2, 2)), [2, 2], 2))
case("interpolate unknown", lambda P: P.nn.functional.interpolate(P.to_tensor(ramp(1, 1, 2, 2)), [2, 2], mode="x"))
case("interpolate corners", lambda P: P.nn.functional.interpolate(
    P.to_tensor(ramp(1, 1, 2, 2)), [2, 2], align_corners=True))  # fmt: skip
case("interpolate zero", lambda P: P.nn.functional.interpolate(P.to_tensor(ramp(1, 1, 2, 2)), [0, 2]))
case("upsample", lambda P: P.nn.functional.upsample(P.to_tensor(ramp(1, 1, 2, 2)), scale_factor=2))

for mode in ("bilinear", "nearest"):
    for border in ("zeros", "border", "reflection"):
        for corners in (True, False):
            case(
                f"grid_sample {mode} {border} {corners}",
                lambda P, mode=mode, border=border, corners=corners: with_grads(
                    P,
                    lambda x, grid: P.nn.functional.grid_sample(x, grid, mode, border, corners),
                    leaf(P, 2, 2, 3, 4), leaf(P, 2, 3, 2, 2, low=-1.73, high=1.61),
                ),
            )  # fmt: skip
            case(
                f"grid_sample 3d {mode} {border} {corners}",
                lambda P, mode=mode, border=border, corners=corners: P.nn.functional.grid_sample(
                    P.to_tensor(ramp(1, 2, 2, 3, 4)), P.to_tensor(ramp(1, 2, 2, 2, 3, low=-1.73, high=1.61)),
                    mode, border, corners,
                ),
            )  # fmt: skip
for corners in (True, False):
    case(f"affine_grid {corners}", lambda P, c=corners: with_grads(
        P, lambda t: P.nn.functional.affine_grid(t, [2, 1, 2, 3], c), leaf(P, 2, 2, 3)))  # fmt: skip
    case(f"affine_grid 3d {corners}", lambda P, c=corners: P.nn.functional.affine_grid(
        P.to_tensor(ramp(1, 3, 4)), [1, 1, 2, 3, 2], c))  # fmt: skip

# ---- rearranging ---------------------------------------------------------------------------------

case("unfold", lambda P: with_grads(P, lambda x: P.nn.functional.unfold(x, [2, 3], [1, 2], [1, 0], 1),
                                    leaf(P, 2, 2, 4, 5)))  # fmt: skip
case("unfold dilated", lambda P: P.nn.functional.unfold(P.to_tensor(ramp(1, 1, 5, 5)), 2, 1, [0, 1, 1, 0], 2))
case("unfold too big", lambda P: P.nn.functional.unfold(P.to_tensor(ramp(1, 1, 2, 2)), 3))
case("fold", lambda P: with_grads(P, lambda x: P.nn.functional.fold(x, [4, 5], [2, 2], 2, [1, 1], 1), leaf(P, 2, 8, 9)))
case("fold wrong", lambda P: P.nn.functional.fold(P.to_tensor(ramp(1, 8, 5)), [3, 3], 2))
case("channel_shuffle", lambda P: P.nn.functional.channel_shuffle(P.to_tensor(ramp(1, 6, 1, 2)), 3))
case("channel_shuffle last", lambda P: P.nn.functional.channel_shuffle(P.to_tensor(ramp(1, 1, 2, 6)), 3, "NHWC"))
case("channel_shuffle wrong", lambda P: P.nn.functional.channel_shuffle(P.to_tensor(ramp(1, 6, 1, 2)), 4))
case("pixel_shuffle", lambda P: P.nn.functional.pixel_shuffle(P.to_tensor(ramp(1, 8, 2, 3)), 2))
case("pixel_shuffle last", lambda P: P.nn.functional.pixel_shuffle(P.to_tensor(ramp(1, 2, 3, 8)), 2, "NHWC"))
case("pixel_unshuffle", lambda P: P.nn.functional.pixel_unshuffle(P.to_tensor(ramp(1, 2, 4, 6)), 2))
case("pixel_unshuffle last", lambda P: P.nn.functional.pixel_unshuffle(P.to_tensor(ramp(1, 4, 6, 2)), 2, "NHWC"))
case("temporal_shift", lambda P: P.nn.functional.temporal_shift(P.to_tensor(ramp(4, 5, 1, 2)), 2, 0.3))
case("maxout", lambda P: P.nn.functional.maxout(P.to_tensor(ramp(2, 6, 2, 2)), 3))
case("maxout wrong", lambda P: P.nn.functional.maxout(P.to_tensor(ramp(2, 5, 2, 2)), 3))

# ---- pooling -------------------------------------------------------------------------------------


def unpool(P: Any, count: int, shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, size: Any) -> Any:
    F = P.nn.functional
    x = P.to_tensor(ramp(*shape))
    y, mask = getattr(F, f"max_pool{count}d")(x, kernel, stride, padding, return_mask=True)
    return getattr(F, f"max_unpool{count}d")(y, mask, kernel, stride, padding, output_size=size)


case("max_unpool1d", lambda P: unpool(P, 1, (1, 2, 8), 2, 2, 0, None))
case("max_unpool2d", lambda P: unpool(P, 2, (1, 2, 6, 6), 2, None, 0, None))
case("max_unpool2d padded", lambda P: unpool(P, 2, (1, 1, 6, 6), 3, 2, 1, [1, 1, 6, 6]))
case("max_unpool3d", lambda P: unpool(P, 3, (1, 1, 4, 4, 4), 2, 2, 0, None))
case("lp_pool1d", lambda P: with_grads(P, lambda x: P.nn.functional.lp_pool1d(x, 2, 3, 2), leaf(P, 1, 2, 8)))
case("lp_pool1d padded", lambda P: P.nn.functional.lp_pool1d(P.to_tensor(ramp(1, 1, 8, low=0)), 3, 3, 2, 1, True))
case("lp_pool2d", lambda P: P.nn.functional.lp_pool2d(P.to_tensor(ramp(1, 2, 4, 4, low=0)), 3.0, 2))
case("lp_pool2d last", lambda P: P.nn.functional.lp_pool2d(
    P.to_tensor(ramp(1, 4, 4, 2, low=0)), 2, [2, 3], 1, data_format="NHWC"))  # fmt: skip
case("lp_pool2d infinite", lambda P: P.nn.functional.lp_pool2d(P.to_tensor(ramp(1, 1, 4, 4)), float("inf"), 2))
case("lp_pool zero", lambda P: P.nn.functional.lp_pool2d(P.to_tensor(ramp(1, 1, 4, 4)), 0, 2))
for u in (0.1, 0.5, 0.9):
    case(f"fractional2d {u}", lambda P, u=u: P.nn.functional.fractional_max_pool2d(
        P.to_tensor(ramp(1, 2, 7, 8)), [3, 4], random_u=u, return_mask=True))  # fmt: skip
    case(f"fractional2d kernel {u}", lambda P, u=u: P.nn.functional.fractional_max_pool2d(
        P.to_tensor(ramp(1, 2, 7, 8)), [3, None], [2, 1], random_u=u, return_mask=True))  # fmt: skip
    case(f"fractional3d {u}", lambda P, u=u: P.nn.functional.fractional_max_pool3d(
        P.to_tensor(ramp(1, 1, 5, 6, 7)), 3, 2, random_u=u))  # fmt: skip
case("local_response_norm", lambda P: P.nn.functional.local_response_norm(P.to_tensor(ramp(1, 5, 2, 2)), 3, 0.5))
case("local_response_norm even", lambda P: P.nn.functional.local_response_norm(
    P.to_tensor(ramp(1, 5, 4)), 2, 0.5, 0.6, 2.0, "NCL"))  # fmt: skip
case("local_response_norm last", lambda P: P.nn.functional.local_response_norm(
    P.to_tensor(ramp(1, 2, 2, 5)), 4, 0.5, data_format="NHWC"))  # fmt: skip

# ---- distances and bilinear ----------------------------------------------------------------------

for p in (1.0, 2.0, 3.0, float("inf"), 0.0, float("-inf")):
    case(f"pairwise_distance {p}", lambda P, p=p: with_grads(
        P, lambda x, y: P.nn.functional.pairwise_distance(x, y, p), leaf(P, 3, 4), leaf(P, 3, 4, low=0)))  # fmt: skip
case("pairwise_distance kept", lambda P: P.nn.functional.pairwise_distance(
    P.to_tensor(ramp(3, 4)), P.to_tensor(ramp(1, 4)), keepdim=True))  # fmt: skip
case("cosine_similarity", lambda P: with_grads(
    P, lambda x, y: P.nn.functional.cosine_similarity(x, y), leaf(P, 3, 4), leaf(P, 3, 4, low=-0.5)))  # fmt: skip
case("cosine_similarity axis", lambda P: P.nn.functional.cosine_similarity(
    P.to_tensor(ramp(3, 4)), P.to_tensor(ramp(3, 1)), axis=0))  # fmt: skip
case("bilinear", lambda P: with_grads(
    P, P.nn.functional.bilinear, leaf(P, 2, 3), leaf(P, 2, 4), leaf(P, 5, 3, 4), leaf(P, 1, 5)))  # fmt: skip
case("label_smooth", lambda P: P.nn.functional.label_smooth(P.to_tensor(ramp(2, 4)), epsilon=0.2))
case("rrelu still", lambda P: P.nn.functional.rrelu(P.to_tensor(ramp(2, 4)), 0.1, 0.5, training=False))
case("rrelu wrong", lambda P: P.nn.functional.rrelu(P.to_tensor(ramp(2, 4)), 0.6, 0.5))
case("swiglu", lambda P: with_grads(P, P.nn.functional.swiglu, leaf(P, 2, 4), leaf(P, 2, 4)))
case("swiglu odd", lambda P: P.nn.functional.swiglu(P.to_tensor(ramp(2, 3))))
case("sequence_mask", lambda P: P.nn.functional.sequence_mask(P.to_tensor([1, 3, 0]), 4, "float32"))

# ---- attention -----------------------------------------------------------------------------------


def attention(P: Any, mask: Any = None, heads: int = 2, **options: Any) -> Any:
    tensors = [leaf(P, 2, 3, 2, 4), leaf(P, 2, 5, heads, 4), leaf(P, 2, 5, heads, 4, low=-0.5)]
    given = None if mask is None else P.to_tensor(mask)
    return with_grads(
        P, lambda q, k, v: P.nn.functional.scaled_dot_product_attention(q, k, v, given, **options), *tensors
    )


case("attention", attention)
case("attention causal", lambda P: attention(P, is_causal=True))
case("attention masked", lambda P: attention(P, ramp(2, 1, 3, 5)))
case("attention bool mask", lambda P: attention(P, (ramp(2, 1, 3, 5) > -0.5) | (np.arange(5) == 0)))
case("attention scale", lambda P: attention(P, scale=0.3))
case("attention groups", lambda P: attention(P, heads=1))
case("flash_attention", lambda P: P.nn.functional.flash_attention.flash_attention(
    *[P.to_tensor(ramp(1, 3, 2, 4, low=low)) for low in (-1, -0.5, 0)], causal=True)[0])  # fmt: skip
