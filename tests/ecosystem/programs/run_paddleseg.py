"""paddleseg: UNet and BiSeNetV2 learn two pictures.

The package's own CrossEntropyLoss multiplies a float by an int64 tensor, which Paddle 3.3.1 refuses too; so the loss is
`paddle.nn.functional.cross_entropy`.
"""

import numpy as np
import paddle
from common import FLOAT, report, survives_saving, train
from paddleseg.models import BiSeNetV2, UNet

paddle.seed(1)
random = np.random.default_rng(0)
pictures = paddle.to_tensor(random.normal(size=(2, 3, 64, 64)).astype(FLOAT))
labels = paddle.to_tensor(random.integers(0, 3, (2, 64, 64)))
losses = {}
for build in (UNet, BiSeNetV2):
    model = build(num_classes=3)
    optimizer = paddle.optimizer.SGD(0.02, parameters=model.parameters())
    loss_of = lambda model=model: sum(  # noqa: E731
        paddle.nn.functional.cross_entropy(logits, labels, axis=1) for logits in model(pictures)
    )
    losses[build.__name__] = train(build.__name__, model, optimizer, loss_of)
    survives_saving(model, build(num_classes=3), lambda one: one(pictures)[0].numpy())
report(**losses)
