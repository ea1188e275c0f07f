"""Errors end at the user's line: what `traceback` prints, and what scripts, threads, pytest and debuggers see."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
import threading
import traceback
import warnings

import numpy as np
import pytest

import proa as paddle
from proa import nn
from proa.core import tracebacks

HERE = __file__


@pytest.fixture(autouse=True)
def _short_tracebacks():
    before = paddle.get_flags("FLAGS_full_traceback")
    paddle.set_flags({"FLAGS_full_traceback": False})
    yield
    paddle.set_flags(before)


def files_in(error: BaseException) -> list[str]:
    """The files of all frames that would be printed, causes and contexts included."""
    found = traceback.TracebackException.from_exception(error)
    files = []
    while found is not None:
        files += [frame.filename for frame in found.stack]
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    return files


class Twice(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return self.linear(x)


def computed_index():
    rows = paddle.gather(paddle.ones([3, 3]), paddle.to_tensor([1, 2]) * 50)
    return rows.numpy()


def assignment():
    x = paddle.ones([2, 3])
    x[0] = paddle.ones([7])


class Broken(paddle.io.Dataset):
    def __getitem__(self, index):
        return {}[index]

    def __len__(self):
        return 2


def backward_twice():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = (x * x).sum()
    y.backward()
    y.backward()


class Doubling(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad + paddle.ones([7])


def py_layer():
    x = paddle.ones([2])
    x.stop_gradient = False
    Doubling.apply(x).backward()


def gradient_hook():
    x = paddle.ones([2])
    x.stop_gradient = False
    y = x * 1
    y.register_hook(lambda grad: grad + paddle.ones([7]))
    y.sum().backward()


@paddle.jit.to_static
def converted(x):
    if x.sum() > 0:
        return x + paddle.ones([7])
    return x


CASES = {
    "operator": (lambda: paddle.ones([2, 3]) + paddle.ones([4]), 1),
    "reflected": (lambda: "a" - paddle.ones([2]), 1),
    "function": (lambda: paddle.add("a", 3), 1),
    "alias": (lambda: paddle.add(input=paddle.ones([2, 3]), other=paddle.ones([4])), 1),
    "other order": (lambda: paddle.gather(paddle.ones([3, 3]), paddle.to_tensor([7])), 1),
    "method": (lambda: paddle.ones([2, 3]).reshape([4, -1]), 1),
    "in place": (lambda: paddle.ones([2]).add_(paddle.ones([4])), 1),
    "many operands": (lambda: paddle.concat([paddle.ones([2, 3]), paddle.ones([2])]), 1),
    "layer in a layer": (lambda: Twice()(paddle.ones([2, 5])), 2),
    "found late": (computed_index, 1),
    "item": (assignment, 1),
    "new tensor": (lambda: paddle.to_tensor(object()), 1),
    "one operator": (lambda: paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([2, 3])), 1),
    "dataset": (lambda: list(paddle.io.DataLoader(Broken(), batch_size=2)), 2),
    "conversion": (lambda: bool(paddle.ones([3])), 1),
    "backward twice": (backward_twice, 1),
    "PyLayer": (py_layer, 2),
    "hook": (gradient_hook, 2),
    "to_static": (lambda: converted(paddle.ones([3])), 3),  # the branch is a function of its own
}


@pytest.mark.parametrize("case", CASES)
def test_an_error_shows_the_users_lines_and_nothing_else(case):
    call, own_lines = CASES[case]
    for _ in range(2):  # the first call of an operation goes another way than all others
        with pytest.raises(Exception) as caught:
            call()
        files = files_in(caught.value)
        assert set(files) == {HERE}, files
        assert len(files) == own_lines + 1  # and this one


def test_the_full_traceback_can_be_asked_for():
    paddle.set_flags({"FLAGS_full_traceback": True})
    with pytest.raises(TypeError) as caught:
        paddle.add("a", 3)
    assert any(file.endswith("dispatch.py") for file in files_in(caught.value))


def test_what_the_user_was_handling_stays_in_sight():
    def handle():
        try:
            {}["absent"]
        except KeyError:
            paddle.add("a", 3)

    with pytest.raises(TypeError) as caught:
        handle()
    assert isinstance(caught.value.__context__, KeyError)
    assert set(files_in(caught.value)) == {HERE}


def test_a_cause_is_kept_and_trimmed():
    def load():
        try:
            paddle.ones([2]) + paddle.ones([3])
        except ValueError as error:
            raise RuntimeError("no luck") from error

    with pytest.raises(RuntimeError, match="no luck") as caught:
        load()
    assert isinstance(caught.value.__cause__, ValueError)
    assert set(files_in(caught.value)) == {HERE}


def test_every_error_of_a_group_is_trimmed():
    def many():
        errors = []
        for shape in ([3], [4]):
            try:
                paddle.ones([2]) + paddle.ones(shape)
            except ValueError as error:
                errors.append(error)
        raise ExceptionGroup("several", errors)

    with pytest.raises(ExceptionGroup) as caught:
        many()
    tracebacks.trim(caught.value)
    assert all(set(files_in(error)) == {HERE} for error in caught.value.exceptions)


def test_an_error_that_is_its_own_context_ends():
    for length in (1, 2, 3):
        errors = [ValueError("odd") for _ in range(length)]
        for error, context in zip(errors, [*errors[1:], errors[0]], strict=True):
            error.__context__ = context
        tracebacks.trim(errors[0])
        assert errors[0].__context__ in (None, *errors[1:])


def test_a_context_that_was_never_raised_stays():
    error, context = ValueError("late"), KeyError("early")
    error.__context__ = context
    tracebacks.trim(error)
    assert error.__context__ is context


def test_an_error_that_forbids_changes_passes_as_it_is():
    @dataclasses.dataclass(frozen=True)
    class Frozen(Exception):
        number: int

    class Raising(nn.Layer):
        def forward(self, x):
            raise Frozen(7)

    with pytest.raises(Frozen) as caught:
        Raising()(paddle.ones([1]))
    assert caught.value.number == 7
    assert set(files_in(caught.value)) == {HERE}


def test_code_that_numpy_runs_for_the_package_is_hidden_and_for_the_user_not():
    def dataset(index):
        return np.stack([np.zeros(2), np.zeros(3)])

    class Broken(paddle.io.Dataset):
        def __getitem__(self, index):
            return dataset(index)

        def __len__(self):
            return 2

    with pytest.raises(ValueError, match="same shape") as caught:
        list(paddle.io.DataLoader(Broken(), batch_size=2))
    tracebacks.trim(caught.value)
    files = files_in(caught.value)
    assert files.count(HERE) >= 3
    assert "numpy" in files[-1]
    assert not any("/proa/" in file for file in files)


def test_a_line_that_is_found_late_is_quoted():
    with pytest.raises(IndexError) as caught:
        computed_index()
    note = "\n".join(caught.value.__notes__)
    assert "rows = paddle.gather(paddle.ones([3, 3]), paddle.to_tensor([1, 2]) * 50)" in note
    assert f'File "{HERE}"' in note


def test_a_lost_value_that_is_read_again_shows_the_line_that_reads_it():
    rows = paddle.gather(paddle.ones([3, 3]), paddle.to_tensor([1, 2]) * 50)
    later = rows + 1
    for read in (lambda: rows.numpy(), lambda: rows + 1, lambda: later.numpy()):
        for _ in range(2):
            with pytest.raises(IndexError) as caught:
                read()
            assert len(files_in(caught.value)) == 2


def test_an_error_that_nobody_worded_says_how_to_see_everything():
    class Unreadable:
        shape = property(lambda self: 1 / 0)

        def __array__(self, *_, **__):
            raise KeyError("secret")

    with pytest.raises(KeyError) as caught:
        paddle.to_tensor(Unreadable()) + 1
    assert files_in(caught.value)[-1] == HERE
    with pytest.raises(ValueError, match="broadcast") as worded:
        paddle.ones([2]) + paddle.ones([3])
    assert not getattr(worded.value, "__notes__", [])


def test_threads_trim_at_once():
    errors = []

    def work():
        for _ in range(20):
            try:
                paddle.ones([2, 3]) + paddle.ones([4])
            except ValueError as error:
                errors.append(files_in(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 80
    assert all(files == [HERE] for files in errors)


def run(folder: pathlib.Path, code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(code)
    root = str(pathlib.Path(paddle.__file__).parents[1])
    return subprocess.run(
        [sys.executable, *options, str(script)], capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "PROA_FULL_TRACEBACK": "0", "PYTHONPATH": root, **environment}, cwd=folder,
    )  # fmt: skip


# Not every door has a `try`: this function is exported as it was written.
FAILING = """
import proa as paddle
def line():
    return paddle.nn.functional.mse_loss(paddle.ones([2]), "no tensor")
"""


def test_a_script_ends_at_its_own_line(tmp_path):
    answer = run(tmp_path, FAILING + "line()\n")
    assert answer.stderr.count('File "') == 2
    assert 'paddle.nn.functional.mse_loss(paddle.ones([2]), "no tensor")' in answer.stderr
    full = run(tmp_path, FAILING + "line()\n", PROA_FULL_TRACEBACK="1")
    assert full.stderr.count('File "') > 2


def test_a_thread_of_a_script_ends_at_its_own_line(tmp_path):
    answer = run(
        tmp_path,
        FAILING
        + """
import threading
thread = threading.Thread(target=line)
thread.start()
thread.join()
""",
    )
    assert "Exception in thread" in answer.stderr
    assert "/proa/" not in answer.stderr
    assert answer.stderr.count('script.py"') == 1


def test_a_hook_that_was_there_before_is_still_called(tmp_path):
    answer = run(tmp_path, "import sys\nsys.excepthook = lambda kind, error, trace: print('mine', kind.__name__)\n"
                 + FAILING + "line()\n")  # fmt: skip
    assert answer.stdout.startswith("mine ")


def test_a_debugger_after_the_fact_stands_at_the_users_line(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FAILING + "line()\n")
    answer = subprocess.run(
        [sys.executable, "-i", str(script)], input="import pdb\npdb.pm()\nwhere\nquit\n", capture_output=True, text=True,
        timeout=100, check=False, cwd=tmp_path,
        env={**os.environ, "PROA_FULL_TRACEBACK": "0", "PYTHONPATH": str(pathlib.Path(paddle.__file__).parents[1])},
    )  # fmt: skip
    assert f"> {script}(4)line()" in answer.stdout
    assert "/proa/" not in answer.stdout


def test_a_worker_of_a_data_loader_shows_the_dataset(tmp_path):
    answer = run(
        tmp_path,
        """
import proa as paddle
class Broken(paddle.io.Dataset):
    def __getitem__(self, index):
        return paddle.ones([2]) + paddle.ones([3])
    def __len__(self):
        return 4
if __name__ == "__main__":
    list(paddle.io.DataLoader(Broken(), num_workers=1, batch_size=2))
""",
    )
    assert "return paddle.ones([2]) + paddle.ones([3])" in answer.stderr
    assert "/proa/" not in answer.stderr.replace(str(tmp_path), "")


def test_pytest_leaves_the_packages_frames_out(tmp_path):
    script = tmp_path / "test_user.py"
    script.write_text(FAILING + "def test_it():\n    line()\n")
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(script)], capture_output=True, text=True,
        timeout=100, check=False, cwd=tmp_path,
        env={**os.environ, "PROA_FULL_TRACEBACK": "0", "PYTHONPATH": str(pathlib.Path(paddle.__file__).parents[1])},
    )  # fmt: skip
    assert "1 failed" in answer.stdout
    assert "proa/ops" not in answer.stdout
    assert "proa/eager" not in answer.stdout
    assert "mse_loss(paddle.ones([2])" in answer.stdout


def test_warnings_point_at_the_users_line():
    @paddle.jit.to_static(full_graph=False)
    def reads(x):
        return x * float(x.sum().numpy())

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reads(paddle.ones([2]))
    assert [warning.filename for warning in caught if "runs eagerly" in str(warning.message)] == [HERE]
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            y = paddle.static.data("x", [2]) + 1
        feed = {name: np.ones(2, "float32") for name in ("x", "unknown")}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            paddle.static.Executor().run(program, feed=feed, fetch_list=[y])
    finally:
        paddle.disable_static()
    assert [warning.filename for warning in caught if "no input named" in str(warning.message)] == [HERE]
    model = paddle.Model(nn.Linear(2, 2))
    model.prepare(paddle.optimizer.SGD(parameters=model.parameters()), nn.MSELoss())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(iter([]), epochs=1, verbose=0)
    assert [warning.filename for warning in caught if "no batches" in str(warning.message)] == [HERE]
