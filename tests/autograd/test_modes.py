"""no_grad, enable_grad, set_grad_enabled, inference_mode: as blocks, as decorators, per thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

import proa as paddle
from tests.autograd.reference import leaf


def is_recorded() -> bool:
    return not (leaf([1.0]) * 2).stop_gradient


def test_blocks_nest():
    states = []
    with paddle.no_grad():
        states.append(paddle.is_grad_enabled())
        with paddle.enable_grad():
            states.append(paddle.is_grad_enabled())
        states.append(is_recorded())
    states.append(is_recorded())
    assert states == [False, True, False, True]


def test_one_object_may_be_entered_again():
    mode = paddle.no_grad()
    with mode:
        with mode:
            assert not is_recorded()
        assert not is_recorded()
    assert is_recorded()


def test_the_mode_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), paddle.no_grad():
        _ = 1 / 0
    assert is_recorded()


@pytest.mark.parametrize(
    "decorator", [paddle.no_grad, paddle.no_grad(), paddle.inference_mode, paddle.inference_mode()]
)
def test_decorated_functions(decorator):
    @decorator
    def double(x, *, factor=2):
        """Doubles."""
        return x * factor

    result = double(leaf([1.0]), factor=4)
    assert result.stop_gradient
    assert result.item() == 4
    assert [double.__name__, double.__doc__] == ["double", "Doubles."]
    assert is_recorded()


def test_a_decorated_function_that_raises():
    @paddle.no_grad()
    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        fail()
    assert is_recorded()


def test_a_decorated_function_may_call_itself():
    @paddle.no_grad()
    def count(n):
        assert not paddle.is_grad_enabled()
        return 0 if n == 0 else 1 + count(n - 1)

    assert count(5) == 5
    assert is_recorded()


def test_methods():
    class Model:
        @paddle.no_grad()
        def predict(self, x):
            return x * 2

    assert Model().predict(leaf([1.0])).stop_gradient


def test_enable_grad_as_a_decorator():
    @paddle.enable_grad()
    def double(x):
        return x * 2

    with paddle.no_grad():
        assert not double(leaf([1.0])).stop_gradient


class TestGenerators:
    def test_the_body_and_the_caller_have_modes_of_their_own(self):
        @paddle.no_grad()
        def generate():
            for _ in range(2):
                yield paddle.is_grad_enabled()

        assert [(inside, paddle.is_grad_enabled()) for inside in generate()] == [(False, True)] * 2

    def test_sending_throwing_returning_closing(self):
        log = []

        @paddle.no_grad()
        def generate():
            try:
                received = yield 1
                log.append(received)
                try:
                    yield 2
                except ValueError:
                    log.append("caught")
                return "end"
            finally:
                log.append(paddle.is_grad_enabled())

        steps = generate()
        assert next(steps) == 1
        assert steps.send("hello") == 2
        with pytest.raises(StopIteration) as stop:
            steps.throw(ValueError())
        assert stop.value.value == "end"
        assert log == ["hello", "caught", False]
        other = generate()
        next(other)
        other.close()
        assert log[3:] == [False]
        assert paddle.is_grad_enabled()

    def test_coroutines_do_not_leak_their_mode(self):
        seen = []

        @paddle.no_grad()
        async def quiet():
            await asyncio.sleep(0)
            seen.append(("quiet", paddle.is_grad_enabled()))
            await asyncio.sleep(0)
            return 5

        async def loud():
            for _ in range(3):
                seen.append(("loud", paddle.is_grad_enabled()))
                await asyncio.sleep(0)

        async def both():
            return await asyncio.gather(quiet(), loud())

        assert asyncio.run(both()) == [5, None]
        assert all(enabled == (who == "loud") for who, enabled in seen)


class TestSetGradEnabled:
    def test_as_a_block(self):
        with paddle.set_grad_enabled(False):
            assert not is_recorded()
            with paddle.set_grad_enabled(True):
                assert is_recorded()
            assert not is_recorded()
        assert is_recorded()

    def test_as_a_plain_call(self):
        paddle.set_grad_enabled(False)
        try:
            assert not is_recorded()
        finally:
            paddle.set_grad_enabled(True)
        assert is_recorded()

    def test_as_a_decorator(self):
        @paddle.set_grad_enabled(False)
        def inside():
            return paddle.is_grad_enabled()

        assert paddle.is_grad_enabled()
        assert inside() is False

    def test_the_same_object_twice(self):
        mode = paddle.set_grad_enabled(False)
        with mode:
            assert not paddle.is_grad_enabled()
        assert paddle.is_grad_enabled()
        with mode:
            assert not paddle.is_grad_enabled()
        assert paddle.is_grad_enabled()


def test_inference_mode_can_be_off():
    with paddle.inference_mode(False):
        assert is_recorded()
    with paddle.inference_mode():
        assert not is_recorded()
    assert is_recorded()


def test_threads_do_not_share_the_mode():
    states = []
    with paddle.no_grad():
        thread = threading.Thread(target=lambda: states.append(is_recorded()))
        thread.start()
        thread.join()
    assert states == [True]


def test_only_functions_can_be_decorated():
    with pytest.raises(TypeError, match="only a function can be decorated"):
        paddle.no_grad()(5)


def test_names_in_paddle_autograd():
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "is_grad_enabled", "grad"):
        assert getattr(paddle.autograd, name) is getattr(paddle, name)
