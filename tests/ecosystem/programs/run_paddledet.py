"""paddledet: PicoDet learns two boxes, and finds boxes with the package's own suppression."""

import numpy as np
import paddle
from common import FLOAT, report, train
from ppdet.modeling.architectures import PicoDet
from ppdet.modeling.assigners import ATSSAssigner, TaskAlignedAssigner
from ppdet.modeling.backbones import LCNet
from ppdet.modeling.heads import PicoHeadV2
from ppdet.modeling.heads.pico_head import PicoFeat
from ppdet.modeling.layers import MultiClassNMS
from ppdet.modeling.losses import DistributionFocalLoss, GIoULoss
from ppdet.modeling.losses.varifocal_loss import VarifocalLoss
from ppdet.modeling.necks import LCPAN

paddle.seed(1)
backbone = LCNet(scale=0.35, feature_maps=[3, 4, 5])
neck = LCPAN(in_channels=[one.channels for one in backbone.out_shape], out_channels=32, num_features=4)
features = PicoFeat(32, 32, num_convs=2, num_fpn_stride=4, norm_type="bn", share_cls_reg=True, use_se=True)
head = PicoHeadV2(
    conv_feat=features, num_classes=3, fpn_stride=[8, 16, 32, 64], feat_in_chan=32, reg_max=7, use_align_head=True,
    loss_class=VarifocalLoss(use_sigmoid=True, iou_weighted=True, loss_weight=1.0),
    loss_dfl=DistributionFocalLoss(loss_weight=0.5), loss_bbox=GIoULoss(loss_weight=2.5), static_assigner_epoch=100,
    assigner=TaskAlignedAssigner(topk=13, alpha=1.0, beta=6.0), static_assigner=ATSSAssigner(topk=4, num_classes=3),
    nms=MultiClassNMS(nms_top_k=100, keep_top_k=10, score_threshold=0.01, nms_threshold=0.6),
)  # fmt: skip
model = PicoDet(backbone, neck, head)
batch = {
    "image": paddle.to_tensor(np.random.default_rng(0).normal(size=(2, 3, 128, 128)).astype(FLOAT)),
    "im_shape": paddle.to_tensor([[128.0, 128.0]] * 2), "scale_factor": paddle.to_tensor([[1.0, 1.0]] * 2),
    "im_id": paddle.to_tensor([[0], [1]]), "epoch_id": 1, "pad_gt_mask": paddle.ones([2, 1, 1]),
    "gt_bbox": paddle.to_tensor([[[5.0, 5.0, 30.0, 30.0]], [[10.0, 20.0, 50.0, 60.0]]]),
    "gt_class": paddle.to_tensor([[[1]], [[2]]]),
}  # fmt: skip
optimizer = paddle.optimizer.Momentum(0.0005, parameters=model.parameters())
losses = train("PicoDet", model, optimizer, lambda: model(batch)["loss"])
model.eval()
found = model(batch)
assert found["bbox"].shape[1] == 6, found
assert int(found["bbox_num"].sum()) == found["bbox"].shape[0]
report(PicoDet=losses)
