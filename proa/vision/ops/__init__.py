"""`paddle.vision.ops`: boxes, regions, deformable convolution, YOLO (`proa/detection`), and image files."""

from __future__ import annotations

from ...detection import (
    DeformConv2D,
    PSRoIPool,
    RoIAlign,
    RoIPool,
    box_coder,
    deform_conv2d,
    distribute_fpn_proposals,
    generate_proposals,
    matrix_nms,
    nms,
    prior_box,
    psroi_pool,
    roi_align,
    roi_pool,
    yolo_box,
    yolo_loss,
)
from .blocks import ConvNormActivation as ConvNormActivation
from .files import decode_jpeg, read_file

__all__ = [
    "DeformConv2D",
    "PSRoIPool",
    "RoIAlign",
    "RoIPool",
    "box_coder",
    "decode_jpeg",
    "deform_conv2d",
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "nms",
    "prior_box",
    "psroi_pool",
    "read_file",
    "roi_align",
    "roi_pool",
    "yolo_box",
    "yolo_loss",
]
