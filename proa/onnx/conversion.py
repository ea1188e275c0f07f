"""`model_of`: a graph as an ONNX ModelProto."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import value_error
from .builder import NeedsOpset
from .protos import needed_onnx, rename, to_proto
from .sources import Source, prepared, source_of
from .translation import Unsupported, translate_graph

if TYPE_CHECKING:
    pass

OLDEST, NEWEST = 17, 21


def model_of(model: Any, input_spec: Sequence[Any] | None = None, *, opset_version: int = OLDEST) -> Any:
    """The `onnx.ModelProto` of a Layer or function (with `input_spec`), a Graph, or a model that was loaded from files.

    Parameters are initialisers, unknown sizes are named dimensions, and batch norms are folded. A newer opset than asked
    for is taken where an operation needs it. Raises NotImplementedError naming the operation that ONNX cannot say, and
    the line that needs it. Nothing is written and nothing is run: `export` does both.

    Args:
        model: see above.
        input_spec: an `InputSpec` for each input.
        opset_version: of ONNX's operators.

    Examples:
        >>> spec = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> proto = paddle.onnx.model_of(paddle.nn.Linear(2, 3), [spec])
        >>> [given.name for given in proto.graph.input]
        ['x']
    """
    needed_onnx()
    if opset_version.__class__ is not int or not OLDEST <= opset_version <= NEWEST:
        raise value_error("onnx.export", f"opset_version is from {OLDEST} to {NEWEST}", f"{opset_version!r}")
    source = source_of(model, input_spec)
    _refuse_questions(source)
    graph = source.graph if source.graph.is_staged else prepared(source.graph)  # passes want one executable
    while True:
        try:
            builder, inputs, results = translate_graph(graph, source.graph.assumptions, opset_version, source.weights)
        except NeedsOpset as needed:
            opset_version = needed.opset
            continue
        proto = to_proto(builder, inputs, results, source.graph.name)
        break
    _name_outputs(proto, source)
    return proto


def _refuse_questions(source: Source) -> None:
    """Code that asks for a size and goes another way than for others is no one graph."""
    question = source.graph.assumptions.question
    if question is not None:
        raise Unsupported(
            f"(onnx.export) the code asks whether {question}, and the model would hold for sizes that answer as the "
            "captured ones did only; give that dimension a fixed size, or decide by tensors (paddle.shape)."
        )


def _name_outputs(proto: Any, source: Source) -> None:
    """Results under their own names; a value that has one of them by chance gets another."""
    taken = {value.name for value in (*proto.graph.input, *proto.graph.initializer)}
    taken.update(name for node in proto.graph.node for name in node.output)
    names: dict[str, str] = {}
    wanted = dict(zip((value.name for value in proto.graph.output), source.output_names, strict=True))
    for old, new in wanted.items():
        if new != old and new in taken and new not in wanted:
            names[new] = f"{new}_inside"
    rename(proto, names | wanted)
