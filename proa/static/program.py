"""Program: operations that are recorded once and run by an Executor.

A Program is an open capture (`segment.py`). Its variables are the tensors that were made while it was recorded, its
parameters are real tensors. A startup Program is one that has initialisations: they draw the parameters' first numbers
when it runs.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.errors import runtime_error, type_error, value_error
from ..core.generator import Generator
from ..core.locks import new_reentrant_lock
from ..eager.naming import unique_name
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, alias, tensor_from_data, wrap
from ..eager.views import replace_value
from ..graph.graph import Graph, GraphInput
from ..graph.pruning import pruned
from ..graph.structure import Leaf
from ..ir.recorder import LOCAL, recording_gradients
from ..ir.sizes.dimensions import missing_symbols, size_sources, symbols_in
from ..ir.sizes.known import mark_sizes, sizes_held
from ..ir.sizes.stated import stated, stated_program
from ..ops.create.creation import assign_to
from . import mode
from .block import Block
from .fed_sizes import fitted
from .printing import program_text
from .segment import StaticSegment

_MOST_GRAPHS = 64  # that a program keeps for the sets of variables that were fetched from it

# Parameters and states of all programs by name: programs share them by name, and scopes find them.
VARIABLES: weakref.WeakValueDictionary[str, Tensor] = weakref.WeakValueDictionary()


class Initialisation:
    """How a tensor gets its first numbers."""

    __slots__ = ("initializer", "tensor")

    def __init__(self, tensor: Tensor, initializer: Any) -> None:
        self.tensor = tensor
        self.initializer = initializer

    def run(self) -> None:
        tensor, draw = self.tensor, getattr(self.initializer, "draw", None)
        aval = tensor._aval
        if isinstance(self.initializer, np.ndarray) or hasattr(self.initializer, "sharding"):
            replace_value(tensor, wrap(self.initializer, aval))
        elif draw is None:
            self.initializer(tensor)
        else:
            replace_value(tensor, tensor_from_data(draw(aval.shape, aval.dtype), aval.dtype, aval.place))


class Program:
    """Operations with names, and what they need."""

    def __init__(self) -> None:
        self._segment: StaticSegment | None = None
        self.data: dict[str, Tensor] = {}
        self.parameters: dict[str, Tensor] = {}
        self.states: dict[str, Tensor] = {}
        self.initialisations: list[Initialisation] = []
        self.recorded_by: int | None = None
        self.run_lock = new_reentrant_lock()
        self.graphs: dict[Any, Graph] = {}
        self.is_test = False
        self._seed = 0
        self._generator: Generator | None = None

    @property
    def segment(self) -> StaticSegment:
        if self._segment is None:
            self._segment = StaticSegment(LOCAL.place, LOCAL.lock, self)
        return self._segment

    # ---- parameters --------------------------------------------------------------------------------------------

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: Any) -> Tensor | None:
        """A parameter that another program (or this one) has under this name."""
        found = VARIABLES.get(name)
        if not isinstance(found, Parameter) or found._aval.dtype != dtype:
            return None
        if found._aval.shape != shape:
            if name in self.parameters:
                raise value_error(
                    "create_parameter", f"the program has a parameter {name} of another shape", f"{list(shape)}",
                    f"it has {found._aval}; choose another name",
                )  # fmt: skip
            return None
        self.parameters[name] = found
        return found

    def note_parameter(self, parameter: Tensor, initializer: Any) -> None:
        self._note(self.parameters, parameter, initializer)

    def note_states(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            if id(tensor) not in {id(known) for known in self.states.values()}:
                tensor.persistable = True
                if tensor._name is None:
                    tensor.name = unique_name("optimizer_steps")
                self._note(self.states, tensor, tensor._data())

    def _note(self, found: dict[str, Tensor], tensor: Tensor, initializer: Any) -> None:
        found[tensor.name] = VARIABLES[tensor.name] = tensor
        startup = mode.default_startup_program()
        if all(known.tensor is not tensor for known in startup.initialisations):
            startup.initialisations.append(Initialisation(tensor, initializer))

    def all_parameters(self) -> list[Any]:
        """The parameters, in the order in which they were made or first used."""
        if self._segment is not None:
            for tensor in self._segment.inputs:
                if isinstance(tensor, Parameter):
                    self.parameters.setdefault(tensor.name, tensor)
        return [tensor for tensor in self.parameters.values() if isinstance(tensor, Parameter)]

    def persistables(self) -> dict[str, Tensor]:
        """Everything that keeps its value between runs, by name."""
        self.all_parameters()
        found = {**self.parameters, **self.states}
        if self._segment is not None:
            found.update((t.name, t) for t in self._segment.inputs if t.persistable and t._value is not None)
        return found

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Tensor]:
        """Copies of parameters ("param"), of what optimisers keep ("opt"), or of both ("all"), by name."""
        if mode not in ("all", "param", "opt"):
            raise value_error("state_dict", "mode is 'all', 'param' or 'opt'", f"mode: {mode!r}")
        from .scope import values_of

        parameters = {id(tensor) for tensor in self.all_parameters()}
        chosen = {
            name: tensor
            for name, tensor in self.persistables().items()
            if mode == "all" or (id(tensor) in parameters) == (mode == "param")
        }
        return {name: _named(wrap(value), name) for name, value in values_of(chosen, scope).items()}

    def set_state_dict(self, state_dict: dict[str, Any], scope: Any = None) -> None:
        """Gives parameters and states the values in a dictionary; names the program does not have are ignored."""
        from .scope import set_values

        if not isinstance(state_dict, dict):
            raise type_error("set_state_dict", "state_dict must be a dictionary", type(state_dict).__name__)
        known = self.persistables()
        set_values({known[name]: value for name, value in state_dict.items() if name in known}, scope)

    # ---- variables ---------------------------------------------------------------------------------------------

    def variables(self) -> Iterator[Tensor]:
        """Every variable, oldest first."""
        seen: set[int] = set()
        if self._segment is not None:
            for tensor in [*self.all_parameters(), *self.states.values(), *self._segment.refs]:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield tensor

    def list_vars(self) -> Iterator[Tensor]:
        return self.variables()

    def find(self, name: str) -> Tensor | None:
        """The newest variable of this name."""
        found = self.persistables().get(name)
        if found is None and self._segment is not None:
            found = next((t for t in reversed(self._segment.refs) if t._name == name), None)
        return found

    def variable(self, where: str, name: str) -> Tensor:
        found = self.find(name)
        if found is None:
            raise value_error(where, f"the program has no variable named {name!r}", f"name: {name!r}")
        return found

    # ---- description -------------------------------------------------------------------------------------------

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    @property
    def blocks(self) -> list[Block]:
        return Block.all_of(self)

    def global_block(self) -> Block:
        return Block(self)

    def current_block(self) -> Block:
        return Block(self)

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def num_ops(self) -> int:
        return len(self.global_block().ops)

    @property
    def random_seed(self) -> int:
        """The seed of the program's random operations; 0: they follow `paddle.seed`."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise value_error("random_seed", "the seed must be an integer", type(seed).__name__)
        self._seed = int(seed)
        self._generator = Generator(self._seed) if self._seed else None
        for graph in self.graphs.values():
            self._seeded(graph)

    def global_seed(self, seed: int = 0) -> None:
        self.random_seed = seed

    def _seeded(self, graph: Graph) -> Graph:
        if self._generator is not None:
            graph.generator = self._generator
        return graph

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        return program_text(self)

    __str__ = to_string

    def __repr__(self) -> str:
        operations = 0 if self._segment is None else len(self._segment.node.program(()).instructions)
        return f"<Program with {operations} operations>"

    def verify(self) -> None:
        """Checks the program against the rules of the intermediate representation; AssertionError names what breaks one."""
        from ..ir.verify import verify

        verify(self.segment.node.program(()), self.segment.scalars)

    def draw(self, path: str) -> str:
        """Writes a picture of the program (SVG); gives its text."""
        from ..graph.drawing import draw_program

        segment = self.segment
        names = {t._index: t._name for t in segment.refs if t._name is not None and t._segment is segment}
        names.update((~number, tensor.name) for number, tensor in enumerate(segment.inputs))
        return draw_program(segment.node.program(()), path, names)

    # ---- copies ------------------------------------------------------------------------------------------------

    def clone(self, for_test: bool = False) -> Program:
        """A copy with the same parameters. For tests: without updates, dropout off, batch norm by running statistics."""
        with mode.running():
            made = Program()
            made.data, made.parameters, made.states = dict(self.data), dict(self.parameters), dict(self.states)
            made.initialisations = list(self.initialisations)
            made.random_seed = self._seed
            made._segment = self.segment.copy(made)
            if for_test:
                made.set_is_test_attr(True)
        return made

    def set_is_test_attr(self, is_test: bool = True) -> None:
        """Turns training behaviour into that of inference, and drops updates."""
        from .inference_form import in_inference

        if is_test:
            segment = self.segment
            segment.replace(*in_inference(segment))
            segment.inside = {}
            self.is_test, self.states = True, {}
            self.graphs.clear()

    # ---- what runs ---------------------------------------------------------------------------------------------

    def backward_of(self, loss: Tensor, parameters: Any, no_grad_set: Any) -> list[tuple[Any, Tensor]]:
        from .backward import append_backward

        return append_backward(loss, parameters, no_grad_set)

    def compute(
        self, find_input: Callable[[GraphInput], Tensor], fetches: Sequence[Tensor], scope: Any
    ) -> list[Tensor]:
        """The values of some variables, after a run in a scope; `find_input` gives the tensor for an input."""
        graph = self.graph_for(fetches)
        inputs = [find_input(given) for given in graph.inputs]
        if not graph.program.outputs:
            return []
        held = [t for t in (*graph.captured, *graph.updates) if VARIABLES.get(t._name or "") is t]
        with self.run_lock if graph.updates else contextlib.nullcontext(), scope.in_force(held):
            return fitted(graph, inputs)(*inputs)

    def graph_for(self, fetches: Sequence[Tensor], feeds: Sequence[str] | None = None) -> Graph:
        """The Graph of some variables and of everything that a run changes.

        Its inputs are the data variables in `feeds`, or those that are needed.
        """
        segment = self.segment
        if self.recorded_by is not None:
            raise runtime_error(
                "Executor.run", "another thread is still adding operations to this program", f"{self!r}",
                "build it inside a program_guard(), and leave that before other threads run it",
            )  # fmt: skip
        key = (segment.node, tuple(id(tensor) for tensor in fetches), None if feeds is None else tuple(feeds))
        with self.run_lock:
            found = self.graphs.get(key)
            if found is None:
                while len(self.graphs) >= _MOST_GRAPHS:
                    self.graphs.pop(next(iter(self.graphs)))
                found = self.graphs[key] = self._seeded(self._make_graph(fetches, feeds))
                found.kept_alive = list(fetches)  # type: ignore[attr-defined] # their identities are the key
            return found

    def _make_graph(self, fetches: Sequence[Tensor], feeds: Sequence[str] | None) -> Graph:
        scratch = Program()
        scratch._segment = segment = self.segment.copy(scratch)
        with mode.recording(scratch):
            numbers = [_number_in(segment, tensor) for tensor in fetches]
            changed = [tensor for tensor, _ in segment.remembered.values()]
            numbers += [_number_in(segment, tensor) for tensor in changed]
        whole = segment.node.program(())
        places = {~tensor._index: name for name, tensor in self.data.items()}
        first = [] if feeds is None else [~self.data[name]._index for name in feeds]
        shown, also = size_sources(whole), set[int]()
        while True:
            program, scalars, chosen = pruned(whole, segment.scalars, numbers, first, also)
            held = [sizes_held(segment.inputs[k]) or () for k in chosen]
            unknown = missing_symbols(program, scalars, held)
            more = {shown[symbol] for symbol in unknown if symbol in shown} - also
            if not more:
                break
            also |= more  # a size of a result is used, though the result itself is not
        if feeds is None:
            first = [k for k in chosen if k in places]
            # The same for sizes of inputs.
            first += [k for k in places if k not in first and unknown & set(symbols_in(whole.inputs[k]))]
            program, scalars, chosen = pruned(whole, segment.scalars, numbers, first, also)
        missing = [places[k] for k in chosen[len(first) :] if k in places]
        if missing:
            raise value_error(
                "Executor.run", f"the program needs the input {missing[0]}", f"feeds: {list(feeds or ())}"
            )
        captured = [segment.inputs[k] for k in chosen[len(first) :]]
        if feeds is not None:  # for a file: the sizes that are stated are its
            program, scalars = stated_program(program, scalars)
            captured = [_with_stated_sizes(tensor) for tensor in captured]
        inputs = [GraphInput(places[k], aval) for k, aval in zip(first, program.inputs, strict=False)]
        structure = [Leaf(position) for position in range(len(fetches))]
        return Graph(
            "program", program, inputs, captured, scalars, structure, changed, segment.locations, segment.assumptions
        )


def _number_in(segment: StaticSegment, tensor: Tensor) -> int:
    """The number of a variable in a segment; an input or a tensor from outside is passed through."""
    if tensor._value is None and tensor._index >= 0:
        if tensor._segment is segment:
            return tensor._index
        if tensor._segment in segment.ancestors:
            return segment.input_index(tensor)
    with recording_gradients(False):
        return assign_to(tensor)._index


def _with_stated_sizes(tensor: Tensor) -> Tensor:
    """A constant that holds sizes, with those that are stated."""
    sizes = sizes_held(tensor)
    return tensor if sizes is None else mark_sizes(alias(tensor), stated(sizes))


def _named(tensor: Tensor, name: str) -> Tensor:
    tensor.name = name
    return tensor


__all__ = ["VARIABLES", "Initialisation", "Program"]
