"""Boxes, regions, deformable convolution and YOLO: the functions of `paddle.vision.ops` that model files hold as well.

They are compositions of ordinary operations, so gradients, both tiers and devices come with them. Where the number of
results depends on values (suppression, proposals) they are computed on the host, which their docstrings say.
"""

from __future__ import annotations

from ..eager.calling import putting_off
from ..graph.deferred import for_files
from .boxes import box_coder, prior_box
from .deformable import DeformConv2D, deform_conv2d
from .proposals import distribute_fpn_proposals as _distribute
from .proposals import generate_proposals as _generate
from .regions import PSRoIPool, RoIAlign, RoIPool, psroi_pool, roi_align, roi_pool
from .suppression import matrix_nms as _matrix_nms
from .suppression import nms as _nms
from .yolo import yolo_box, yolo_loss

# How many boxes there are is decided by values, so a static program calls these between its compiled parts.
nms, matrix_nms = for_files("vision.ops.nms")(putting_off(_nms)), putting_off(_matrix_nms)
generate_proposals, distribute_fpn_proposals = putting_off(_generate), putting_off(_distribute)

__all__ = [
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]
