"""Program: operations that are recorded once and run by an Executor.

A Program is an open capture (`segment.py`). Its variables are the tensors that were made while it was recorded, its
parameters are real tensors. A startup Program is one that has initialisations: they draw the parameters' first numbers
when it runs.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import runtime_error, type_error, value_error
from ..core.generator import Generator
from ..core.locks import new_reentrant_lock
from ..eager.annotations import DTypeLike
from ..eager.naming import unique_name
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, alias, tensor_from_data, wrap
from ..eager.views import replace_value
from ..graph.cold import run_as_it_pays
from ..graph.graph import Graph, GraphInput
from ..graph.pruning import pruned
from ..graph.structure import Leaf
from ..ir.block import acts
from ..ir.recorder import LOCAL, recording_gradients
from ..ir.sizes.dimensions import missing_symbols, size_sources, symbols_in
from ..ir.sizes.known import mark_sizes, sizes_held
from ..ir.sizes.stated import stated, stated_program
from ..ops.create.creation import assign_to
from . import mode
from .block import Block
from .companions import Companion
from .fed_sizes import fitted
from .printing import program_text
from .segment import StaticSegment

if TYPE_CHECKING:
    from .scope import Scope

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
    """Operations with names, and what they need: they are recorded once, and run by an `Executor`.

    Examples:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        >>> main
        <Program with 1 operations>
        >>> paddle.static.Executor().run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])[0].tolist()
        [[2.0, 2.0]]
    """

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
        self.companions: list[Companion] = []
        self._seed = 0
        self._generator: Generator | None = None

    @property
    def segment(self) -> StaticSegment:
        """The operations as they are recorded.

        Examples:
            >>> paddle.static.Program().segment is not None
            True
        """
        if self._segment is None:
            self._segment = StaticSegment(LOCAL.place, LOCAL.lock, self)
        return self._segment

    # ---- parameters --------------------------------------------------------------------------------------------

    def existing_parameter(self, name: str, shape: tuple[int, ...], dtype: DTypeLike | None) -> Tensor | None:
        """A parameter that another program (or this one) has under this name.

        Examples:
            >>> print(paddle.static.Program().existing_parameter("no such", (2,), np.dtype("float32")))
            None
        """
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
        """Makes a tensor a parameter of the program, which the startup program will initialise.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     weight = paddle.static.create_parameter([2, 3], "float32", name="noted")
            >>> [parameter.name for parameter in main.all_parameters()]
            ['noted']
        """
        self._note(self.parameters, parameter, initializer)

    def note_states(self, tensors: Sequence[Tensor]) -> None:
        """Makes tensors states of the program: their values are kept from run to run.

        Examples:
            >>> main = paddle.static.Program()
            >>> main.note_states([paddle.zeros([2])])
            >>> len(main.states)
            1
        """
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
        """The parameters, in the order in which they were made or first used.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 3)
            >>> [parameter.shape for parameter in main.all_parameters()]
            [paddle.Size([2, 3]), paddle.Size([3])]
        """
        if self._segment is not None:
            for tensor in self._segment.inputs:
                if isinstance(tensor, Parameter):
                    self.parameters.setdefault(tensor.name, tensor)
        return [tensor for tensor in self.parameters.values() if isinstance(tensor, Parameter)]

    def persistables(self) -> dict[str, Tensor]:
        """Everything that keeps its value between runs, by name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     weight = paddle.static.create_parameter([2, 3], "float32", name="kept")
            >>> list(main.persistables())
            ['kept']
        """
        self.all_parameters()
        found = {**self.parameters, **self.states}
        if self._segment is not None:
            found.update((t.name, t) for t in self._segment.inputs if t.persistable and t._value is not None)
        return found

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Tensor]:
        """Copies of parameters ("param"), of what optimisers keep ("opt"), or of both ("all"), by name.

        Args:
            mode: which.
            scope: where the values are; None: the present scope.

        Raises:
            ValueError: `mode` is another one.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     weight = paddle.static.create_parameter([2, 3], "float32", name="weight_of_state")
            >>> executor = paddle.static.Executor()
            >>> executor.run(startup)
            []
            >>> {name: value.shape for name, value in main.state_dict("param").items()}
            {'weight_of_state': paddle.Size([2, 3])}
        """
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

    def set_state_dict(self, state_dict: dict[str, Any], scope: Scope | None = None) -> None:
        """Gives parameters and states the values in a dictionary; names the program does not have are ignored.

        Args:
            state_dict: values by name.
            scope: where they are put; None: the present scope.

        Raises:
            ValueError: a value has another shape.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     weight = paddle.static.create_parameter([2], "float32", name="weight_to_set")
            >>> main.set_state_dict({"weight_to_set": np.array([1.0, 2.0], "float32")})
            >>> main.state_dict()["weight_to_set"].numpy().tolist()
            [1.0, 2.0]
        """
        from .scope import set_values

        if not isinstance(state_dict, dict):
            raise type_error("set_state_dict", "state_dict must be a dictionary", type(state_dict).__name__)
        known = self.persistables()
        set_values({known[name]: value for name, value in state_dict.items() if name in known}, scope)

    # ---- variables ---------------------------------------------------------------------------------------------

    def variables(self) -> Iterator[Tensor]:
        """Every variable, oldest first.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> [variable.name for variable in main.variables()]
            ['x']
        """
        seen: set[int] = set()
        if self._segment is not None:
            for tensor in [*self.all_parameters(), *self.states.values(), *self._segment.refs]:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield tensor

    def list_vars(self) -> list[Tensor]:
        """Every variable, oldest first.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> [variable.name for variable in main.list_vars()]
            ['x']
        """
        return list(self.variables())

    def find(self, name: str) -> Tensor | None:
        """The newest variable of this name.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            >>> main.find("x").shape, main.find("y")
            (paddle.Size([-1, 2]), None)
        """
        found = self.persistables().get(name)
        if found is None and self._segment is not None:
            found = next((t for t in reversed(self._segment.refs) if t._name == name), None)
        return found

    def variable(self, where: str, name: str) -> Tensor:
        """The newest variable of this name.

        Args:
            where: who asks, for the message.
            name: the name.

        Raises:
            ValueError: there is none.

        Examples:
            >>> paddle.static.Program().variable("example", "x")
            Traceback (most recent call last):
                ...
            ValueError: (example) the program has no variable named 'x'; received name: 'x'.
        """
        found = self.find(name)
        if found is None:
            raise value_error(where, f"the program has no variable named {name!r}", f"name: {name!r}")
        return found

    # ---- description -------------------------------------------------------------------------------------------

    @property
    def num_blocks(self) -> int:
        """How many blocks there are: the program's own, and one for each body of a condition or loop.

        Examples:
            >>> paddle.static.Program().num_blocks
            1
        """
        return len(self.blocks)

    @property
    def blocks(self) -> list[Block]:
        """The blocks, outer ones first.

        Examples:
            >>> len(paddle.static.Program().blocks)
            1
        """
        return Block.all_of(self)

    def global_block(self) -> Block:
        """The program's own block.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> [operation.type for operation in main.global_block().ops]
            ['multiply']
        """
        return Block(self)

    def current_block(self) -> Block:
        """The program's own block.

        Examples:
            >>> paddle.static.Program().current_block().idx
            0
        """
        return Block(self)

    def block(self, index: int) -> Block:
        """The block of that number.

        Examples:
            >>> paddle.static.Program().block(0).idx
            0
        """
        return self.blocks[index]

    def num_ops(self) -> int:
        """How many operations the program's own block has.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2 + 1
            >>> main.num_ops()
            2
        """
        return len(self.global_block().ops)

    @property
    def random_seed(self) -> int:
        """The seed of the program's random operations; 0: they follow `paddle.seed`.

        Examples:
            >>> program = paddle.static.Program()
            >>> program.random_seed = 7
            >>> program.random_seed
            7
        """
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
        """Sets `random_seed`.

        Examples:
            >>> program = paddle.static.Program()
            >>> program.global_seed(7)
            >>> program.random_seed
            7
        """
        self.random_seed = seed

    def _seeded(self, graph: Graph) -> Graph:
        if self._generator is not None:
            graph.generator = self._generator
        return graph

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """The program as text, one operation a line.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> print(main.to_string().splitlines()[1].strip())
            data x: float32[-1, 2]
        """
        return program_text(self)

    __str__ = to_string

    def __repr__(self) -> str:
        operations = 0 if self._segment is None else len(self._segment.node.program(()).instructions)
        return f"<Program with {operations} operations>"

    def verify(self) -> None:
        """Checks the program against the rules of the intermediate representation; AssertionError names what breaks one.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> main.verify()
            >>> main.num_ops()
            1
        """
        from ..ir.verify import verify

        verify(self.segment.node.program(()), self.segment.scalars)

    def draw(self, path: str) -> str:
        """Writes a picture of the program (SVG); gives its text.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> main.draw("program.svg").startswith("<svg")
            True
        """
        from ..graph.drawing import draw_program

        segment = self.segment
        names = {t._index: t._name for t in segment.refs if t._name is not None and t._segment is segment}
        names.update((~number, tensor.name) for number, tensor in enumerate(segment.inputs))
        return draw_program(segment.node.program(()), path, names)

    # ---- copies ------------------------------------------------------------------------------------------------

    def clone(self, for_test: bool = False) -> Program:
        """A copy with the same parameters. For tests: without updates, dropout off, batch norm by running statistics.

        Args:
            for_test: whether the copy is for tests.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     x = paddle.static.data("x", [None, 2])
            ...     y = paddle.nn.functional.dropout(x, 0.5)
            >>> test = main.clone(for_test=True)
            >>> paddle.static.Executor().run(test, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])[0].tolist()
            [[1.0, 1.0]]
        """
        with mode.running():
            made = Program()
            made.data, made.parameters, made.states = dict(self.data), dict(self.parameters), dict(self.states)
            made.initialisations = list(self.initialisations)
            made.random_seed = self._seed
            made._segment = self.segment.copy(made)
            if for_test:
                made.set_is_test_attr(True)
            made.companions = [companion.copied(made) for companion in self.companions]
        return made

    def set_is_test_attr(self, is_test: bool = True) -> None:
        """Turns training behaviour into that of inference, and drops updates.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.nn.functional.dropout(paddle.static.data("x", [None, 2]), 0.5)
            >>> main.set_is_test_attr()
            >>> main.is_test
            True
        """
        from .inference_form import in_inference

        if is_test:
            segment = self.segment
            segment.replace(*in_inference(segment))
            segment.inside = {}
            self.is_test, self.states = True, {}
            self.graphs.clear()

    # ---- what runs ---------------------------------------------------------------------------------------------

    def backward_of(
        self, loss: Tensor, parameters: Any, no_grad_set: Iterable[Tensor | str]
    ) -> list[tuple[Any, Tensor]]:
        """As `append_backward`, for the program of the loss.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     loss = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1).sum()
            ...     pairs = main.backward_of(loss, None, None)
            >>> [gradient.shape for parameter, gradient in pairs]
            [paddle.Size([2, 1]), paddle.Size([1])]
        """
        from .backward import append_backward

        return append_backward(loss, parameters, no_grad_set)

    def compute(
        self, find_input: Callable[[GraphInput], Tensor], fetches: Sequence[Tensor], scope: Scope
    ) -> list[Tensor]:
        """The values of some variables, after a run in a scope; `find_input` gives the tensor for an input.

        An `Executor` calls this.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> paddle.static.Executor().run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])[0].tolist()
            [[2.0, 2.0]]
        """
        graph = self.graph_for(fetches)
        inputs = [find_input(given) for given in graph.inputs]
        if not graph.program.outputs:
            return []
        held = [t for t in (*graph.captured, *graph.updates) if VARIABLES.get(t._name or "") is t]
        with self.run_lock if graph.updates else contextlib.nullcontext(), scope.in_force(held):
            return run_as_it_pays(fitted(graph, inputs), inputs)

    def graph_for(self, fetches: Sequence[Tensor], feeds: Sequence[str] | None = None) -> Graph:
        """The Graph of some variables and of everything that a run changes.

        Its inputs are the data variables in `feeds`, or those that are needed.

        Examples:
            >>> paddle.enable_static()
            >>> main, startup = paddle.static.Program(), paddle.static.Program()
            >>> with paddle.static.program_guard(main, startup):
            ...     y = paddle.static.data("x", [None, 2]) * 2
            >>> [given.name for given in main.graph_for([y]).inputs]
            ['x']
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
                found.kept_alive = list(fetches)  # type: ignore[attr-defined]  # their identities are the key
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
        if feeds is None:  # what a run does outside it does whatever is fetched
            also |= {number for i in whole.instructions if acts(i) for number in i.made}
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
