"""The end of a process in which threads still compute: quiet, and with the exit code that was meant."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.process.scripts import outcome

# A daemon thread that trains for ever, with the main thread in the middle of it.
TRAINS = """
def forever():
    model = make_model()
    running.set()
    while True:
        train(model, 7)

running = threading.Event()
thread = threading.Thread(target=forever, daemon=True)
thread.start()
train(make_model(), 8)
running.wait()
time.sleep(float(sys.argv[1]))
"""
# One that compiles new programs all the time.
COMPILES = """
def forever():
    for size in range(8, 100_000):
        x = paddle.ones([size])
        for _ in range(4):
            for _ in range(60):
                x = (x * 1.5).tanh() + 1
            x.numpy()

threading.Thread(target=forever, daemon=True).start()
train(make_model(), 8)
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("delay", ["0", "0.013", "0.2"])
@pytest.mark.parametrize("what", [TRAINS, COMPILES], ids=["trains", "compiles"])
def test_a_daemon_thread_does_not_disturb_the_end(what, delay):
    assert outcome(what + "print('end')", delay) == (0, "end", "")


@pytest.mark.parametrize("module", ["jax", "jax._src.xla_bridge", "jax._src.api", "jax._src.interpreters.mlir"])
def test_a_daemon_thread_that_is_starting_xla(module):
    code = """
    threading.Thread(target=lambda: train(make_model(), 100_000), daemon=True).start()
    while sys.argv[1] not in sys.modules:
        time.sleep(0.0005)
    print("end")
    """
    assert outcome(code, module) == (0, "end", "")


def test_a_handler_may_wait_for_a_daemon_thread():
    code = """
    import atexit

    ended = threading.Event()
    model = make_model()

    def until_told():
        while not ended.is_set():
            train(model, 7)
        print("told", is_trained(model))

    thread = threading.Thread(target=until_told, daemon=True)
    thread.start()
    atexit.register(thread.join)
    atexit.register(ended.set)
    train(make_model(), 8)
    """
    assert outcome(code) == (0, "told True", "")


@pytest.mark.parametrize("what", [TRAINS, COMPILES], ids=["trains", "compiles"])
def test_exit_codes_are_kept(what):
    assert outcome(what + "print('end')\nsys.exit(3)", "0.05") == (3, "end", "")
    code, printed, errors = outcome(what + "raise KeyError('mine')", "0.05")
    assert (code, printed) == (1, "")
    assert errors.startswith("Traceback")
    assert errors.endswith("KeyError: 'mine'")
    assert "FATAL" not in errors
    assert outcome(what + "print('end', flush=True)\nos._exit(5)", "0.05") == (5, "end", "")
    assert outcome(what + "os.kill(os.getpid(), signal.SIGTERM)", "0.05") == (-15, "", "")


def test_handlers_and_output_of_others_come_through():
    code = """
    import atexit, ctypes

    atexit.register(print, "first handler")
    ctypes.CDLL(None).printf(b"of the C library\\n")  # still in its buffer
    atexit.register(print, "second handler")
    print("end", end="")
    """
    code, printed, errors = outcome(TRAINS + textwrap.dedent(code), "0.02")
    assert (code, errors) == (0, "")
    assert sorted(printed.splitlines()) == ["endsecond handler", "first handler", "of the C library"]


def test_threads_that_are_no_daemons_finish_their_work():
    code = """
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(3)
    def work(number):
        os.write(1, b"%r\\n" % is_trained(make_model(), 20))
    for number in range(6):
        pool.submit(work, number)
    """
    code, printed, errors = outcome(code)
    assert (code, printed.splitlines(), errors) == (0, ["True"] * 6, "")


def test_a_thread_that_never_computed_changes_nothing():
    code = """
    import atexit
    from proa.ir.process import exiting

    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
    train(make_model(), 8)
    exiting.leave_without_destructors = lambda *kept: print("left early")
    atexit.register(print, "end")
    """
    assert outcome(code) == (0, "end", "")


def test_a_daemon_thread_in_a_forked_process():
    code = """
    train(make_model(), 8)
    pid = os.fork()
    if pid == 0:
        model = make_model()
        threading.Thread(target=lambda: [train(model, 7) for _ in range(100_000)], daemon=True).start()
        time.sleep(0.2)
        sys.exit(6)
    print(wait(pid))
    """
    assert outcome(code) == (0, "6", "")


def test_under_pytest(tmp_path):
    test = """
    import threading
    import proa as paddle

    def forever():
        x = paddle.ones([50, 50])
        while True:
            x = (x @ x).tanh()
            x.numpy()

    def test_in_the_background():
        thread = threading.Thread(target=forever, daemon=True)
        thread.start()
        thread.join(1.0)
        assert thread.is_alive()
    """
    path = tmp_path / "test_daemon.py"
    path.write_text(textwrap.dedent(test))
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path)],
        capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (0, "")
    assert "1 passed" in found.stdout
