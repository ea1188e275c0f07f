"""StaticFunction: a function that is captured once for each kind of call and then runs as a graph.

A call is taken apart into tensors and everything else. The first call of a kind captures the converted function
(`conversion/`); later ones run the Graph: as one executable where no gradient is wanted, else replayed on the tape, so
that gradients of any order are those of eager code. Python's side effects happen at the capture only.
"""

from __future__ import annotations

import inspect
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

from ..core.dtype import default_float
from ..core.errors import type_error, warn
from ..core.locks import new_reentrant_lock
from ..core.tracebacks import boundary
from ..eager.tensor import Tensor
from ..eager.views import assign_in_place, replace_value
from ..graph import Graph, capture
from ..graph.replay import replay
from ..graph.structure import rebuild
from ..ir.capture import CaptureError
from ..ir.recorder import LOCAL
from ..ir.sizes.dimensions import UnknownSize
from ..nn.layer import Layer
from ..ops.create.creation import zeros
from . import settings
from .arguments import Arguments, Input, flat_specs, positional, signature_of
from .concrete_program import ConcreteProgram
from .conversion import convert, converted_source, leave_alone
from .conversion.calls import converted_forwards
from .conversion.convert import SEEN, unconverted
from .conversion.reads import Reads
from .conversion.state import Journal, attributes_of_the_graph, put
from .guards import Guard
from .inspection import CAPTURING, Inspection
from .recomputed import run_and_recompute
from .values import is_container

_MANY_CAPTURES = 32
_MOST_CHANGES = 16
# How many times the budget of graphs is captured where graphs are of no use any more (members of layers were replaced).
_MOST_REPLACED = 4
# How many graphs are kept where the code takes other ways for other sizes.
_MOST_KEPT = 15


class StaticFunction(Inspection):
    """A function, method or `Layer.forward` that runs as a captured graph. `to_static` makes one.

    Examples:
        >>> double = paddle.jit.to_static(lambda x: x * 2)
        >>> isinstance(double, paddle.jit.StaticFunction)
        True
    """

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: Sequence[Any] | None = None,
        build_strategy: Any = None,
        backend: str | None = None,
        full_graph: bool = False,
        max_programs: int = 8,
        instance: Any = None,
    ) -> None:
        if isinstance(function, MethodType):
            function, instance = function.__func__, function.__self__
        if not callable(function):
            raise type_error("to_static", "a function or Layer is needed", type(function).__name__)
        self._function: Any = function
        self._instance = instance
        self._specs = flat_specs(input_spec)
        self._build_strategy = build_strategy
        self._backend = backend
        self._full_graph = full_graph
        self._max_programs = max_programs
        self._programs: dict[Any, list[ConcreteProgram]] = {}
        self._eager_keys: set[Any] = set()
        self._sized_keys: set[Any] = set()  # calls whose unknown sizes matter more than a graph can follow
        self._last: ConcreteProgram | None = None
        self._bound: weakref.WeakKeyDictionary[Any, StaticFunction] = weakref.WeakKeyDictionary()
        self._lock = new_reentrant_lock()
        self._signature = signature_of(function, instance is not None)
        self._warned = False
        self._recaptures: dict[Any, int] = {}
        self._changes: deque[str] = deque(maxlen=_MOST_CHANGES)  # why it was captured again, for `explain`
        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            if hasattr(function, name):
                setattr(self, name, getattr(function, name))
        self.__wrapped__ = function

    # ---- what it stands for ----------------------------------------------------------------------------------------

    @property
    def function(self) -> Callable[..., Any]:
        """The function as it was written (bound to its instance, if it is a method).

        Examples:
            >>> def double(x):
            ...     return x * 2
            >>> paddle.jit.to_static(double).dygraph_function is double
            True
        """
        return self._function if self._instance is None else MethodType(self._function, self._instance)

    dygraph_function = function

    @property
    def input_spec(self) -> Any:
        """The specs that `to_static` was given.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> double.input_spec[0].shape
            (-1, 2)
        """
        return None if self._specs is None else list(self._specs)

    @property
    def full_graph(self) -> bool:
        """Whether code that cannot become one graph is an error.

        Examples:
            >>> paddle.jit.to_static(lambda x: x * 2, full_graph=True).full_graph
            True
        """
        return self._full_graph

    def __get__(self, instance: Any, owner: Any = None) -> StaticFunction:
        if instance is None:
            return self
        bound = self._bound.get(instance)
        if bound is None:
            bound = self._bound[instance] = StaticFunction(
                self._function, self._specs, self._build_strategy, self._backend, self._full_graph, self._max_programs,
                instance,
            )  # fmt: skip
        return bound

    def rollback(self) -> Callable[..., Any]:
        """The function as it was before; a layer gets its own `forward` back.

        Examples:
            >>> def double(x):
            ...     return x * 2
            >>> paddle.jit.to_static(double).rollback() is double
            True
        """
        if isinstance(self._instance, Layer):
            own = self._instance.__dict__
            if own.get("forward") is self:
                del own["forward"]
        return self.function

    def __repr__(self) -> str:
        return f"<StaticFunction of {getattr(self._function, '__qualname__', self._function)!s}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        import copy

        instance = None if self._instance is None else copy.deepcopy(self._instance, memo)
        return StaticFunction(
            self._function, self._specs, self._build_strategy, self._backend, self._full_graph, self._max_programs,
            instance,
        )  # fmt: skip

    # ---- calling ---------------------------------------------------------------------------------------------------

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not settings.enabled:
            return self.function(*args, **kwargs)
        if LOCAL.segment.captures:
            return self._converted()(*args, **kwargs)  # part of the graph that is being captured
        arguments = self._arguments(args, kwargs)
        if arguments.key not in self._sized_keys:
            try:
                return self._call(arguments, args, kwargs)
            except CaptureError:
                if not arguments.has_unknown_sizes:
                    raise
                self._sized_keys.add(arguments.key)
        # With sizes that may vary it is no graph (a loop of the graph, say, whose variables grow): each size has its own.
        return self._call(Arguments(*self._bound_arguments(args, kwargs), None), args, kwargs)

    def _call(self, arguments: Arguments, args: Any, kwargs: Any) -> Any:
        program = self._program_for(arguments)
        if program is None:
            return self.function(*args, **kwargs)
        try:
            return self._run(program, arguments, args, kwargs)
        except UnknownSize:
            # Sizes whose shapes come out otherwise than in the capture: they get one of their own.
            program.graph.does_not_hold_for(self._tensors(program, arguments))
        program = self._program_for(arguments)
        assert program is not None
        return self._run(program, arguments, args, kwargs)

    def _tensors(self, program: ConcreteProgram, arguments: Arguments) -> list[Tensor]:
        return arguments.tensors if not program.guard.states else [*arguments.tensors, *program.state()]

    def _bound_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return positional(self._signature, args, kwargs) if self._specs is not None else (args, kwargs)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        return Arguments(*self._bound_arguments(args, kwargs), self._specs)

    def _run(self, program: ConcreteProgram, arguments: Arguments, args: Any, kwargs: Any) -> Any:
        tensors = self._tensors(program, arguments)
        if not program.wants_gradient:
            results, changes, kept = program.run(*tensors)
        elif program.graph.stops.custom:
            # A PyLayer brings a gradient of its own, which only eager code knows.
            return self.function(*args, **kwargs)
        elif program.recomputes:
            results, changes, kept = run_and_recompute(program.graph, tensors)
        else:
            results, changes, kept = replay(program.graph, tensors)
        for position, value in zip(program.changed, changes, strict=True):
            _take(tensors[position], value, program.wants_gradient)
        if kept:
            program.set_attributes(kept)
        return results

    def _program_for(self, arguments: Arguments) -> ConcreteProgram | None:
        """The graph for this kind of call, captured if need be; None: it runs eagerly."""
        key = (arguments.key, LOCAL.grad_enabled, LOCAL.scope, LOCAL.place, default_float())
        program = self._known_program(key, arguments)
        if program is not None or key in self._eager_keys:
            return program
        with self._lock:
            program = self._known_program(key, arguments)  # another thread may have captured it meanwhile
            if program is not None:
                return program
            known = self._programs.get(key, ())
            if known and not self._note_change(key, known):
                return None
            try:
                program = self._capture(arguments)
            except (CaptureError, UnknownSize) as error:
                if self._full_graph or arguments.has_unknown_sizes:
                    raise
                self._eager_keys.add(key)
                self._warn(f"runs eagerly, since it cannot be captured as one graph: {error}")
                return None
            # The newest first; replaced, never changed: other threads may be looking for theirs.
            kept = [p for p in known if p.guard.may_hold_again()]
            self._programs[key] = [program, *kept][: max(self._budget, _MOST_KEPT)]
            self._last = program
            if len(self._programs) == _MANY_CAPTURES:
                warn(
                    f"(to_static) {self._title()} was captured for {_MANY_CAPTURES} kinds of calls; sizes that change can "
                    "be None in input_spec, and numbers that change can be tensors.",
                    RuntimeWarning,
                )
        return program

    def _known_program(self, key: Any, arguments: Arguments) -> ConcreteProgram | None:
        has_sizes = arguments.examples is not None
        for program in self._programs.get(key, ()):
            if program.guard.holds() and (not has_sizes or program.graph.holds_for(self._tensors(program, arguments))):
                self._last = program
                return program
        return None

    @property
    def _budget(self) -> int:
        """How many graphs of one kind of call are kept: at least those for training and for evaluation."""
        return max(2, self._max_programs)

    def _note_change(self, key: Any, known: Sequence[ConcreteProgram]) -> bool:
        """Something that was read has another value; whether the code is captured again for it."""
        if any(program.guard.holds() for program in known):
            return True  # the same values: the code takes another way for other sizes
        change = known[0].guard.difference()
        self._changes.append(change)
        settings.announce(f"{self._title()}: {change}")
        self._recaptures[key] = count = self._recaptures.get(key, 0) + 1
        has_room = len(known) < self._budget or not all(p.guard.may_hold_again() for p in known)
        if has_room and count <= _MOST_REPLACED * self._budget:
            return True
        way = "is captured again for each further one" if self._full_graph else "runs eagerly for further ones"
        self._warn(
            f"was captured for {min(count, self._budget)} values of what it reads and {way}: {change}. Pass as a tensor "
            "what keeps changing, or give a larger max_programs."
        )
        return self._full_graph

    def _title(self) -> str:
        return getattr(self._function, "__qualname__", type(self._function).__name__)

    def _warn(self, text: str) -> None:
        if self._warned:
            return
        self._warned = True
        warn(f"(to_static) {self._title()} {text}", RuntimeWarning)

    # ---- capturing -------------------------------------------------------------------------------------------------

    def _converted(self) -> Callable[..., Any]:
        """The function with control flow that knows tensors."""
        function = self._function
        if isinstance(function, FunctionType) and not leave_alone(function):
            try:
                function = convert(function)
            except CaptureError as error:
                if "source" not in str(error):
                    raise
                unconverted(function)
        if self._instance is None:
            return function
        bound = MethodType(function, self._instance)
        if not isinstance(self._instance, Layer):
            return bound

        def forward(*args: Any, **kwargs: Any) -> Any:
            with converted_forwards(self._instance):
                return bound(*args, **kwargs)

        return forward

    def _capture(self, arguments: Arguments) -> ConcreteProgram:
        function = self._converted()
        settings.show_code(self)
        CAPTURING.add(self)
        changed: list[int] = []
        layers: list[Any] = [self._instance] if isinstance(self._instance, Layer) else []

        attributes: list[Any] = []
        states: list[Any] = []
        reads = Reads()

        def build(tensors: list[Tensor]) -> Any:
            args, kwargs = rebuild(arguments.structure, list(tensors))
            own = tensors[: len(arguments.inputs)]
            journal = Journal()
            try:
                for (owner, name, _), tensor in zip(states, tensors[len(own) :], strict=True):
                    put(owner, name, tensor)
                with journal, reads:
                    self._know(reads, args, kwargs)
                    result = self._converted()(*args, **kwargs)
                    self._refuse_leaks(reads)
            finally:
                kept = attributes_of_the_graph(journal, states)
                for owner, name, value in states:
                    put(owner, name, value)
            attributes[:] = [entry for entry, _ in kept]
            changed[:] = [i for i, tensor in enumerate(own) if tensor._index >= 0 or tensor._value is not None]
            return result, [own[i] for i in changed], [value for _, value in kept]

        seen, failures, SEEN.layers, SEEN.failures = SEEN.layers, SEEN.failures, layers, []
        try:
            names = self._names(arguments)
            for given, name in zip(arguments.inputs, names, strict=True):
                given.name = given.name or name
            examples = arguments.examples
            graph = capture(function, arguments.inputs, name=self._title(), build=build, examples=examples)
            states += [entry for entry in attributes if isinstance(entry[2], Tensor)]
            if states:  # found by the first capture, inputs of the second one
                found = [Input(t._aval.shape, t._aval.dtype, name, t.stop_gradient) for _, name, t in states]
                if examples is not None:
                    examples = [*examples, *(state.shape for state in found)]
                graph = capture(
                    function, [*arguments.inputs, *found], name=self._title(), build=build, examples=examples
                )
        except CaptureError as error:
            for failure in SEEN.failures or ():
                error.add_note(f"A function that is called could not be converted: {failure}")
            raise
        finally:
            SEEN.layers, SEEN.failures = seen, failures
        others = [entry for entry in attributes if not any(entry[:2] == state[:2] for state in states)]
        guard = Guard(layers, graph.captured, states, others, reads)
        names = [entry[:2] for entry in attributes]
        return ConcreteProgram(graph, arguments.inputs, guard, changed, names, self._max_programs)

    def _refuse_leaks(self, reads: Reads) -> None:
        path = reads.take_back_tensors()
        if path is not None:
            code = getattr(self._function, "__code__", None)
            raise CaptureError(
                f"(to_static) {path} comes from outside, and the code puts tensors of the graph into it; return them, or "
                "set an attribute to a tensor",
                None if code is None else (code.co_filename, code.co_firstlineno),
            )

    def _know(self, reads: Reads, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Objects whose attributes the code may read: the instance, and arguments that are no tensors."""
        if isinstance(self._instance, Layer):
            reads.know_layer(self._instance, "self")
        elif self._instance is not None:
            reads.know(self._instance, "self")
        parameters = list(self._signature.parameters) if self._signature is not None else []
        for position, value in enumerate(args):
            if not is_container(value):
                reads.know(value, parameters[position] if position < len(parameters) else f"argument {position}")
        for name, value in kwargs.items():
            if not is_container(value):
                reads.know(value, name)

    def _names(self, arguments: Arguments) -> list[str | None]:
        """Names for the inputs: those of the parameters where they are plain tensors."""
        names: list[str | None] = [None] * len(arguments.inputs)
        parameters = list(self._signature.parameters) if self._signature is not None else []
        for name, part in zip(parameters, arguments.structure[0], strict=False):
            position = getattr(part, "position", None)
            if position is not None:
                names[position] = name
        return names

    # ---- what was captured -----------------------------------------------------------------------------------------

    def get_concrete_program(self, *args: Any, **kwargs: Any) -> tuple[ConcreteProgram, Graph]:
        """The captured program for these arguments (tensors or InputSpecs), and its graph.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2)
            >>> program, graph = double.get_concrete_program(paddle.ones([4, 2]))
            >>> [given.shape for given in graph.inputs]
            [[4, 2]]
        """
        with settings.capturing_specs():
            arguments = self._arguments(
                tuple(_as_tensor(a) for a in args), {k: _as_tensor(v) for k, v in kwargs.items()}
            )
            program = self._program_for(arguments)
        if program is None:
            raise CaptureError(f"(to_static) {self._title()} cannot be captured as one graph; see the warning before")
        return program, program.graph

    @property
    def concrete_program(self) -> ConcreteProgram:
        """What was captured last, or is captured now for `input_spec`.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> isinstance(double.concrete_program, paddle.jit.ConcreteProgram)
            True
        """
        if self._last is None:
            if self._specs is None:
                raise RuntimeError(
                    f"(to_static) {self._title()} was not called yet, so nothing is captured; call it or give an input_spec."
                )
            required = [_example(spec) for spec in self._specs]
            self.get_concrete_program(*required)
        assert self._last is not None
        return self._last

    def concrete_program_specify_input_spec(
        self, input_spec: Sequence[Any] | None = None, **_options: Any
    ) -> ConcreteProgram:
        """The captured program for these specs, or for `input_spec`.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2)
            >>> program = double.concrete_program_specify_input_spec([paddle.static.InputSpec([None, 2])])
            >>> isinstance(program, paddle.jit.ConcreteProgram)
            True
        """
        if input_spec is None:
            return self.concrete_program
        other = StaticFunction(
            self._function, input_spec, None, None, True, self._max_programs, self._instance
        )  # fmt: skip
        return other.concrete_program

    @property
    def main_program(self) -> Any:
        """The Program of `concrete_program`.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> double.main_program is not None
            True
        """
        return self.concrete_program.main_program

    program = main_program

    @property
    def inputs(self) -> list[Any]:
        """The inputs of `concrete_program`.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> len(double.inputs)
            1
        """
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Any]:
        """The results of `concrete_program`.

        Examples:
            >>> double = paddle.jit.to_static(lambda x: x * 2, input_spec=[paddle.static.InputSpec([None, 2])])
            >>> len(double.outputs)
            1
        """
        return self.concrete_program.outputs

    @property
    def code(self) -> str:
        """The converted source.

        Examples:
            >>> def double(x):
            ...     return x * 2
            >>> "return" in paddle.jit.to_static(double).code
            True
        """
        if not isinstance(self._function, FunctionType) or leave_alone(self._function):
            return inspect.getsource(self._function)
        return converted_source(self._function)


def _take(target: Tensor, value: Tensor, with_history: bool) -> None:
    """A tensor from outside gets the value that the function has given it."""
    if with_history:
        assign_in_place(target, value, "to_static")
    else:
        replace_value(target, value)


def _as_tensor(value: Any) -> Any:
    """An argument with tensors in the place of InputSpecs."""
    if type(value) in (list, tuple):
        return type(value)([_as_tensor(part) for part in value])
    if type(value) is dict:
        return {key: _as_tensor(part) for key, part in value.items()}
    return _example(value) if hasattr(value, "from_tensor") else value


def _example(spec: Any) -> Any:
    """A tensor that fits a spec, for a capture without real arguments."""
    if isinstance(spec, (list, tuple)):
        return type(spec)([_example(part) for part in spec])
    if isinstance(spec, dict):
        return {key: _example(part) for key, part in spec.items()}
    if not hasattr(spec, "shape"):
        return spec
    tensor = zeros([1 if n in (None, -1) else n for n in spec.shape], spec.dtype)
    tensor.stop_gradient = getattr(spec, "stop_gradient", True)
    tensor.stands_for_spec = spec
    return tensor
