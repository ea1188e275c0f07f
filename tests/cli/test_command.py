"""The `proa` command itself: help at once, completions that shells understand, errors with an exit status."""

from __future__ import annotations

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

import pytest

import proa as paddle
import proa_command as command
from proa_command.completion import commands, script

ROOT = str(pathlib.Path(command.__file__).parents[1])


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=100, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
    )  # fmt: skip


def test_help_comes_at_once_and_without_the_package():
    answer = run("-X", "importtime", "-m", "proa_command", "--help")
    assert answer.returncode == 0
    assert "doctor" in answer.stdout
    imported = {line.rsplit("|")[-1].strip() for line in answer.stderr.splitlines()}
    assert "argparse" in imported
    assert not {"proa", "numpy", "jax"} & imported
    # Of 0.2 s the larger part is Python's own, more where its library comes without bytecode.
    least = processor_time("-c", "import argparse, runpy; argparse.ArgumentParser().print_help()")
    assert processor_time("-m", "proa_command", "--help") - least < 0.1


def processor_time(*arguments: str) -> float:
    """Of a Python process, at best: other programs on this machine do not count."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run(*arguments).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_the_package_runs_as_a_module():
    answer = run("-m", "proa", "--help")
    assert answer.returncode == 0
    assert "usage: proa" in answer.stdout


def test_the_version(capsys):
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("proa ")


def test_nothing_and_nonsense_are_mistakes(capsys):
    assert command.main([]) == 2
    assert "COMMAND" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        command.main(["dcotor"])
    assert stopped.value.code == 2
    with pytest.raises(SystemExit):
        command.main(["completion", "tcsh"])
    assert "choose from" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [False, True])
def test_doctor_tells_that_the_package_does_not_load(as_json):
    answer = run("-m", "proa_command", "doctor", *(["--json"] if as_json else []), PROA_EAGER="nonsense")
    assert answer.returncode == 1
    assert "Traceback" not in answer.stderr
    text = json.loads(answer.stdout)["problems"][0] if as_json else answer.stdout
    assert "the eager mode is 'auto' or 'immediate'" in text


@pytest.mark.parametrize("shell", command.SHELLS)
def test_completions_name_every_command_and_option(shell, capsys):
    assert command.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert text.strip() == script(shell)
    for name, words in commands().items():
        assert name in text
        assert all(option.lstrip("-") in text for option in words.options)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (
            ["proa", ""],
            {
                "chat",
                "convert",
                "doctor",
                "export",
                "inspect",
                "launch",
                "ocr",
                "plan",
                "quantize",
                "run",
                "serve",
                "train",
                "verify",
                "completion",
                "--help",
                "--version",
            },
        ),
        (["proa", "do"], {"doctor"}),
        (["proa", "doctor", "--"], {"--help", "--json", "--script"}),
        (["proa", "completion", ""], {"bash", "zsh", "fish", "--help"}),
        (["proa", "completion", "z"], {"zsh"}),
        (["proa", "export", "o"], {"onnx"}),
        (["proa", "export", "--ta"], {"--target"}),
        (["proa", "verify", "my mod"], {"my model.proa"}),
        (["proa", "nonsense", ""], set()),
    ],
)
def test_bash_completes(tmp_path, typed, expected):
    (tmp_path / "my model.proa").write_text("")
    words = " ".join(f"'{word}'" for word in typed)
    asked = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _proa; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    answer = subprocess.run(
        ["bash", "-c", f"{script('bash')}\n{asked}"],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
        cwd=tmp_path,
    )
    assert set(answer.stdout.split("\n")) - {""} == expected


@pytest.mark.parametrize(("shell", "check"), [("zsh", "-n"), ("fish", "--no-execute")])
def test_other_shells_can_read_their_scripts(tmp_path, shell, check):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "completion"
    path.write_text(script(shell))
    subprocess.run([shell, check, str(path)], timeout=20, check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["launch", "--nproc_per_node", "0", "x.py"], "--nproc_per_node must be a number of at least 1; received"),
        (["inspect", "{}/missing"], "there is no '{}/missing'; check the path"),
        (["train", "{}/missing.toml"], "there is no '{}/missing.toml'; check the path"),
        (["train", "{}"], "the settings must be a .yaml, .toml or .json file"),
        (["convert", "{}/small.onnx", "-o", "/proc/x.proa"], "'/proc/x.proa'"),
        (["quantize", "{}/small", "{}/q", "--data", "{}/missing.npz"], "there is no '{}/missing.npz'; check the path"),
        (["quantize", "{}/small", "{}/q", "--data", "{}/small.json"], "must be a file of NumPy's arrays, .npy or .npz"),
        (["verify", "{}/small.onnx"], "turn it into one with proa convert"),
        (["verify", "{}/missing.proa"], "there is no '{}/missing.proa'; check the path"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(words, expected, tmp_path, capsys):
    layer = paddle.nn.Linear(2, 2)
    spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    paddle.jit.save(layer, str(tmp_path / "small"), input_spec=spec)
    if "small.onnx" in " ".join(words):
        paddle.onnx.export(layer, str(tmp_path / "small"), input_spec=spec)
    before = sorted(os.listdir(tmp_path))
    assert command.main([word.format(tmp_path) for word in words]) == 1
    told = "".join(capsys.readouterr())
    assert expected.format(tmp_path) in told
    assert "traceback" not in told.lower()
    assert {name for name in os.listdir(tmp_path) if "certificate" not in name} <= set(before)


def test_an_interrupted_command_says_so_in_a_line(tmp_path: pathlib.Path) -> None:
    """Whatever it does at that moment: here it waits for a file that nobody fills."""
    pipe = tmp_path / "model.proa"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "proa_command", "verify", str(pipe)],
        stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": ROOT},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # it is ignored where the tests run behind `&`
    )  # fmt: skip
    with open(pipe, "wb"):  # which waits for the command to open it
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines() == ["proa verify: interrupted."]
