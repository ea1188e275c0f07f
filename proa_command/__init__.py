"""The `proa` command: what it understands.

Nothing here imports the package, so that help, versions and completions come at once. What a command does is a module of
`proa/cli` with a function `run(arguments)`, imported when the command is given.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from . import deployment

SHELLS = ("bash", "zsh", "fish")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proa", description="proa: PaddlePaddle's API on OpenXLA.")
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    _add_programs(commands)
    _add_checks(commands)
    _add_plan(commands)
    _add_train(commands)
    deployment.add_all(commands)
    _add_completion(commands)
    return parser


def _add_programs(commands: deployment.Commands) -> None:
    """Commands that run a program of the user's."""
    run = commands.add_parser(
        "run", help="run a program written for Paddle, unchanged",
        description="Runs a Python program (or, with -m, a module such as pytest) in which `import paddle` gives proa, "
        "also in the processes that it starts.",
    )  # fmt: skip
    run.add_argument("-m", dest="as_module", action="store_true", help="TARGET is a module's name")
    run.add_argument("target", metavar="TARGET", help="a script, or a module's name after -m")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="handed to the program")
    run.set_defaults(module="proa_command.run")

    launch = commands.add_parser(
        "launch", help="start the processes of a training job", add_help=False,
        description="As `python -m paddle.distributed.launch`: one process for each device of this machine.",
    )  # fmt: skip
    launch.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="...", help="the launcher's options, then the program"
    )
    launch.set_defaults(module="proa.cli.launch")


def _add_checks(commands: deployment.Commands) -> None:
    """Commands that look at things and say what they see."""
    doctor = commands.add_parser("doctor", help="look at versions, devices, kernels and caches; say what to do")
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.add_argument(
        "--script",
        metavar="FILE",
        help="read a Paddle program (or a folder of them): which of its names are missing or differ",
    )
    doctor.set_defaults(module="proa.cli.doctor")

    verify = commands.add_parser("verify", help="replay the test vectors of saved models and say whether they agree")
    verify.add_argument(
        "models", nargs="+", metavar="MODEL", help="a .proa file, or the prefix of Paddle's model files"
    )
    verify.add_argument("--tolerance", type=float, help="largest difference allowed (default: by data type)")
    verify.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    verify.set_defaults(module="proa.cli.verify")

    inspect = commands.add_parser(
        "inspect", help="list what the file or folder of a language model holds",
        description="Lists metadata and tensors of a GGUF file, of safetensors (one file or several), or of a folder with "
        "them. Only the heads of the files are read.",
    )  # fmt: skip
    inspect.add_argument("path", metavar="PATH", help="a .gguf or .safetensors file, an index, or a folder")
    inspect.add_argument("--tensors", metavar="TEXT", help="only tensors whose name has this in it")
    inspect.add_argument("--json", action="store_true", help="print it as JSON")
    inspect.set_defaults(module="proa.cli.inspect")


def _add_plan(commands: deployment.Commands) -> None:
    """`proa plan`."""
    plan = commands.add_parser(
        "plan", usage="proa plan [options] SCRIPT [-- arguments of the script]",
        help="say how a script's model is best trained on many devices",
        description="Runs a training script up to its first backward pass, without computing or allocating anything for the "
        "model, and looks for the fastest way to train it on many devices that fits into their memory. Arguments of the "
        "script come after --.",
    )  # fmt: skip
    plan.add_argument("script", metavar="SCRIPT", help="a training script")
    plan.add_argument("--devices", type=int, required=True, metavar="N", help="how many devices there are")
    plan.add_argument("--device", default="h200", metavar="NAME", help="h200, a100, tpu-v5p …, or a .toml file (h200)")
    plan.add_argument("--memory", metavar="SIZE", help="memory of a device, such as 141GB (that of its data sheet)")
    plan.add_argument("--batch", type=int, metavar="N", help="samples a step, over all devices (those of the script)")
    plan.add_argument(
        "--fix", action="append", default=[], metavar="NAME=VALUE", help="settle a part: model=8, stage=1"
    )
    plan.add_argument("--count", type=int, default=8, metavar="N", help="how many plans to show (8)")
    plan.add_argument("--output", metavar="FILE", help="write the plan as a TOML file")
    plan.add_argument("--picture", metavar="FILE", help="draw the plans")
    plan.set_defaults(module="proa.cli.plan")


def _add_train(commands: deployment.Commands) -> None:
    """`proa train`."""
    train = commands.add_parser(
        "train", usage="proa train SETTINGS | proa train --pack TARGET --tokenizer MODEL FILE …",
        help="train or tune a language model as a small file says",
        description="Trains a language model: pretraining on token files, tuning on conversations or preferences, all "
        "weights or a LoRA adapter. Interrupted, the same command goes on. With --pack, files of text (.txt, .jsonl) become "
        "a token file.",
    )  # fmt: skip
    train.add_argument("files", nargs="+", metavar="FILE", help="the settings (.yaml, .toml, .json); with --pack, text")
    train.add_argument("--pack", metavar="TARGET", help="write a token file instead")
    train.add_argument("--tokenizer", metavar="MODEL", help="with --pack: a model's folder, or its .gguf file")
    train.add_argument(
        "--task",
        default="pretrain",
        choices=("pretrain", "chat", "preference"),
        help="with --pack: what it is for (pretrain)",
    )
    train.set_defaults(module="proa.cli.train")


def _add_completion(commands: deployment.Commands) -> None:
    """`proa completion`."""
    completion = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description='Prints a script for a shell to read: eval "$(proa completion bash)" in ~/.bashrc, '
        "the same with zsh in ~/.zshrc (behind compinit), "
        "or proa completion fish > ~/.config/fish/completions/proa.fish.",
    )  # fmt: skip
    completion.add_argument("shell", choices=SHELLS, help="the shell")
    completion.set_defaults(module="proa_command.completion")


def _handed_on(words: list[str]) -> tuple[list[str], list[str]]:
    """What the parser reads, and what a command reads itself: argparse has no argument that may begin with a dash."""
    if words[:1] == ["launch"]:
        return words[:1], words[1:]
    if words[:1] == ["plan"] and "--" in words:
        return words[: words.index("--")], words[words.index("--") + 1 :]
    return words, []


def main(arguments: list[str] | None = None) -> int:
    """Runs a command line; gives the exit status."""
    parser = build_parser()
    words = sys.argv[1:] if arguments is None else list(arguments)
    words, handed_on = _handed_on(words)
    chosen = parser.parse_args(words)
    if chosen.command in ("launch", "plan"):
        chosen.arguments = handed_on
    if chosen.version:
        print(f"proa {version()}")
        return 0
    if chosen.command is None:
        parser.print_help()
        return 2
    try:
        return _started(chosen)
    except KeyboardInterrupt:
        if chosen.command == "run":
            raise  # as `python` shows it: where the program was
        print(f"\nproa {chosen.command}: interrupted.", file=sys.stderr)
        return 130


def _started(chosen: argparse.Namespace) -> int:
    try:
        command = importlib.import_module(chosen.module)
    except Exception as error:
        if chosen.command != "doctor":
            raise
        return _cannot_import(error, chosen.json)
    return command.run(chosen)


def version() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("proa")
    except PackageNotFoundError:
        return "(not installed: run from its sources)"


def _cannot_import(error: Exception, as_json: bool) -> int:
    """The one thing that `doctor` has to say when the package itself does not load."""
    import json

    problem = f"import proa fails: {type(error).__name__}: {error}"
    print(json.dumps({"problems": [problem]}, indent=2) if as_json else f"PROBLEM    {problem}")
    if isinstance(error, ImportError):
        print("           Reinstall what is missing or broken: pip install --force-reinstall proa", file=sys.stderr)
    return 1
