"""Optimizer: what all optimisers share.

Parameters are collected into *buckets*: those with the same settings (learning-rate factor, weight
decay, number of steps taken …) are updated by one recorded operation. The buckets are remembered
from step to step and made anew when the set of parameters with gradients changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import TYPE_CHECKING, Any

from ..core.aval import Aval
from ..core.dtype import BFLOAT16, FLOAT16, FLOAT32
from ..core.errors import failed_check, failed_type_check, message, runtime_error, type_error, value_error, warn
from ..core.tracebacks import boundary
from ..eager.backward.engine import zeros_of
from ..eager.tensor import Tensor, alias
from ..ir import recorder
from ..ir.capture import outside_capture
from ..ir.live import LiveNumber
from ..ir.observing import RUNTIME, UPDATE_WATCHERS
from ..ir.recorder import LOCAL, apart, recording_gradients
from ..ir.recording.mode import Mode
from ..ops.basic import cast_to
from ..ops.layout import follow_layout, keep_layout
from ..ops.math.unary import sign
from .fusion import FusedStorage
from .groups import Bucket, Group, ParameterState, decay_setting
from .inner_names import PaddleNames
from .lr import LRScheduler
from .minimizing import Minimizing
from .states import StateDict
from .updates import record_update

if TYPE_CHECKING:
    from ..nn.clip import ClipGradBase
    from .regularizer import WeightDecay


class NoParameters(ValueError, AttributeError):
    """An optimiser without parameters; Paddle raises an AttributeError."""


class Optimizer(Minimizing, StateDict, FusedStorage, PaddleNames):
    """The base class of optimisers: `step()` changes parameters by their gradients, `clear_grad()` ends a step.

    `parameters` may be a list of dictionaries, each with the key "params" and settings of its own; a group's
    "learning_rate" multiplies that of the optimiser.

    Args:
        learning_rate: a number, or a scheduler of `paddle.optimizer.lr`.
        parameters: those to change: a list, or a list of dictionaries (groups with settings of their own).
        weight_decay: the strength of L2 decay, or an `L1Decay` or `L2Decay`.
        grad_clip: how gradients are clipped first (`paddle.nn.ClipGradByGlobalNorm`, for instance).
        name: a label; it changes nothing.

    Raises:
        ValueError: a parameter is given twice.
        TypeError: something is of another type.

    Examples:
        >>> body, head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 2)
        >>> optimizer = paddle.optimizer.Adam(0.01, parameters=[
        ...     {"params": body.parameters(), "learning_rate": 0.1},
        ...     {"params": head.parameters(), "weight_decay": 0.01},
        ... ])
        >>> isinstance(optimizer, paddle.optimizer.Optimizer), optimizer.get_lr()
        (True, 0.01)
    """

    # Kinds of state with the name Paddle gives them in state dictionaries.
    _accumulator_names: tuple[str, ...] = ()
    # Options that a parameter group may override.
    _group_options: tuple[str, ...] = ()
    _multi_precision = False
    # Lays a state out on a mesh: called with its name, its parameter and the state (None: it lies as the parameter does).
    _lay_out_state: Any = None

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecay | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        where = type(self).__name__
        if parameters is None and LOCAL.segment.owner is not None:
            parameters = []  # of a static program: those that the loss given to minimize() depends on
        if parameters is None:
            raise NoParameters(message(where, "parameters must be given", "None", "pass model.parameters()"))
        if isinstance(parameters, Tensor):
            raise type_error(where, "parameters must be a list of Tensors", "one Tensor", "put it into a list")
        if learning_rate is None:
            raise failed_type_check(where, "the learning rate must be given", "None", "pass a float or an LRScheduler")
        if isinstance(learning_rate, int) and not isinstance(learning_rate, bool):
            learning_rate = float(learning_rate)
        if not isinstance(learning_rate, (float, LRScheduler)):
            raise type_error(
                where,
                "the learning rate must be a float or an LRScheduler",
                type(learning_rate).__name__,
            )
        if grad_clip is not None and not callable(grad_clip):
            raise type_error(where, "grad_clip must be one of nn.ClipGradBy…", type(grad_clip).__name__)
        self._learning_rate = learning_rate
        self._weight_decay = weight_decay
        decay_setting(where, weight_decay)
        self._grad_clip = grad_clip
        self._name = name
        self._states: dict[int, ParameterState] = {}
        self._take(list(parameters))
        # How parameters are first filled comes once: it is no part of the steps, which come again and again.
        recorder.flush_current()

    def _take(self, given: list[Any]) -> None:
        """The parameters, or groups of them, that it is to change from now on; what it knows of them already stays."""
        self._groups: dict[int, Group] = {}
        self._member_groups: list[Group] = []
        self._members: list[Any] = []
        self._grouped = bool(given) and isinstance(given[0], dict)
        for entry in given if self._grouped else [{"params": given}]:
            self._add_param_group(entry)

    def _add_param_group(self, entry: dict[str, Any]) -> None:
        """Adds a group; its "learning_rate" becomes the factor of its parameters (`optimize_attr`)."""
        where = type(self).__name__
        options = dict(entry)
        members = options.pop("params", None)
        if members is None:
            raise failed_check(where, "a parameter group needs the key 'params'", f"{list(entry)}")
        members = [members] if isinstance(members, Tensor) else list(members)
        allowed = {"learning_rate", "weight_decay", "grad_clip", *self._group_options}
        unknown = sorted(set(options) - allowed)
        if unknown:  # as in Paddle, programs may keep notes of their own there
            warn(
                f"({where}) a parameter group has no option {unknown}, which have no effect; there are {sorted(allowed)}."
            )
        decay_setting(where, options.get("weight_decay"))
        known = {id(parameter) for parameter in self._members}
        for parameter in members:
            if not isinstance(parameter, Tensor):
                raise type_error(where, "parameters must be a list of Tensors", type(parameter).__name__)
            if id(parameter) in known:
                raise value_error(where, "a parameter is given twice", parameter.name)
            known.add(id(parameter))
            if self._grouped and hasattr(parameter, "optimize_attr"):
                parameter.optimize_attr["learning_rate"] = options.get("learning_rate", 1.0)
        group = Group(members, options)
        self._groups.update((id(parameter), group) for parameter in members)
        self._member_groups.append(group)
        self._members += members

    # ---- learning rate -------------------------------------------------------------------------

    def get_lr(self) -> float:
        """The current learning rate.

        Examples:
            >>> weight = paddle.create_parameter([1], "float32")
            >>> paddle.optimizer.SGD(0.5, parameters=[weight]).get_lr()
            0.5
        """
        rate = self._learning_rate
        return rate if rate.__class__ is float else float(rate())  # type: ignore[operator]

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Args:
            value: the rate.

        Raises:
            TypeError: it is no number.
            RuntimeError: the rate follows a schedule.

        Examples:
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=[paddle.create_parameter([1], "float32")])
            >>> optimizer.set_lr(0.1)
            >>> optimizer.get_lr()
            0.1
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise type_error("set_lr", "the learning rate must be a float", type(value).__name__)
        if isinstance(self._learning_rate, LRScheduler):
            raise runtime_error(
                "set_lr",
                "the learning rate follows a schedule",
                type(self._learning_rate).__name__,
                "change the schedule, or use set_lr_scheduler()",
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Lets the learning rate follow a schedule from now on.

        Args:
            scheduler: the schedule.

        Raises:
            TypeError: it is no `LRScheduler`.

        Examples:
            >>> optimizer = paddle.optimizer.SGD(0.5, parameters=[paddle.create_parameter([1], "float32")])
            >>> optimizer.set_lr_scheduler(paddle.optimizer.lr.ExponentialDecay(0.2, gamma=0.5))
            >>> optimizer.get_lr()
            0.2
        """
        if not isinstance(scheduler, LRScheduler):
            raise type_error("set_lr_scheduler", "an LRScheduler is needed", type(scheduler).__name__)
        self._learning_rate = scheduler

    # ---- stepping ------------------------------------------------------------------------------

    @boundary
    def step(self) -> None:
        """Changes all parameters that have gradients.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.SGD(0.25, parameters=[weight])
            >>> (weight ** 2).sum().backward()
            >>> optimizer.step()
            >>> weight.tolist()
            [0.5]
        """
        RUNTIME.phase("update", self._step)

    def _step(self) -> None:
        with recording_gradients(False):
            for group in self._member_groups:
                active, grads = [], []
                for parameter in group.parameters:
                    if not parameter.stop_gradient:
                        grad = parameter._grad
                        if grad is None:
                            # Possibly zeros that were never made (see Parameter.grad).
                            grad = parameter.grad
                            if grad is None:
                                continue
                        active.append(parameter)
                        grads.append(grad)
                if active:
                    self._step_group(group, active, grads)
        LOCAL.segment.stepped = True
        if Mode.sharded:
            recorder.meeting_point()

    def _step_group(self, group: Group, active: list[Any], grads: list[Tensor]) -> None:
        clip = group.options.get("grad_clip", self._grad_clip)
        if clip is not None:
            pairs = clip(list(zip(active, grads, strict=True)))
            grads = [grad for _, grad in pairs]
        if self._appends:
            self._step_collected(group, self._collect(active, grads))
        else:
            self._step_together(group, active, grads)

    def _step_collected(self, group: Group, collected: list[tuple[Any, Tensor, float]]) -> None:
        """A step with learning-rate factors that hold for this step only."""
        attributes = [parameter.optimize_attr for parameter, _, _ in collected if hasattr(parameter, "optimize_attr")]
        before = [attribute["learning_rate"] for attribute in attributes]
        try:
            for parameter, _, factor in collected:
                if hasattr(parameter, "optimize_attr"):
                    parameter.optimize_attr["learning_rate"] = factor
            if collected:
                self._step_together(group, [entry[0] for entry in collected], [entry[1] for entry in collected])
        finally:
            for attribute, factor in zip(attributes, before, strict=True):
                attribute["learning_rate"] = factor

    def _step_together(self, group: Group, active: list[Any], grads: list[Tensor]) -> None:
        factors = [
            parameter.optimize_attr["learning_rate"] for parameter in active if hasattr(parameter, "optimize_attr")
        ]
        same = len(active) == len(group.active) and all(map(is_, active, group.active))
        if not same or factors != group.factors:
            with outside_capture(), apart():
                self._make_buckets(group, active, factors)
            LOCAL.segment.note_states([tensor for bucket in group.buckets for tensor in bucket.tail])
        if group.terms:
            grads = list(grads)
            for position, (kind, size) in group.terms.items():
                parameter = active[position]
                grads[position] = grads[position] + (parameter if kind == "l2" else sign(parameter)) * size
        rate = self.get_lr() if not LOCAL.segment.captures else LiveNumber(self.get_lr)
        for bucket in group.buckets:
            chosen = grads if len(grads) == len(bucket.members) else [grads[i] for i in bucket.positions]
            bucket.steps += 1
            operation, scalars, attributes = self._update(group, bucket, rate * bucket.factor)
            record_update(
                operation,
                scalars,
                [*bucket.members, *chosen, *bucket.tail],
                attributes,
                bucket.targets,
            )
            if Mode.sharded:
                for target in bucket.targets:
                    keep_layout(target)

    def _update(self, group: Group, bucket: Bucket, rate: float) -> tuple[Any, list[float], tuple[Any, ...]]:
        """The operation for a bucket, its dynamic scalars and its attributes."""
        raise NotImplementedError(f"({type(self).__name__}) an optimiser defines _update().")

    def _make_buckets(self, group: Group, active: list[Any], factors: list[float]) -> None:
        self._settle(group)
        sorted_out: dict[Any, list[int]] = {}
        states = [self._state(parameter) for parameter in active]
        for position, (parameter, state) in enumerate(zip(active, states, strict=True)):
            key = (
                self._factor(parameter), self._decay(group, parameter), self._extra(group, parameter), state.steps,
                state.master is not None, parameter._aval.place,
                None if parameter._layout is None else parameter._layout.attributes[0],
            )  # fmt: skip
            sorted_out.setdefault(key, []).append(position)
        group.buckets = [
            Bucket(
                positions,
                [states[i] for i in positions],
                factor,
                decay,
                extra,
                self._device_scalars(group, states[positions[0]]),
            )
            for (factor, decay, extra, *_), positions in sorted_out.items()
        ]
        group.active, group.factors = active, factors
        terms = ((position, self._gradient_term(parameter)) for position, parameter in enumerate(active))
        group.terms = {position: term for position, term in terms if term[1]}
        for watcher in UPDATE_WATCHERS:
            watcher([tensor for each in self._member_groups for bucket in each.buckets for tensor in bucket.targets])

    def _settle(self, group: Group) -> None:
        """Writes the number of steps that buckets count back to their parameters."""
        for bucket in group.buckets:
            for state in bucket.states:
                state.steps = bucket.steps

    def _factor(self, parameter: Any) -> float:
        """By how much the learning rate is multiplied for a parameter."""
        attribute = getattr(parameter, "optimize_attr", None)
        return float((attribute or self._group_of(parameter)).get("learning_rate", 1.0))

    def _decay(self, group: Group, parameter: Any) -> tuple[str, float]:
        """Kind and size of the weight decay; a regularizer of the parameter's own comes first."""
        own = getattr(parameter, "regularizer", None)
        chosen = own if own is not None else group.options.get("weight_decay", self._weight_decay)
        return decay_setting(type(self).__name__, chosen)

    def _gradient_term(self, parameter: Any) -> tuple[str, float]:
        """A regularizer that is added to the gradient, because `_decay` does not stand for it."""
        return "", 0.0

    def _extra(self, group: Group, parameter: Any) -> Any:
        """A further setting of a parameter; those that differ in it are updated apart."""
        return None

    def _device_scalars(self, group: Group, state: ParameterState) -> tuple[float, ...]:
        """Numbers that the update itself carries on from step to step, the last of its operands."""
        return ()

    def _group_of(self, parameter: Any) -> Group:
        return self._groups[id(parameter)]

    def _option(self, group: Group, name: str) -> Any:
        return group.options.get(name, getattr(self, f"_{name}"))

    def _state(self, parameter: Any) -> ParameterState:
        """The state of a parameter, made when it is first needed."""
        state = self._states.get(id(parameter))
        if state is None:
            state = self._states[id(parameter)] = ParameterState(parameter)
            aval = parameter._aval
            half = aval.dtype in (FLOAT16, BFLOAT16)
            if half and self._multi_precision:
                state.master = master = cast_to(alias(parameter), FLOAT32)
                self._place_state("master", parameter, master)
            kind = aval.with_dtype(FLOAT32) if half else aval
            for name in self._accumulator_names:
                accumulator = self._new_accumulator(name, kind)
                accumulator.name = f"{state.key}_{name}_0"
                self._place_state(name, parameter, accumulator)
                state.accumulators[name] = accumulator
        return state

    def _place_state(self, name: str, parameter: Any, state: Tensor) -> None:
        follow_layout(state, parameter)
        if self._lay_out_state is None:
            return
        made = self._lay_out_state(name, parameter, state)
        if made is not None and made is not state and made._layout is not None:
            state._layout = made._layout
            keep_layout(state)

    def lay_out_states(self, function: Any) -> None:
        """Has states laid out over devices by a function, those that exist and those to come.

        Args:
            function: called with a state's name, its parameter and the state.

        Examples:
            >>> weight = paddle.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = paddle.optimizer.Adam(parameters=[weight])
            >>> seen = []
            >>> optimizer.lay_out_states(lambda name, parameter, state: seen.append(name))
            >>> (weight ** 2).sum().backward()
            >>> optimizer.step()
            >>> sorted(seen)
            ['moment1', 'moment2']
        """
        self._lay_out_state = function
        for state in self._states.values():
            for name, accumulator in state.accumulators.items():
                self._place_state(name, state.parameter, accumulator)
            if state.master is not None:
                self._place_state("master", state.parameter, state.master)

    def _new_accumulator(self, name: str, aval: Aval) -> Tensor:
        """The first value of a state; `aval` is that of the parameter, in float32 at least."""
        return zeros_of(aval)
