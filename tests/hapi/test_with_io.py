"""Model with datasets and loaders of paddle.io."""

from __future__ import annotations

import numpy as np
import pytest

import proa as paddle
from proa import io


class Samples(io.Dataset):
    def __init__(self, batches, count):
        source = batches(count, count)
        self.x, self.y = source.x, source.y

    def __getitem__(self, index):
        return self.x[index], self.y[index]

    def __len__(self):
        return len(self.x)


class Stream(io.IterableDataset):
    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        yield from (self.samples[index] for index in range(len(self.samples)))


LOSSES = [1.1798, 1.1097, 1.0966, 1.1668, 1.1156, 1.0714]  # observed in Paddle


def test_a_dataset_is_batched(make_model, batches, recorder):
    samples = Samples(batches, 10)
    make_model().fit(samples, batch_size=4, epochs=2, shuffle=False, verbose=0, callbacks=[recorder])
    assert recorder.losses() == LOSSES
    recorder.calls.clear()
    make_model().fit(samples, batch_size=4, epochs=1, shuffle=False, drop_last=True, verbose=0, callbacks=[recorder])
    assert recorder.losses() == LOSSES[:2]
    assert recorder.params["steps"] == 2


def test_a_loader_and_a_stream(make_model, batches, recorder):
    samples = Samples(batches, 10)
    loader = io.DataLoader(samples, batch_size=4, shuffle=False)
    make_model().fit(loader, epochs=2, verbose=0, callbacks=[recorder])
    assert recorder.losses() == LOSSES
    recorder.calls.clear()
    make_model().fit(Stream(samples), batch_size=4, epochs=2, verbose=0, callbacks=[recorder])
    assert recorder.losses() == LOSSES
    assert recorder.params["steps"] is None


def test_sizes_for_training_and_evaluation(make_model, batches, recorder):
    samples = Samples(batches, 10)
    make_model().fit(samples, samples, batch_size=(5, 2), shuffle=False, verbose=0, callbacks=[recorder])
    assert recorder.names().count("on_train_batch_end") == 2
    assert recorder.names().count("on_eval_batch_end") == 5
    for size in (0, -1, "a", (1, 2, 3)):
        with pytest.raises(ValueError, match="batch_size"):
            make_model().fit(samples, batch_size=size, verbose=0)


def test_samples_are_shuffled_by_the_seed(make_model, batches, recorder):
    samples = Samples(batches, 10)
    runs = []
    for _ in range(2):
        paddle.seed(1)
        np.random.seed(1)  # noqa: NPY002 (samplers of Paddle draw from it)
        recorder.calls.clear()
        make_model().fit(samples, batch_size=4, epochs=2, verbose=0, callbacks=[recorder])
        runs.append(recorder.losses())
    assert runs[0] == runs[1]
    assert runs[0] != LOSSES


def test_evaluate_and_predict(make_model, batches):
    samples = Samples(batches, 5)
    model = make_model()
    assert model.evaluate(samples, batch_size=2, verbose=0)["acc"] == model.evaluate(batches(5, 5), verbose=0)["acc"]
    assert model.predict(samples, batch_size=2, verbose=0, stack_outputs=True)[0].shape == (5, 3)
