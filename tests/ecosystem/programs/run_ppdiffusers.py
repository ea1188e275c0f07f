"""ppdiffusers: a small UNet learns to take noise off two pictures."""

import numpy as np
import paddle
from common import FLOAT, report, survives_saving, train
from ppdiffusers import DDPMScheduler, UNet2DModel

paddle.seed(1)


def build():
    return UNet2DModel(
        sample_size=16, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(16, 32), norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip


random = np.random.default_rng(0)
pictures, noise = (paddle.to_tensor(random.normal(size=(2, 1, 16, 16)).astype(FLOAT)) for _ in range(2))
times = paddle.to_tensor([3, 700])
noisy = DDPMScheduler(num_train_timesteps=1000).add_noise(pictures, noise, times)
model = build()
optimizer = paddle.optimizer.AdamW(1e-3, parameters=model.parameters())
losses = train(
    "UNet2DModel", model, optimizer, lambda: paddle.nn.functional.mse_loss(model(noisy, times).sample, noise)
)  # fmt: skip
survives_saving(model, build(), lambda one: one(noisy, times).sample.numpy())
report(UNet2DModel=losses)
