"""`import paddle` as this package. Each test runs programs in processes of their own: the alias changes a whole process."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _environment(*folders: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), *folders])}


def _python(*arguments: str, folders: tuple[str, ...] = (), check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *arguments], env=_environment(*folders), capture_output=True, text=True, timeout=110, check=False
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    return done


def _facts(program: str, tmp_path: pathlib.Path, *arguments: str) -> dict[str, object]:
    """What a script printed as JSON, run by `proa run`."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(program))
    return json.loads(_python("-m", "proa_command", "run", str(script), *arguments).stdout.splitlines()[-1])


def test_modules_are_the_same_objects_under_both_names(tmp_path: pathlib.Path) -> None:
    facts = _facts(
        """
        import importlib.metadata, importlib.util, json, sys
        before = importlib.util.find_spec("paddle") is not None
        import paddle
        import paddle.nn.functional as F
        import paddle.tensor
        import paddle.tensor.math as tensor_math
        import paddle.vision.transforms, paddle.amp.auto_cast, paddle.nn.layer.norm
        from paddle.tensor import matmul
        import proa, proa.vision
        print(json.dumps({
            "found": before, "same": [paddle is proa, F is proa.nn.functional, paddle.vision is proa.vision],
            "spec": [proa.nn.__spec__.name, proa.vision.__spec__.name, proa.__spec__.name],
            "version": [paddle.__version__, importlib.metadata.version("paddlepaddle")],
            "function": [paddle.tensor([1.0]).numpy().tolist(), matmul is paddle.matmul, tensor_math.add is paddle.add],
            "callable": [callable(paddle.tensor), callable(paddle.amp.auto_cast)],
            "by_path": paddle.nn.layer.norm.LayerNorm is paddle.nn.LayerNorm,
            "copies": sorted(n for n in sys.modules if n.startswith("paddle.")
                             and sys.modules[n] is not sys.modules["proa" + n[6:]]),
            "argv": sys.argv[1:], "main": __name__,
        }))
        """,
        tmp_path, "--steps", "3", "--help",
    )  # fmt: skip
    assert facts == {
        "found": True, "same": [True] * 3, "spec": ["proa.nn", "proa.vision", "proa"], "version": ["3.3.1", "3.3.1"],
        "function": [[1.0], True, True], "callable": [True, True], "by_path": True, "copies": [],
        "argv": ["--steps", "3", "--help"], "main": "__main__",
    }  # fmt: skip


def test_child_processes_see_the_alias(tmp_path: pathlib.Path) -> None:
    facts = _facts(
        """
        import json, multiprocessing, subprocess, sys
        import paddle

        def work(value):
            import paddle.nn.functional as F
            return [float(F.relu(paddle.to_tensor([value])).sum()), paddle.__name__]

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                spawned = pool.map(work, [2.0, -2.0])
            other = subprocess.run([sys.executable, "-c", "import paddle; print(paddle.__name__, paddle.__version__)"],
                                   capture_output=True, text=True, check=True).stdout.split()
            print(json.dumps({"spawned": spawned, "subprocess": other}))
        """,
        tmp_path,
    )
    assert facts == {"spawned": [[2.0, "proa"], [0.0, "proa"]], "subprocess": ["proa", "3.3.1"]}


def test_installed_from_inside_a_process_it_reaches_children_too() -> None:
    program = """
    import proa.compat, subprocess, sys
    first = proa.__version__
    proa.compat.install()
    proa.compat.install()
    import paddle
    from paddle.nn import Linear
    assert paddle is proa and Linear is proa.nn.Linear and paddle.__version__ == "3.3.1" != first
    assert [type(f).__name__ for f in sys.meta_path].count("AliasFinder") == 1
    order = [sys.executable, "-c", "import paddle.nn; print(paddle.__name__)"]
    child = subprocess.run(order, capture_output=True, text=True)
    assert child.stdout == "proa\\n", child.stderr
    try:
        import paddle.nothing_of_that_name
    except ModuleNotFoundError as missing:
        assert missing.name == "paddle.nothing_of_that_name"
    else:
        raise AssertionError("a module that is nowhere was found")
    """
    _python("-c", textwrap.dedent(program))


def test_a_child_without_the_package_on_its_path_finds_it_by_the_folder(tmp_path: pathlib.Path) -> None:
    """PYTHONPATH holds the alias's folder alone, as where a program put the package on `sys.path` by itself."""
    program = "import paddle, proa; assert paddle is proa; print(proa.__file__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import sys; sys.path += " + repr(_site_packages()) + "\n" + program],
        env={**_environment(), "PYTHONPATH": str(ROOT / "proa" / "compat" / "path")},
        capture_output=True, text=True, timeout=110, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert pathlib.Path(done.stdout.strip()) == ROOT / "proa" / "__init__.py"


def _site_packages() -> list[str]:
    spec = importlib.util.find_spec("jax")
    assert spec is not None
    assert spec.origin is not None
    return [str(pathlib.Path(spec.origin).parents[1])]


def test_a_real_paddle_that_is_imported_already_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "paddle").mkdir()
    (tmp_path / "paddle" / "__init__.py").write_text("__version__ = '3.3.1'\n")
    program = "import paddle; assert paddle.__file__.startswith({!r}); import proa.compat; proa.compat.install()"
    done = _python("-c", program.format(str(tmp_path)), folders=(str(tmp_path),), check=False)
    assert done.returncode != 0
    message = done.stderr.splitlines()[-1]
    assert message.startswith("RuntimeError: (compat.install) paddle is already imported, from ")
    assert str(tmp_path) in message
    assert "proa run" in message


def test_a_real_paddle_beside_it_is_not_taken(tmp_path: pathlib.Path) -> None:
    """Neither here nor in children, whatever comes first on the path."""
    (tmp_path / "paddle").mkdir()
    (tmp_path / "paddle" / "__init__.py").write_text("raise AssertionError('the wrong one')\n")
    program = (
        "import proa.compat, subprocess, sys; proa.compat.install(); import paddle.nn\n"
        "subprocess.run([sys.executable, '-c', 'import paddle.nn'], check=True, cwd='/')"
    )
    _python("-c", program, folders=(str(tmp_path),))


def test_modules_are_run_by_name_and_exit_statuses_come_through(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_one.py").write_text("import paddle\n\ndef test_one():\n    assert paddle.__name__ == 'proa'\n")
    done = _python("-m", "proa_command", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    assert "1 passed" in done.stdout
    (tmp_path / "ends.py").write_text("import sys; sys.exit(7)")
    assert _python("-m", "proa_command", "run", str(tmp_path / "ends.py"), check=False).returncode == 7


def test_kernels_of_notebooks_see_the_alias(tmp_path: pathlib.Path) -> None:
    """A kernel started as Jupyter does; `nbconvert --execute` goes the same way."""
    program = """
        import json
        from jupyter_client.manager import start_new_kernel

        manager, client = start_new_kernel(startup_timeout=100)
        said = []
        try:
            code = "import paddle; print(paddle.__name__, float((paddle.ones([3]) * 2).sum()))"
            answer = client.execute_interactive(
                code, timeout=100, output_hook=lambda m: said.append(m["content"].get("text", ""))
            )
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        print(json.dumps({"status": answer["content"]["status"], "said": "".join(said).strip()}))
    """
    assert _facts(program, tmp_path) == {"status": "ok", "said": "proa 6.0"}


def test_a_notebook_itself_is_no_script_and_the_command_says_what_runs_it(tmp_path: pathlib.Path) -> None:
    done = _python("-m", "proa_command", "run", str(tmp_path / "a.ipynb"), check=False)
    assert done.returncode == 2
    assert "is a notebook" in done.stderr
    assert "proa run -m nbconvert --to notebook --execute" in done.stderr


def test_an_empty_program_does_not_pay_for_the_package(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty.py").write_text("import sys; assert not {'proa', 'paddle', 'jax', 'numpy'} & set(sys.modules)")
    _python("-m", "proa_command", "run", str(tmp_path / "empty.py"))


def test_python_that_ignores_its_environment_is_refused() -> None:
    program = "import sys; sys.path.insert(0, {!r}); import proa_command; sys.exit(proa_command.main(['run', 'x.py']))"
    done = _python("-E", "-c", program.format(str(ROOT)), check=False)
    assert done.returncode == 2
    assert "ignore PYTHONPATH" in done.stderr


@pytest.mark.parametrize("argument", ["-h", "--help"])
def test_the_command_explains_itself(argument: str) -> None:
    done = _python("-m", "proa_command", "run", argument)
    assert "in which `import paddle` gives proa" in " ".join(done.stdout.split())
