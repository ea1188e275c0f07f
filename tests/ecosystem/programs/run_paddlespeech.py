"""paddlespeech: FastSpeech2, small, learns the spectrograms of two sentences by the package's own loss."""

import numpy as np
import paddle
from common import FLOAT, report, survives_saving, train
from paddlespeech.t2s.models.fastspeech2 import FastSpeech2, FastSpeech2Loss

paddle.seed(1)
random = np.random.default_rng(0)
durations = np.array([[2, 3, 1, 2], [1, 2, 2, 0]])
lengths, frames = np.array([4, 3]), durations.sum(1)
batch = {
    "text": paddle.to_tensor(random.integers(1, 19, (2, 4))), "text_lengths": paddle.to_tensor(lengths),
    "speech": paddle.to_tensor(random.normal(size=(2, frames.max(), 10)).astype(FLOAT)),
    "speech_lengths": paddle.to_tensor(frames), "durations": paddle.to_tensor(durations),
    "pitch": paddle.to_tensor(random.normal(size=(2, 4, 1)).astype(FLOAT)),
    "energy": paddle.to_tensor(random.normal(size=(2, 4, 1)).astype(FLOAT)),
}  # fmt: skip
criterion = FastSpeech2Loss(use_masking=True, use_weighted_masking=False)


def build():
    return FastSpeech2(
        idim=20, odim=10, adim=16, aheads=2, elayers=1, eunits=32, dlayers=1, dunits=32, postnet_layers=2, postnet_chans=16,
        duration_predictor_chans=16, energy_predictor_chans=16, pitch_predictor_chans=16,
    )  # fmt: skip


def loss_of(model):
    before, after, d, p, e, ys, olens, *_ = model(**batch)
    parts = criterion(
        after_outs=after, before_outs=before, d_outs=d, p_outs=p, e_outs=e, ys=ys, ds=batch["durations"],
        ps=batch["pitch"], es=batch["energy"], ilens=batch["text_lengths"], olens=olens,
    )  # fmt: skip
    return sum(parts[:4])


model = build()
optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
losses = train("FastSpeech2", model, optimizer, lambda: loss_of(model))
survives_saving(model, build(), lambda one: one(**batch)[1].numpy())
report(FastSpeech2=losses)
