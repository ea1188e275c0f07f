"""Processes forked from one in which XLA runs: they compute, on NumPy, and they end."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import proa as paddle
from proa.core.locks import new_lock, new_reentrant_lock
from proa.ir.process import forking
from proa.ir.xla import jax_module, started_jax
from proa.kernels.cpu import library
from tests.process.scripts import outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.mark.parametrize(
    "make",
    ["multiprocessing.get_context('fork').Pool(2)", "ProcessPoolExecutor(2, multiprocessing.get_context('fork'))"],
)
def test_a_pool_answers(make):
    code = """
    from concurrent.futures import ProcessPoolExecutor

    model = make_model()
    train(model, 8)
    assert compiles() > 0

    def work(number):
        x = paddle.full([4, 6], float(number))
        return model(x).numpy()

    def learn(_):
        return is_trained(make_model()) and is_trained(model)

    weight, bias = model.weight.numpy(), model.bias.numpy()
    with MAKE as pool:
        for number, found in enumerate(pool.map(work, range(6))):
            np.testing.assert_allclose(found, np.full((4, 6), number, "float32") @ weight + bias, rtol=1e-5)
        print(list(pool.map(learn, range(3))))
    print(is_trained(model))
    """
    assert outcome(code.replace("MAKE", make)) == (0, "[True, True, True]\nTrue", "")


def test_what_was_recorded_before_the_fork_is_there_in_both():
    code = """
    model = make_model()
    train(model, 8)
    x = paddle.to_tensor(INPUTS)
    pending = (model(x) * 2).tanh()
    halves = pending.chunk(2)
    wanted = np.tanh((INPUTS @ np.asarray(model.weight._value) + np.asarray(model.bias._value)) * 2)

    def read():
        more = pending + 1  # the child goes on with the segment, as the parent does
        return (
            np.allclose(halves[1].numpy(), wanted[16:], atol=1e-6)
            and np.allclose(more.numpy(), wanted + 1, atol=1e-6)
            and float((pending.sum() * 0 + 3).item()) == 3.0
        )

    def gradient():
        loss = pending.sum()
        loss.backward()
        slope = 2 * (1 - wanted**2)
        return np.allclose(model.weight.grad.numpy(), INPUTS.T @ slope, rtol=1e-4)

    print(in_child(read), in_child(gradient), in_child(read), read(), gradient())
    """
    assert outcome(code) == (0, "0 0 0 True True", "")


def test_exit_codes_of_children_that_end_by_themselves():
    code = """
    import atexit

    model = make_model()
    train(model, 8)

    def child(how):
        pid = os.fork()
        if pid:
            return wait(pid)
        atexit.register(print, "handler of", how, flush=True)
        assert is_trained(model)
        if how == "exit":
            sys.exit(3)
        if how == "exception":
            raise KeyError("in the child")
        if how == "deletes":
            del globals()["model"]
            sys.exit(4)
        sys.exit()

    for how in ("exit", "exception", "deletes", "returns"):
        if (code := child(how)) is not None:
            print(code, flush=True)
    """
    code, printed, errors = outcome(code)
    assert printed.splitlines() == [
        "handler of exit", "3", "handler of exception", "1", "handler of deletes", "4", "handler of returns", "0",
    ]  # fmt: skip
    assert errors.endswith("KeyError: 'in the child'")
    assert code == 0


def test_children_of_children():
    code = """
    model = make_model()
    train(model, 8)

    def inner():
        return is_trained(model) and is_trained(make_model())

    print(in_child(lambda: is_trained(model) and in_child(inner) == 0 and in_child(lambda: in_child(inner) == 0) == 0))
    """
    assert outcome(code) == (0, "0", "")


def test_a_fork_while_other_threads_compute():
    code = """
    models = [make_model() for _ in range(3)]
    ended = threading.Event()

    def compute(model):
        while not ended.is_set():
            train(model, 5)

    threads = [threading.Thread(target=compute, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    mine = make_model()
    while not compiles():  # a fork while a thread imports JAX is a matter of its own
        train(mine, 8)
    codes = []
    def child():
        x = paddle.ones([number + 40])  # of a new size, and used often enough to be compiled
        for _ in range(5):
            x = (x * 0.5).tanh()
            x.numpy()
        # Their parameters change all the time: here they are whole, and can be trained on. Gradients may be there or not.
        for model in models:
            model.clear_gradients()
        return is_trained(mine) and all(is_trained(model) for model in models)

    for number in range(12):
        codes.append(in_child(child))
    ended.set()
    for thread in threads:
        thread.join()
    print(set(codes), is_trained(mine), all(is_trained(model) for model in models))
    """
    assert outcome(code) == (0, "{0} True True", "")


def test_a_fork_while_another_thread_imports_jax():
    code = """
    mine = make_model()
    train(mine, 1)
    importing, go_on = threading.Event(), threading.Event()

    from importlib.machinery import SourceFileLoader

    execute = SourceFileLoader.exec_module

    def slow(loader, module):
        if module.__name__ == "jax.numpy":
            importing.set()
            go_on.wait()
        execute(loader, module)

    SourceFileLoader.exec_module = slow

    def compute():
        x = paddle.ones([3])
        for _ in range(12):
            x = (x * 1.5).tanh()
            x.numpy()

    paddle.set_flags({"FLAGS_hot_threshold": 1})
    thread = threading.Thread(target=compute)
    thread.start()
    importing.wait()
    print(in_child(lambda: is_trained(mine) and is_trained(make_model(), 30)))
    go_on.set()
    thread.join()
    print(in_child(lambda: is_trained(mine)), is_trained(mine), compiles() > 0)
    """
    assert outcome(code) == (0, "0\n0 True True", "")


def test_a_fork_while_another_thread_starts_xla():
    code = """
    import jax

    mine = make_model()
    train(mine, 1)
    starting, go_on = threading.Event(), threading.Event()
    found = jax.local_devices

    def slow(*arguments, **named):
        with jax._src.xla_bridge._backend_lock:
            starting.set()
            go_on.wait()
        return found(*arguments, **named)

    def compute():
        x = paddle.ones([3])
        for _ in range(12):
            x = (x * 1.5).tanh()
            x.numpy()

    jax.local_devices = slow
    paddle.set_flags({"FLAGS_hot_threshold": 1})
    thread = threading.Thread(target=compute)
    thread.start()
    starting.wait()
    print(in_child(lambda: is_trained(mine) and is_trained(make_model(), 30)))
    go_on.set()
    thread.join()
    print(in_child(lambda: is_trained(mine)), is_trained(mine), compiles() > 0)
    """
    assert outcome(code) == (0, "0\n0 True True", "")


def test_a_fork_while_another_thread_compiles():
    code = """
    mine = make_model()
    train(mine, 8)
    compiling, ended = threading.Event(), threading.Event()

    def compile_for_long():
        from proa.ir.tiers import lowering

        lower = lowering.lower_program
        def slow(*arguments, **named):
            compiling.set()
            ended.wait()
            return lower(*arguments, **named)
        lowering.lower_program = slow
        x = paddle.ones([3])
        for _ in range(6):
            x = (x * 1.5).tanh()
            x.numpy()

    thread = threading.Thread(target=compile_for_long)
    thread.start()
    compiling.wait()
    begin = time.monotonic()
    print(in_child(lambda: is_trained(mine)))
    print(time.monotonic() - begin < 20)
    ended.set()
    thread.join()
    """
    assert outcome(code) == (0, "0\nTrue", "")


def test_hot_loops_stay_on_tier_0_whatever_flags_say():
    code = """
    model = make_model()
    train(model, 8)
    before = compiles()

    def child():
        paddle.device.synchronize()
        first = is_trained(model, 30)
        paddle.set_flags({"FLAGS_hot_threshold": 1, "FLAGS_eager_mode": "auto"})
        return first and is_trained(model, 30) and is_trained(make_model(), 30) and compiles() == before

    print(in_child(child))
    """
    assert outcome(code) == (0, "0", "")


def test_a_process_forked_before_xla_is_started_compiles_by_itself():
    code = """
    def child():
        return is_trained(make_model(), 30) and compiles() > 0

    print(compiles(), in_child(child), in_child(child))
    """
    assert outcome(code) == (0, "0 0 0", "")


def test_spawned_processes_have_an_xla_of_their_own(tmp_path):
    code = """
    import multiprocessing, sys
    import numpy as np
    import proa as paddle

    def work(pair):
        x, number = pair
        for _ in range(6):
            y = (x * number).tanh()
            y.numpy()
        from proa.ir.report import STATISTICS
        return y, STATISTICS.compiles

    if __name__ == "__main__":
        x = paddle.to_tensor([0.5, 1.0])
        y, compiles = work((x, 2.0))
        assert compiles > 0
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            for number, (found, compiles) in enumerate(pool.map(work, [(x, 0.0), (y, 1.0)])):
                wanted = np.tanh([0.5 * 0, 0]) if number == 0 else np.tanh(np.tanh([1.0, 2.0]))
                np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)
                assert compiles > 0
        print("done")
    """
    path = tmp_path / "spawning.py"
    path.write_text(textwrap.dedent(code))
    for method in ("spawn", "forkserver"):
        found = subprocess.run(
            [sys.executable, str(path), method], capture_output=True, text=True, timeout=120, check=False
        )
        assert (found.returncode, found.stdout, found.stderr) == (0, "done\n", "")


def test_graphs_static_programs_and_predictors():
    code = """
    model = make_model()
    static = paddle.jit.to_static(model)
    train(model, 8)
    x = paddle.to_tensor(INPUTS)
    wanted = INPUTS @ model.weight.numpy() + model.bias.numpy()

    @paddle.jit.to_static
    def branching(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    def gathered(x, index):
        return paddle.gather(x, index)

    branching(x)  # compiled by the parent
    with paddle.no_grad():
        static(x)

    def child():
        with paddle.no_grad():
            assert np.allclose(static(x).numpy(), wanted, atol=1e-5)
            assert np.allclose(static(x[:5]).numpy(), wanted[:5], atol=1e-5)  # and one that was not
        sign = INPUTS.sum() > 0
        assert np.allclose(branching(x).numpy(), INPUTS * 2 if sign else INPUTS - 1)
        assert np.allclose(branching(-x).numpy(), -INPUTS - 1 if sign else INPUTS * -2)
        try:
            paddle.jit.to_static(gathered)(x, paddle.to_tensor([50])).numpy()
        except IndexError as error:
            assert "out of range" in str(error)
        else:
            return False
        return True

    print(in_child(child))

    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        given = paddle.static.data("given", [None, 6])
        made = paddle.tanh(given) + 1
    executor = paddle.static.Executor()

    def run(rows):
        (found,) = executor.run(program, feed={"given": INPUTS[:rows]}, fetch_list=[made])
        return np.allclose(found, np.tanh(INPUTS[:rows]) + 1, atol=1e-6)

    print(run(4), in_child(lambda: run(4) and run(7)), run(9))
    """
    assert outcome(code) == (0, "0\nTrue 0 True", "")


@pytest.mark.skipif(bool(library.why_not()), reason=f"no native kernels: {library.why_not()}")
def test_native_kernels_work_in_children():
    code = """
    from proa.kernels.cpu import library

    F = nn.functional
    assert library.why_not() == ""
    large = np.random.default_rng(1).normal(size=(2, 8, 40, 40)).astype("float32")
    kernel = np.random.default_rng(2).normal(size=(16, 8, 3, 3)).astype("float32")

    def compute():
        x, w = paddle.to_tensor(large), paddle.to_tensor(kernel)
        x.stop_gradient = w.stop_gradient = False
        y = F.relu(F.conv2d(x, w, padding=1))
        F.softmax(y.flatten(1) @ y.flatten(1).T).sum().backward()
        return [y.numpy(), x.grad.numpy(), w.grad.numpy()]

    for _ in range(4):
        wanted = compute()  # compiled, and kept memory is in use

    def child():
        for _ in range(4):
            for found, value in zip(compute(), wanted, strict=True):
                np.testing.assert_allclose(found, value, rtol=1e-3, atol=1e-3)
        return True

    print([in_child(child) for _ in range(3)], in_child(lambda: in_child(child) == 0))
    """
    assert outcome(code, native=True) == (0, "[0, 0, 0] 0", "")


def test_random_numbers_are_those_that_the_parent_would_draw():
    code = """
    train(make_model(), 8)
    paddle.seed(5)
    paddle.rand([2])
    state = paddle.get_rng_state()

    def drawn():
        return [paddle.rand([3]).tolist(), paddle.randint(0, 100, [3]).tolist()]

    read, write = os.pipe()
    def child():
        os.write(write, repr(drawn()).encode())
        return True

    print(in_child(child), os.read(read, 1000).decode() == repr(drawn()))
    """
    assert outcome(code) == (0, "0 True", "")


def test_what_needs_xla_says_what_to_do():
    code = """
    train(make_model(), 8)

    def child():
        logits = paddle.rand([6, 2, 5])
        logits.stop_gradient = False
        labels, lengths = paddle.ones([2, 2], "int32"), [paddle.full([2], n, "int64") for n in (6, 2)]
        loss = paddle.nn.functional.ctc_loss(logits, labels, *lengths)
        assert float(loss) > 0
        loss.backward()  # its gradient has no form in NumPy
        logits.grad.numpy()

    print(in_child(child))
    """
    code, printed, errors = outcome(code)
    assert (code, printed) == (0, "2")
    assert "(fork) this needs XLA" in errors
    assert "'spawn' or 'forkserver'" in errors.replace("get_context('spawn')", "'spawn'")


def test_values_of_an_accelerator_cannot_be_read(monkeypatch):
    class Device:
        platform = "gpu"

    class Value:
        class sharding:
            device_set = frozenset({Device()})

        def __array__(self, *arguments, **named):
            raise AssertionError("the device was asked")

    monkeypatch.setattr(forking.State, "lost", "(fork) this needs XLA, which is not there.")
    tensor = paddle.to_tensor([1.0])
    tensor._value = Value()
    with pytest.raises(RuntimeError, match=r"\(fork\) .* memory of an accelerator; received a value on gpu; .*spawn"):
        tensor.numpy()
    with pytest.raises(RuntimeError, match=r"\(fork\) this needs XLA"):
        started_jax()
    assert jax_module() is not None  # tracing needs no threads
    np.testing.assert_array_equal((paddle.to_tensor([1.0]) + 1).numpy(), [2.0])


def test_a_value_that_is_not_there_yet_is_not_waited_for(monkeypatch):
    class Device:
        platform = "cpu"

    class Value:
        class sharding:
            device_set = frozenset({Device()})

        def is_ready(self):
            return False

    monkeypatch.setattr(forking.State, "lost", "(fork) this needs XLA, which is not there.")
    with pytest.raises(RuntimeError, match=r"\(fork\) another thread was still computing"):
        forking.host_array(Value())


def test_locks_are_open_in_a_child_but_those_of_the_thread_that_forks():
    taken, held, own = new_lock(), new_reentrant_lock(), new_reentrant_lock()
    ready, ended = threading.Event(), threading.Event()

    def hold():
        with taken, held:
            ready.set()
            ended.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    own.acquire()
    pid = os.fork()
    if pid == 0:
        good = taken.acquire(timeout=5) and held.acquire(timeout=5) and own._is_owned()
        own.release()
        os._exit(0 if good and not own._is_owned() else 1)
    _, status = os.waitpid(pid, 0)
    still_taken = not taken.acquire(blocking=False) and not held.acquire(blocking=False)
    own.release()
    ended.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert still_taken


def test_every_lock_is_made_where_forks_know_of_it():
    package = pathlib.Path(paddle.__file__).parent
    made = re.compile(r"threading\.(R?Lock|Condition|Semaphore|Barrier)\(")
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if made.search(path.read_text())}
    assert found == {"core/locks.py"}
