"""paddleclas: PP-LCNet and MobileNetV3 learn four pictures."""

import numpy as np
import paddle
from common import FLOAT, report, survives_saving, train
from paddleclas.ppcls.arch.backbone.legendary_models.mobilenet_v3 import MobileNetV3_small_x0_35
from paddleclas.ppcls.arch.backbone.legendary_models.pp_lcnet import PPLCNet_x0_25

paddle.seed(1)
pictures = paddle.to_tensor(np.random.default_rng(0).normal(size=(4, 3, 64, 64)).astype(FLOAT))
labels = paddle.to_tensor([0, 1, 2, 3])
losses = {}
for build in (PPLCNet_x0_25, MobileNetV3_small_x0_35):
    model = build(class_num=4)
    optimizer = paddle.optimizer.Momentum(0.01, parameters=model.parameters())
    loss_of = lambda model=model: paddle.nn.functional.cross_entropy(model(pictures), labels)  # noqa: E731
    losses[build.__name__] = train(build.__name__, model, optimizer, loss_of)
    survives_saving(model, build(class_num=4), lambda one: one(pictures).numpy())
report(**losses)
