"""The graph as an object: deep ones, freed ones, shared by threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import proa as paddle
from proa.autograd import PyLayer
from proa.ir.recorder import flush_current
from tests.autograd.reference import constant, count_garbage, leaf


@pytest.fixture
def cold():
    """Nothing is compiled: long chains are the recorder's business elsewhere."""
    before = paddle.get_flags("FLAGS_hot_threshold")
    paddle.set_flags({"FLAGS_hot_threshold": 10**9})
    yield
    paddle.set_flags(before)


class Twice(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = x * 1.0
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g


STEPS = {
    "saves operands": lambda x, one: x * one,
    "saves its result": lambda x, one: (x * 0).exp(),
    "several outputs": lambda x, one: paddle.split(x, 1)[0],
    "PyLayer": lambda x, one: Twice.apply(x),
    "in place": lambda x, one: x.multiply_(one),
}


class TestDeep:
    def test_a_hundred_thousand_calls(self, cold):
        x, one = leaf([1.0]), constant([1.0])
        y = x * one
        for _ in range(100_000):
            y = y * one
        y.backward()
        assert x.grad.item() == 1

    @pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
    def test_long_chains_are_freed_without_recursion(self, cold, step):
        x, one = leaf([1.0]), constant([1.0])
        y = x * one
        first = weakref.ref(y.grad_fn)
        for _ in range(20_000):
            y = step(y, one)
        flush_current()
        assert first() is not None
        del y
        flush_current()
        gc.collect()
        assert first() is None

    @pytest.mark.slow
    def test_a_million_calls_are_freed(self):
        """In a process of its own: what is feared is a crash."""
        source = """
import proa as paddle
paddle.set_flags({"FLAGS_hot_threshold": 10**9})
x = paddle.to_tensor([1.0], stop_gradient=False)
y = x
for _ in range(1_000_000):
    y = y + x
del y
print("freed")
"""
        finished = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=110)
        assert finished.stdout == "freed\n", finished.stderr


class TestFreed:
    def test_after_backward_nothing_of_the_graph_is_alive(self):
        x, w = leaf(np.ones((2, 3))), leaf(np.ones((3, 2)))
        h = paddle.matmul(x, w)
        y = h.tanh()
        loss = (y * y).sum()
        tensors = [weakref.ref(t) for t in (h, y)]
        nodes = [weakref.ref(t.grad_fn) for t in (h, y)]
        del h, y
        loss.backward()
        flush_current()
        # The loss is still there, and nothing that it was computed from.
        assert [r() for r in tensors + nodes] == [None] * 4
        assert loss.item() > 0

    def test_with_retain_graph_it_is(self):
        x = leaf([1.0])
        h = x * 2
        y = h * h
        node = weakref.ref(h.grad_fn)
        del h
        y.backward(retain_graph=True)
        flush_current()
        assert node() is not None
        y.backward()
        del y
        flush_current()
        assert node() is None

    def test_a_running_sum_of_losses_does_not_keep_the_graphs(self):
        w = leaf([1.0])
        total, nodes = constant([0.0]), []
        for _ in range(3):
            h = w * 2
            loss = h * h
            nodes.append(weakref.ref(h.grad_fn))
            del h
            loss.backward()
            total = total + loss
        flush_current()
        assert [node() for node in nodes] == [None] * 3
        assert total.item() == 12

    def test_leaves_are_not_kept_by_results(self):
        x = leaf([1.0])
        reference = weakref.ref(x)
        y = x * 2
        y.backward()
        flush_current()
        del x
        assert reference() is None
        assert y.item() == 2

    def test_hooks_go_with_their_node(self):
        x = leaf([1.0])
        h = x * 2

        class Hook:
            def __call__(self, g):
                return None

        hook = Hook()
        reference = weakref.ref(hook)
        h.register_hook(hook)
        h.retain_grads()
        del hook
        flush_current()
        assert reference() is not None
        del h
        assert reference() is None

    @pytest.mark.parametrize("create_graph", [False, True])
    def test_no_reference_cycles(self, create_graph):
        def work():
            x = leaf([0.5, 1.0, 1.5, 2.0])
            a, b = paddle.split(x.exp() * x, 2)
            h = Twice.apply(a) * b.tanh()
            h.retain_grads()
            loss = (h[0] + paddle.stack([h, a]).sum()).sin()
            (g,) = paddle.grad(loss, x, create_graph=create_graph)
            if create_graph:
                (g * g).sum().backward(retain_graph=True)
            loss.backward()

        assert count_garbage(work) == 0

    def test_a_graph_that_is_never_used_leaves_no_cycles(self):
        def work():
            x = leaf([0.5, 1.0])
            return Twice.apply(paddle.unbind(x.exp())[0]).tanh()

        assert count_garbage(work) == 0


class TestThreads:
    def run(self, work, count=4):
        errors = []

        def guarded(number):
            try:
                work(number)
            except BaseException as error:  # shown by the main thread
                errors.append(error)

        threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert errors == []

    def test_graphs_of_their_own(self):
        results = {}

        def work(number):
            for _ in range(20):
                x = leaf(np.full(3, 0.1 * (number + 1)))
                (x.exp() * x).sum().backward()
                results[number] = x.grad.numpy()

        self.run(work)
        for number, got in results.items():
            value = 0.1 * (number + 1)
            np.testing.assert_allclose(got, np.full(3, np.exp(value) * (1 + value)))

    def test_a_shared_leaf_gets_every_gradient(self):
        w = leaf(np.ones(4))
        ready = threading.Barrier(4)

        def work(number):
            ready.wait()
            for _ in range(50):
                (w * float(number + 1)).sum().backward()

        self.run(work)
        np.testing.assert_allclose(w.grad.numpy(), np.full(4, 50.0 * (1 + 2 + 3 + 4)))

    def test_a_shared_graph_that_is_kept(self):
        x = leaf([2.0])
        y = (x * x).exp()
        results = []

        def work(number):
            for _ in range(10):
                results.append(paddle.grad(y, x)[0].item())

        self.run(work)
        np.testing.assert_allclose(results, np.full(40, 4 * np.exp(4.0)))

    def test_backward_in_another_thread_than_forward(self):
        x = leaf([3.0])
        y = x * x
        self.run(lambda number: y.backward(), count=1)
        assert x.grad.item() == 6
