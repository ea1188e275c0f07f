"""Tensors that several threads use at the same moment, with the interpreter switching as often as it can."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from queue import Queue

import numpy as np
import pytest

import proa as paddle


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*functions: Callable[[], None]) -> None:
    """Runs functions in threads of their own; raises what one of them raised."""
    errors: list[BaseException] = []

    def guarded(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_an_input_shared_by_threads_that_use_it_as_another_input_each() -> None:
    shared = [paddle.to_tensor(np.full(3, float(k), np.float32)) for k in range(8)]

    def work(shift: int) -> Callable[[], None]:
        def run() -> None:
            for _ in range(150):
                total = shared[shift] * 1.0
                for k in range(1, 8):
                    total = total + shared[(shift + k) % 8] * (10.0 ** (k % 4))
                expected = float(shift)
                for k in range(1, 8):
                    expected += float((shift + k) % 8) * 10.0 ** (k % 4)
                np.testing.assert_allclose(total.numpy(), np.full(3, expected, np.float32), rtol=1e-6)

        return run

    together(*[work(shift) for shift in (0, 3, 5)])


def test_pending_results_handed_to_another_thread_which_changes_copies_of_them() -> None:
    channel: Queue = Queue(maxsize=2)
    rounds = 300

    def sender() -> None:
        x = paddle.to_tensor(np.arange(4, dtype=np.float32))
        for number in range(rounds):
            result = x * float(number) + 1.0
            channel.put((number, result))
            (result * 2.0).numpy()  # flushes while the other thread looks at it

    def receiver() -> None:
        for _ in range(rounds):
            number, result = channel.get(timeout=30)
            copy = result.detach()
            other = paddle.assign(result)
            other.add_(paddle.to_tensor(1.0))
            copy = copy.scale(2.0)
            expected = np.arange(4, dtype=np.float32) * number + 1
            np.testing.assert_allclose(copy.numpy(), expected * 2, rtol=1e-6)
            np.testing.assert_allclose(other.numpy(), expected + 1, rtol=1e-6)
            np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)

    together(sender, receiver)
