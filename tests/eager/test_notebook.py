"""Tensors and errors in IPython and in a notebook that a real kernel runs."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import proa as paddle
from proa import nn

ROOT = str(pathlib.Path(paddle.__file__).parents[1])


def words(tensor) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", tensor._repr_html_())).strip()


def cells(tensor) -> list[str]:
    return re.findall("<td>(.*?)</td>", tensor._repr_html_())


@pytest.mark.parametrize(
    "dtype",
    ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn",
     "float8_e5m2", "complex64", "complex128"],
)  # fmt: skip
@pytest.mark.parametrize("shape", [[], [0], [2, 0], [3], [2, 3], [100], [1, 100], [100, 1], [3, 4, 5], [2] * 8])
def test_every_dtype_and_shape_has_a_table(dtype, shape):
    tensor = paddle.ones(shape).astype(dtype)
    text = words(tensor)
    assert text.startswith(f"Tensor {dtype}{shape}")
    expected = "1+0j" if "complex" in dtype else "True" if dtype == "bool" else "1"
    shown = [cell for cell in cells(tensor) if cell != "…"]
    assert set(shown) == ({expected} if 0 not in shape else set())
    assert len(tensor._repr_html_()) < 6000


def test_the_numbers_stand_where_they_belong():
    tensor = paddle.to_tensor(np.arange(400).reshape(20, 20))
    rows = re.findall("<tr>(.*?)</tr>", tensor._repr_html_())
    table = [re.findall("<td>(.*?)</td>", row) for row in rows]
    kept = [0, 1, 2, 3, 16, 17, 18, 19]
    expected = [[str(20 * r + c) for c in kept] for r in kept]
    assert [row[:4] + row[5:] for row in table[:4] + table[5:]] == expected
    assert set(table[4]) == {"…"}


def test_what_there_is_to_know_stands_above():
    weight = nn.Linear(3, 4).weight
    assert words(weight).startswith("Parameter float32[3, 4] · Place(cpu) · linear_")
    assert "stop_gradient=False" in words(weight)


def test_values_out_of_the_ordinary():
    tensor = paddle.to_tensor([float("nan"), float("-inf"), 1e-30, 123456.789])
    assert cells(tensor) == ["nan", "-inf", "1e-30", "1.235e+05"]


def test_sparse_tensors_show_their_parts():
    tensor = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.5, 2.5], [3, 3])
    assert cells(tensor) == ["0", "1", "1", "2", "1.5", "2.5"]
    assert words(tensor).startswith("SparseCooTensor float32[3, 3]")
    assert "crows" in words(tensor.to_sparse_csr())


def test_a_lost_value_and_a_value_that_never_was_are_said_in_words():
    lost = paddle.gather(paddle.ones([3, 3]), paddle.to_tensor([1, 2]) * 50)
    assert "out of range" in words(lost)
    assert "out of range" in words(lost)  # and once more
    seen = []

    @paddle.jit.to_static
    def captured(x):
        seen.append(words(x))
        return x + 1

    captured(paddle.ones([2]))
    assert "has no value" in seen[0]


def test_markup_in_a_name_is_text():
    weight = paddle.create_parameter([1], "float32", name="<script>alert(1)</script>")
    assert "<script>" not in weight._repr_html_()


SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
for cell in open(sys.argv[1]).read().split("# cell\\n"):
    result = shell.run_cell(cell)
import traceback
print("LAST", len(traceback.extract_tb(sys.last_traceback)))
"""

CELLS = """import proa as paddle
def line():
    return paddle.nn.functional.mse_loss(paddle.ones([2]), "no tensor")
# cell
line()
# cell
paddle.add("a", 3)
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PROA_FULL_TRACEBACK": "0", "PYTHONPATH": os.pathsep.join([ROOT, *sys.path]), **more}


def test_ipython_shows_the_cells_alone(tmp_path):
    pytest.importorskip("IPython", reason="IPython is in the extra 'test'")
    (tmp_path / "cells.py").write_text(CELLS)
    command = [sys.executable, "-c", SHELL, str(tmp_path / "cells.py")]
    answer = subprocess.run(
        command, capture_output=True, text=True, timeout=100, env=environment(IPYTHONDIR=str(tmp_path)), check=False
    )
    text = answer.stdout + answer.stderr
    assert "mse_loss(paddle.ones([2])" in text
    assert "label must be a Tensor" in text
    assert "x must be a Tensor" in text
    assert "proa/" not in text
    assert "<binder of" not in text
    assert "LAST 2" in text  # IPython's own frame and the cell: where %debug begins
    full = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False,
        env=environment(IPYTHONDIR=str(tmp_path), PROA_FULL_TRACEBACK="1"),
    )  # fmt: skip
    assert "<binder of" in full.stdout + full.stderr


def test_a_notebook_shows_a_table_and_short_errors(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is in the extra 'test'")
    pytest.importorskip("ipykernel", reason="ipykernel is in the extra 'test'")
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        @property
        def kernel_spec(self):
            return KernelSpec(
                argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
            )

    cells = [nbformat.v4.new_code_cell(text) for text in (*CELLS.split("# cell\n"), "paddle.ones([2, 3])")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(
        notebook, timeout=100, allow_errors=True, kernel_manager_class=ThisPython, kernel_name="python3"
    )
    client.execute(env=environment(IPYTHONDIR=str(tmp_path)), cwd=str(tmp_path))
    for cell, expected in ((notebook.cells[1], "label must be a Tensor"), (notebook.cells[2], "x must be a Tensor")):
        (output,) = [output for output in cell.outputs if output.output_type == "error"]
        text = re.sub("\x1b\\[[0-9;]*m", "", "\n".join(output.traceback))
        assert expected in text
        assert "proa/" not in text
        assert len(text.splitlines()) < 20
    (table,) = notebook.cells[3].outputs
    assert table.data["text/html"].count("<td>") == 6
    assert table.data["text/plain"].startswith("Tensor(shape=[2, 3]")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex64"])
def test_arrays_of_xla_are_shown_as_those_of_numpy(dtype):
    import jax.numpy as jnp

    from proa.eager.tensor import wrap

    values = (np.arange(20 * 30).reshape(20, 30) % 5).astype("float32")
    by_xla = wrap(jnp.asarray(values).astype(dtype))
    assert cells(by_xla) == cells(paddle.to_tensor(values).astype(dtype))
    assert len(cells(by_xla)) == 81
