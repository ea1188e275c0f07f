"""Paths that differ in sizes alone: what they have in common is found, checked at every use, and compiled for buckets."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import proa as paddle
from proa.ir.report import STATISTICS
from proa.ir.sizes import families
from proa.ir.tiers.kept import PROGRAMS

F = paddle.nn.functional
R = np.random.default_rng(3)
W = R.normal(size=(16, 8)).astype("float32")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    families.forget_families()
    paddle.set_flags({"FLAGS_size_buckets": "always"})
    yield
    paddle.set_flags({"FLAGS_size_buckets": "auto"})
    families.forget_families()


def understood() -> list[families.Family]:
    return [family for family in families.FAMILIES.values() if family.is_understood]


def softmax_rows(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_lengths_that_keep_changing_share_few_programs() -> None:
    weight = paddle.to_tensor(W)
    before = STATISTICS.compiles
    for length in (5, 7, 9, 21, 33, 3, 64, 2, 50, 6, 8, 10, 63, 17, 31):
        x = R.normal(size=(length, 16)).astype("float32")
        scores = F.relu(paddle.to_tensor(x) @ weight)
        total, rows = scores.sum(axis=0), F.softmax(scores, axis=-1)
        wanted = np.maximum(x @ W, 0)
        np.testing.assert_allclose(total.numpy(), wanted.sum(0), rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(rows.numpy(), softmax_rows(wanted), rtol=2e-5, atol=1e-6)
    assert 1 <= STATISTICS.compiles - before <= 5
    assert len(understood()) >= 1
    assert max(bucket.volume for family in understood() for bucket in family.buckets) == 64


def test_numbers_in_the_code_follow_the_size() -> None:
    for length in (12, 20, 28, 44, 36, 52):
        x = R.normal(size=(length, 6)).astype("float32")
        t = paddle.to_tensor(x)
        made = t * paddle.arange(length, dtype="float32").unsqueeze(1) + paddle.full([length, 1], 2.0)
        np.testing.assert_allclose(
            made.numpy(), x * np.arange(length, dtype="float32")[:, None] + 2, rtol=1e-6, atol=1e-6
        )
    assert understood()


def test_a_number_that_only_seemed_to_follow_is_noticed() -> None:
    """The first walks fit a formula that a later one breaks: that one must not run as a case of it."""
    for length, other in ((12, 12), (20, 20), (28, 28), (36, 36), (44, 7), (52, 5), (44, 8), (60, 60)):
        x = R.normal(size=(length,)).astype("float32")
        made = paddle.to_tensor(x).sum() + paddle.full([other], 1.0).sum()
        np.testing.assert_allclose(float(made), x.sum() + other, rtol=1e-5)


def test_sizes_one_and_none_are_not_like_others() -> None:
    for length in (4, 6, 9, 1, 0, 5, 1, 0, 11, 1):
        x = R.normal(size=(length, 3)).astype("float32")
        y = R.normal(size=(1, 3)).astype("float32")
        made = (paddle.to_tensor(x) + paddle.to_tensor(y)).sum(axis=0)
        np.testing.assert_allclose(made.numpy(), (x + y).sum(0), rtol=1e-5, atol=1e-6)


def test_sizes_that_repeat_get_programs_of_their_own() -> None:
    """Two sizes in turn are no changing sizes: neither is padded."""
    weight = paddle.to_tensor(W)
    for number in range(24):
        x = R.normal(size=(8 + 5 * (number % 2), 16)).astype("float32")
        np.testing.assert_allclose((paddle.to_tensor(x) @ weight).exp().numpy(), np.exp(x @ W), rtol=1e-4)
    hits = {str(entry.program.inputs) for entry, record in PROGRAMS.items() if record.hits > 4}
    assert len(hits) >= 2


def test_a_bad_index_raises_in_a_bucket_and_padding_never_does() -> None:
    table = paddle.to_tensor(W)
    for length in (5, 7, 9, 11, 13, 15):
        index = R.integers(0, 16, length)
        found = F.embedding(paddle.to_tensor(index), table) * 2.0
        np.testing.assert_allclose(found.numpy(), W[index] * 2)
    index[3] = 16
    with pytest.raises(ValueError, match="embedding"):
        (F.embedding(paddle.to_tensor(np.append(index, 2)), table) * 2.0).numpy()


def test_several_threads_with_sizes_of_their_own() -> None:
    weight = paddle.to_tensor(W)
    wrong: list[int] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(25):
            x = generator.normal(size=(int(generator.integers(2, 40)), 16)).astype("float32")
            made = F.relu(paddle.to_tensor(x) @ weight).sum(axis=0).numpy()
            if not np.allclose(made, np.maximum(x @ W, 0).sum(0), rtol=1e-4, atol=1e-4):
                wrong.append(len(x))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_has_no_rule_stays_exact_and_says_why() -> None:
    for length in (6, 8, 10, 12, 14, 16):
        x = R.normal(size=(length,)).astype("float32")
        made = paddle.fft.fft(paddle.to_tensor(x)).abs().sum()
        np.testing.assert_allclose(float(made), np.abs(np.fft.fft(x)).sum(), rtol=1e-4)
    reasons = [reason for family in families.FAMILIES.values() for reason in family.reasons]
    assert any("fft" in reason for reason in reasons)
    assert "fft" in str(paddle.jit.explain())


def test_models_of_several_widths_one_after_the_other_are_not_padded() -> None:
    """A search over widths: each model repeats its own step."""
    for width in (12, 20, 28):
        net = paddle.nn.Sequential(paddle.nn.Linear(6, width), paddle.nn.Tanh(), paddle.nn.Linear(width, 2))
        optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        x = paddle.to_tensor(R.normal(size=(5, 6)).astype("float32"))
        losses = []
        for _ in range(8):
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        assert losses[-1] < losses[0]
    assert not [bucket for family in families.FAMILIES.values() for bucket in family.buckets]


def test_never() -> None:
    paddle.set_flags({"FLAGS_size_buckets": "never"})
    before = STATISTICS.compiles
    for length in range(3, 20):
        assert float((paddle.ones([length]) * 2.0).sum()) == 2.0 * length
    assert STATISTICS.compiles == before
    with pytest.raises(ValueError, match="'auto', 'always' or 'never'"):
        paddle.set_flags({"FLAGS_size_buckets": "sometimes"})
    paddle.set_flags({"FLAGS_size_buckets": "always"})


def test_small_work_is_left_alone() -> None:
    """Unless it is asked for, filling up and cutting cost more than they could save."""
    paddle.set_flags({"FLAGS_size_buckets": "auto"})
    for length in range(3, 20):
        assert float((paddle.ones([length]) * 2.0).sum()) == 2.0 * length
    assert not families.FAMILIES


def _flat_labels(length: int, batch: int, table: np.ndarray) -> tuple[float, float]:
    """A loss over all positions of a batch, whose labels come in one row; ours, and NumPy's."""
    tokens, labels = R.integers(0, 12, (batch, length)), R.integers(0, 8, batch * length)
    scores = paddle.to_tensor(table)[paddle.to_tensor(tokens)].cumsum(1)
    loss = F.cross_entropy(scores.reshape([-1, 8]), paddle.to_tensor(labels))
    wanted = table[tokens].cumsum(1).reshape(-1, 8)
    return float(loss), float(-np.log(softmax_rows(wanted))[np.arange(batch * length), labels].mean())


def test_labels_of_a_batch_in_one_row_are_a_multiple_of_its_length() -> None:
    table = R.normal(size=(12, 8)).astype("float32")
    before = STATISTICS.compiles
    for length in (12, 20, 28, 9, 17, 31, 14, 25, 5, 30, 11):
        ours, wanted = _flat_labels(length, 3, table)
        assert ours == pytest.approx(wanted, rel=2e-5)
    (family,) = [f for f in understood() if f.buckets]
    assert len(family.general.symbols) == 1  # type: ignore[union-attr]
    assert STATISTICS.compiles - before <= 3


def test_labels_that_are_only_by_chance_a_multiple() -> None:
    """After two walks of three rows, other batches come: they are no cases of it, and must not be padded like it."""
    table = R.normal(size=(12, 8)).astype("float32")
    for length, batch in ((12, 3), (20, 3), (28, 3), (16, 3), (20, 5), (28, 2), (9, 4), (12, 6), (20, 3), (15, 7)):
        ours, wanted = _flat_labels(length, batch, table)
        assert ours == pytest.approx(wanted, rel=2e-5)


def test_a_size_twice_another_may_be_one_of_its_own() -> None:
    """Both ways of seeing it are tried: windows over an axis want it in one piece."""
    for width in (8, 12, 20, 16, 24, 11, 9):
        x, y = R.normal(size=(1, 2, width)).astype("float32"), R.normal(size=(1, 2, 2 * width)).astype("float32")
        made = F.max_pool1d(paddle.to_tensor(y), 2, 2) + paddle.to_tensor(x)
        np.testing.assert_allclose(made.numpy(), y.reshape(1, 2, width, 2).max(-1) + x, rtol=1e-6)


def test_pictures_get_close_buckets() -> None:
    """They grow in two directions: the next power of two would be three times the work."""
    weight = paddle.to_tensor(R.normal(size=(4, 2, 3, 3)).astype("float32"))
    for extent in (24, 36, 34, 38, 35, 33, 37, 39):
        x = R.normal(size=(1, 2, extent, extent)).astype("float32")
        assert F.conv2d(paddle.to_tensor(x), weight, padding=1).exp().sum(axis=[2, 3]).numpy().shape == (1, 4)
    volumes = [bucket.volume for family in understood() for bucket in family.buckets]
    assert volumes
    assert max(volumes) <= 40


def test_heavy_steps_take_a_bucket_instead_of_running_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled at first sight is never run op by op because a bucket seems no quicker than that."""
    from proa.ir.tiers import worth

    paddle.set_flags({"FLAGS_size_buckets": "auto"})
    monkeypatch.setattr(worth, "_HEAVY", 1 << 8)
    monkeypatch.setattr(families, "_WORTH", 0.0)
    weight = paddle.to_tensor(W)
    before, cold = STATISTICS.compiles, STATISTICS.cold_runs
    for length in (40, 55, 70, 100, 90, 60, 120, 75, 44, 110):
        x = R.normal(size=(length, 16)).astype("float32")
        got = F.relu(paddle.to_tensor(x) @ weight).sum(axis=0).numpy()
        np.testing.assert_allclose(got, np.maximum(x @ W, 0).sum(0), rtol=2e-5, atol=1e-5)
    assert STATISTICS.cold_runs == cold
    assert STATISTICS.compiles - before <= 4
