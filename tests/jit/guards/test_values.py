"""`to_static` and Python values that change after the capture: results are those of the code as it was written."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import functools
import threading
import types
import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import nn

from . import settings

FACTOR = 2.0
TABLE: dict[str, Any] = {"k": 2.0, "deep": [1.0, {"z": 2.0}]}
COUNT = 0


class Mode(enum.Enum):
    ONE = 1
    TWO = 2


class Plain:
    """An object of a class without anything special."""

    rate = 2.0

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


@dataclasses.dataclass
class Options:
    rate: float = 2.0


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate: float) -> None:
        self.rate = rate


class Entries(dict):
    """A dictionary whose entries are attributes."""

    __getattr__ = dict.__getitem__


class Looked:
    """Attributes from a table, by Python code."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.table[name]


class Net(nn.Layer):
    shared = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.alpha: Any = 2.0
        self.cfg: Any = {"k": 2.0, "unread": 0, "deep": {"list": [1.0, 2.0]}}
        self.sizes: Any = [1, 2]
        self.plain = Plain(rate=2.0, inner=Plain(rate=2.0))
        self.slotted = Slotted(2.0)
        self.options = Options()
        self.entries = Entries(rate=2.0, inner=Entries(rate=2.0))
        self.looked = Looked({"rate": 2.0})
        self.array = np.array([2.0, 3.0], "float32")
        self.activation: Any = paddle.abs
        self.mode = Mode.ONE
        self.blocks = [Plain(rate=2.0), Plain(rate=3.0)]
        self.reads = 0
        self.counter = 0

    @property
    def doubled(self) -> float:
        self.reads += 1
        return self.alpha * 2


def one() -> Any:
    return paddle.to_tensor([1.0, -2.0])


def check(net: Any, change: Any, eager: Any = None, captures: int | None = 2) -> None:
    """The captured net agrees with the plain function before and after a change, and goes back to what it has captured."""
    forward = net.forward
    plain = eager or forward.function
    np.testing.assert_allclose(net(one()).numpy(), plain(one()).numpy())
    before = net(one()).numpy()
    change(net)
    after = plain(one()).numpy()
    assert not np.array_equal(before, after), "the change must be one that can be seen"
    for _ in range(3):
        np.testing.assert_allclose(net(one()).numpy(), after)
    if captures is not None:
        assert sum(map(len, forward._programs.values())) == captures


def made(forward: Any, **options: Any) -> Any:
    """A Net with this forward, captured."""
    kind = type("Made", (Net,), {"forward": forward})
    return paddle.jit.to_static(kind(), full_graph=True, **options)


def test_attributes_of_self() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.alpha

    net = made(forward)
    check(net, lambda net: setattr(net, "alpha", 3.0))
    net.alpha = 2.0  # captured before: it is found again
    assert net(one()).numpy().tolist() == [2.0, -4.0]
    assert len(next(iter(net.forward._programs.values()))) == 2
    net.alpha = np.float64(2.0)
    assert net(one()).numpy().tolist() == [2.0, -4.0]


def test_the_type_and_the_sign_of_zero_of_an_attribute() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * (1 if self.alpha is True else 2 if isinstance(self.alpha, float) else 3) / (1 + 0 * x) + np.copysign(
            1.0, self.alpha
        )

    net = made(forward)
    for value in (1, 1.0, True, 0.0, -0.0, 0, 1):
        net.alpha = value
        np.testing.assert_allclose(net(one()).numpy(), net.forward.function(one()).numpy())
    net.alpha = float("nan")
    net(one())
    count = sum(map(len, net.forward._programs.values()))
    net.alpha = float("nan")
    net(one())
    assert sum(map(len, net.forward._programs.values())) == count


def test_entries_of_dictionaries_and_only_those_that_were_read() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.cfg["k"] + self.cfg["deep"]["list"][1]

    net = made(forward)
    check(net, lambda net: net.cfg.update(k=3.0))
    net.cfg["unread"] = 5
    net.cfg = dict(net.cfg)  # an equal dictionary
    net(one())
    assert sum(map(len, net.forward._programs.values())) == 2
    net.cfg["deep"]["list"][1] = 7.0
    assert net(one()).numpy().tolist() == [10.0, 1.0]
    del net.cfg["deep"]["list"][1]
    with pytest.raises(IndexError):
        net(one())


READERS = {
    "get": lambda net: net.cfg.get("k", 1.0),
    "items": lambda net: sum(value for key, value in net.cfg.items() if key == "k"),
    "length": lambda net: len(net.sizes),
    "sum": lambda net: sum(net.sizes),
    "slice": lambda net: sum(net.sizes[1:]),
    "loop": lambda net: sum([size * 1 for size in net.sizes]),
    "membership": lambda net: 3.0 if "new" in net.cfg else 2.0,
    "stars": lambda net: _product(*net.sizes),
    "alias": lambda net: _through(net.cfg),
    "plain": lambda net: net.plain.rate,
    "nested": lambda net: net.plain.inner.rate,
    "slots": lambda net: net.slotted.rate,
    "entries": lambda net: net.entries.inner.rate,
    "looked": lambda net: net.looked.rate,
    "class": lambda net: net.shared,
    "getattr": lambda net: getattr(net, "alpha", 1.0),
    "absent": lambda net: getattr(net, "unset", 1.0),
    "hasattr": lambda net: 3.0 if hasattr(net, "unset") else 2.0,
    "property": lambda net: net.doubled,
    "enum": lambda net: 1.0 if net.mode is Mode.ONE else 2.0,
    "vars": lambda net: vars(net.plain)["rate"],
    "dictionary of an object": lambda net: net.plain.__dict__["rate"],
    "dataclass": lambda net: dataclasses.asdict(net.options)["rate"],
    "copy": lambda net: copy.copy(net.plain).rate,
    "objects in a list": lambda net: net.blocks[1].rate,
    "loop over objects": lambda net: sum([block.rate for block in net.blocks]),
}
CHANGES = {
    "get": lambda net: net.cfg.update(k=3.0),
    "items": lambda net: net.cfg.update(k=3.0),
    "length": lambda net: net.sizes.append(3),
    "sum": lambda net: net.sizes.__setitem__(0, 5),
    "slice": lambda net: net.sizes.append(3),
    "loop": lambda net: net.sizes.insert(0, 3),
    "membership": lambda net: net.cfg.update(new=1),
    "stars": lambda net: setattr(net, "sizes", (4, 5)),
    "alias": lambda net: net.cfg["deep"]["list"].__setitem__(0, 9.0),
    "plain": lambda net: setattr(net.plain, "rate", 3.0),
    "nested": lambda net: setattr(net.plain, "inner", Plain(rate=3.0)),
    "slots": lambda net: setattr(net.slotted, "rate", 3.0),
    "entries": lambda net: net.entries["inner"].update(rate=3.0),
    "looked": lambda net: net.looked.table.update(rate=3.0),
    "class": lambda net: setattr(type(net), "shared", 3.0),
    "getattr": lambda net: setattr(net, "alpha", 3.0),
    "absent": lambda net: setattr(net, "unset", 3.0),
    "hasattr": lambda net: setattr(net, "unset", 3.0),
    "property": lambda net: setattr(net, "alpha", 3.0),
    "enum": lambda net: setattr(net, "mode", Mode.TWO),
    "vars": lambda net: setattr(net.plain, "rate", 3.0),
    "dictionary of an object": lambda net: setattr(net.plain, "rate", 3.0),
    "dataclass": lambda net: setattr(net.options, "rate", 3.0),
    "copy": lambda net: setattr(net.plain, "rate", 3.0),
    "objects in a list": lambda net: setattr(net.blocks[1], "rate", 4.0),
    "loop over objects": lambda net: net.blocks.append(Plain(rate=4.0)),
}


def _product(*numbers: Any) -> Any:
    result = 1
    for number in numbers:
        result = result * number
    return result


def _through(table: Any) -> Any:
    inner = table["deep"]
    return inner["list"][0] + 1.0


@pytest.mark.parametrize("case", list(READERS))
def test_ways_of_reading(case: str) -> None:
    read = READERS[case]

    def forward(self: Any, x: Any) -> Any:
        return x * read(self)

    check(made(forward), CHANGES[case])


def test_attributes_that_are_deleted() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.shared

    net = made(forward)
    net.shared = 5.0
    check(net, lambda net: delattr(net, "shared"))

    def without(self: Any, x: Any) -> Any:
        return x * self.alpha

    other = made(without)
    other(one())
    del other.alpha
    with pytest.raises(AttributeError, match="alpha"):
        other(one())


def test_a_property_runs_once_at_the_capture_and_never_at_a_call() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.doubled

    net = made(forward)
    for _ in range(3):
        net(one())
    assert net.reads == 1


def test_arrays_and_objects_with_odd_equality() -> None:
    class Odd:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        def __eq__(self, other: object) -> Any:
            raise RuntimeError("never asked")

        __hash__ = object.__hash__

    def forward(self: Any, x: Any) -> Any:
        return x * paddle.to_tensor(self.array) * self.odd.rate

    net = made(forward)
    net.odd = Odd(1.0)
    check(net, lambda net: net.array.__setitem__(0, 7.0))
    net.odd = Odd(3.0)
    np.testing.assert_allclose(net(one()).numpy(), [21.0, -18.0])
    net.array = np.array([1.0, 1.0], "float32")
    np.testing.assert_allclose(net(one()).numpy(), [3.0, -6.0])


def test_functions_in_attributes_and_partials() -> None:
    def forward(self: Any, x: Any) -> Any:
        return self.activation(x)

    check(made(forward), lambda net: setattr(net, "activation", paddle.square))
    net = made(forward)
    holder = Plain(rate=2.0)
    net.activation = functools.partial(lambda holder, x: x * holder.rate, holder)
    check(net, lambda net: setattr(holder, "rate", 3.0), net.forward.function)


def test_objects_that_can_be_called() -> None:
    class Scale:
        def __init__(self) -> None:
            self.rate = 2.0

        def __call__(self, x: Any) -> Any:
            return x * self.rate if x.sum() < 0 else x

    def forward(self: Any, x: Any) -> Any:
        return self.activation(x)

    net = made(forward)
    net.activation = Scale()
    check(net, lambda net: setattr(net.activation, "rate", 3.0))


def test_globals_and_modules() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        return x * FACTOR + TABLE["deep"][1]["z"] + settings.factor + settings.table["k"]

    global FACTOR
    assert function(one())[0].item() == 8.0
    try:
        FACTOR = 3.0
        assert function(one())[0].item() == 9.0
        TABLE["deep"][1]["z"] = 3.0
        assert function(one())[0].item() == 10.0
        settings.factor = 3.0
        assert function(one())[0].item() == 11.0
        settings.table = {"k": 5.0}
        assert function(one())[0].item() == 14.0
    finally:
        FACTOR, settings.factor, settings.table = 2.0, 2.0, {"k": 2.0, "other": 0}
        TABLE["deep"][1]["z"] = 2.0
    assert function(one())[0].item() == 8.0


def test_closures_and_defaults() -> None:
    factor, options = 2.0, Plain(rate=2.0)

    def inner(x: Any, scale: Any = 2.0, *, table: Any = {"k": 1.0}) -> Any:  # noqa: B006
        return x * scale * table["k"]

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any, power: Any = 1.0) -> Any:
        return inner(x) * factor * options.rate * power

    assert function(one())[0].item() == 8.0
    factor = 3.0
    assert function(one())[0].item() == 12.0
    options.rate = 1.0
    assert function(one())[0].item() == 6.0
    inner.__defaults__ = (4.0,)
    assert function(one())[0].item() == 12.0
    inner.__kwdefaults__["table"]["k"] = 2.0
    assert function(one())[0].item() == 24.0
    function.__wrapped__.__defaults__ = (2.0,)
    assert function(one())[0].item() == 48.0


def test_helpers_that_are_exchanged() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        return settings.helper(x)

    original = settings.helper
    assert function(one())[0].item() == 2.0
    try:
        settings.helper = lambda x: x * 5.0
        assert function(one())[0].item() == 5.0
    finally:
        settings.helper = original
    assert function(one())[0].item() == 2.0


def test_methods_of_a_class_that_are_exchanged() -> None:
    class Worker:
        def step(self, x: Any) -> Any:
            return x * 2.0

    worker = Worker()
    function = paddle.jit.to_static(lambda x: worker.step(x), full_graph=True)
    assert function(one())[0].item() == 2.0
    Worker.step = lambda self, x: x * 3.0
    assert function(one())[0].item() == 3.0


def test_objects_among_the_arguments() -> None:
    @dataclasses.dataclass
    class Options:
        rate: float
        inner: Any = None

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any, options: Any, *, more: Any = None) -> Any:
        return x * options.rate * (1.0 if more is None else more.rate)

    options, more = Options(2.0), types.SimpleNamespace(rate=2.0)
    assert function(one(), options)[0].item() == 2.0
    options.rate = 3.0
    assert function(one(), options)[0].item() == 3.0
    assert function(one(), options, more=more)[0].item() == 6.0
    more.rate = 3.0
    assert function(one(), options, more=more)[0].item() == 9.0


def test_settings_of_layers_of_the_library() -> None:
    net = paddle.jit.to_static(nn.Sequential(nn.Dropout(0.0), nn.ELU(2.0)), full_graph=True)
    before = net(one()).numpy()
    net[1]._arguments["alpha"] = 4.0
    np.testing.assert_allclose(net(one()).numpy(), before * [1.0, 2.0], rtol=1e-6)
    net[0].p = 1.0
    assert net(one()).numpy().tolist() == [0.0, 0.0]


def test_layers_inside_containers_of_the_library() -> None:
    class Scale(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.rate = 2.0

        def forward(self, x: Any) -> Any:
            return x * self.rate

    net = paddle.jit.to_static(nn.Sequential(Scale(), nn.LayerList([Scale()])[0]), full_graph=True)
    assert net(one())[0].item() == 4.0
    net[1].rate = 3.0
    assert net(one())[0].item() == 6.0
    net[0] = nn.Identity()
    assert net(one())[0].item() == 3.0
    net[1].forward = lambda x: x * 4.0
    assert net(one())[0].item() == 4.0
    del net[1].forward
    net[1].eval()
    net[1].register_forward_post_hook(lambda _layer, _inputs, outputs: outputs * 10)
    assert net(one())[0].item() == 30.0


def test_training_and_evaluation_are_kept_side_by_side() -> None:
    net = paddle.jit.to_static(nn.Dropout(0.5), max_programs=1)
    net(one())
    for _ in range(3):
        net.eval()
        assert net(one()).numpy().tolist() == [1.0, -2.0]
        net.train()
        assert set(np.abs(net(one()).numpy()).tolist()) <= {0.0, 2.0, 4.0}
    assert sum(map(len, net.forward._programs.values())) == 2


def test_tensors_stay_inputs_and_another_tensor_is_noticed() -> None:
    holder = Plain(rate=paddle.to_tensor(2.0))
    function = paddle.jit.to_static(lambda x: x * holder.rate, full_graph=True)
    assert function(one())[0].item() == 2.0
    holder.rate.set_value(paddle.to_tensor(3.0))
    assert function(one())[0].item() == 3.0
    assert sum(map(len, function._programs.values())) == 1
    holder.rate = paddle.to_tensor(4.0)
    assert function(one())[0].item() == 4.0
    holder.rate = 5.0
    assert function(one())[0].item() == 5.0


def test_what_the_code_only_changes_is_no_reason_to_capture_again() -> None:
    seen: list[int] = []
    tally = {"calls": 0}

    def forward(self: Any, x: Any) -> Any:
        global COUNT
        COUNT += 1
        self.counter += 1
        self.last = "set"
        seen.append(1)
        tally["calls"] += 1
        return x * 2.0

    net = made(forward)
    for _ in range(4):
        net(one())
    assert (net.counter, seen, tally, sum(map(len, net.forward._programs.values()))) == (1, [1], {"calls": 1}, 1)


def test_a_counter_that_decides_is_never_stale() -> None:
    def forward(self: Any, x: Any) -> Any:
        self.counter += 1
        if self.counter > 3:
            return x * 10.0
        return x * self.counter

    kind = type("Made", (Net,), {"forward": forward})
    net, plain = paddle.jit.to_static(kind(), max_programs=3), kind()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(8):
            np.testing.assert_allclose(net(one()).numpy(), plain(one()).numpy())
    texts = [str(w.message) for w in caught if "to_static" in str(w.message)]
    assert len(texts) == 1
    assert "self.counter was" in texts[0]
    assert "max_programs" in texts[0]


def test_values_beyond_the_budget_run_eagerly_and_known_ones_do_not() -> None:
    calls: list[float] = []

    def forward(self: Any, x: Any) -> Any:
        calls.append(self.alpha)
        return x * self.alpha

    kind = type("Made", (Net,), {"forward": forward})
    net = paddle.jit.to_static(kind(), max_programs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for alpha in (1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0):
            net.alpha = alpha
            assert net(one())[0].item() == alpha
    assert calls == [1.0, 2.0, 3.0, 4.0, 3.0]
    assert "self.alpha was 2.0, now it is 3.0" in net.forward.explain()
    assert "self.alpha was 2.0, now it is 3.0" in str(paddle.jit.explain())


def test_cycles_and_huge_containers() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.ring[0] * len(self.huge) * self.huge[5]

    net = made(forward)
    ring: list[Any] = [2.0]
    ring.append(ring)
    net.ring, net.huge = ring, list(range(100_000))
    assert net(one())[0].item() == 2.0 * 100_000 * 5
    ring[0] = 3.0
    net.huge[5] = 1
    assert net(one())[0].item() == 3.0 * 100_000
    net.huge.append(1)
    assert net(one())[0].item() == 3.0 * 100_001

    def whole(self: Any, x: Any) -> Any:
        return x * sum(part for part in self.ring if not isinstance(part, list))

    other = made(whole)
    other.ring = ring
    assert other(one())[0].item() == 3.0
    ring[0] = 4.0
    assert other(one())[0].item() == 4.0


def test_objects_made_by_the_code_are_not_kept() -> None:
    import gc
    import weakref

    alive: list[Any] = []

    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        local = Plain(rate=2.0)
        alive.append(weakref.ref(local))
        return x * local.rate

    function(one())
    gc.collect()
    assert alive[0]() is None


def test_methods_of_plain_objects_and_static_functions_inside() -> None:
    class Model:
        def __init__(self) -> None:
            self.rate = 2.0

        @paddle.jit.to_static(full_graph=True)
        def run(self, x: Any) -> Any:
            return self.scaled(x)

        def scaled(self, x: Any) -> Any:
            return x * self.rate

    model = Model()
    outer = paddle.jit.to_static(lambda x: model.run(x) + 1.0, full_graph=True)
    assert (model.run(one())[0].item(), outer(one())[0].item()) == (2.0, 3.0)
    model.rate = 3.0
    assert (model.run(one())[0].item(), outer(one())[0].item()) == (3.0, 4.0)


def test_inside_conditions_and_loops_of_the_graph() -> None:
    def forward(self: Any, x: Any) -> Any:
        if x.sum() < 0:
            x = x * self.alpha
        else:
            x = x - self.cfg["k"]
        while x.sum() > -20.0:
            x = x - self.plain.rate
        return x

    check(made(forward), lambda net: setattr(net, "alpha", 3.0))
    check(made(forward), lambda net: setattr(net.plain, "rate", 3.0))


def test_gradients_follow_the_value() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.alpha

    net = made(forward)
    for alpha in (2.0, 3.0, 2.0):
        net.alpha = alpha
        x = one()
        x.stop_gradient = False
        net(x).sum().backward()
        assert x.grad.numpy().tolist() == [alpha, alpha]


def test_functions_without_source() -> None:
    scope: dict[str, Any] = {"factor": 2.0, "options": Plain(rate=2.0, inner=Plain(rate=2.0))}
    exec("def helper(x): return x * factor * options.inner.rate\n", scope)
    exec("class Model:\n    rate = 2.0\n    def run(self, x): return helper(x) * self.rate\n", scope)
    model = scope["Model"]()
    model.rate = 2.0
    function = paddle.jit.to_static(model.run)
    outer = paddle.jit.to_static(lambda x: scope["helper"](x), full_graph=True)
    assert (function(one())[0].item(), outer(one())[0].item()) == (8.0, 4.0)
    scope["factor"] = 3.0
    assert (function(one())[0].item(), outer(one())[0].item()) == (12.0, 6.0)
    model.rate = 1.0
    scope["options"].inner.rate = 1.0
    assert (function(one())[0].item(), outer(one())[0].item()) == (3.0, 3.0)


def test_names_that_hide_others() -> None:
    @paddle.jit.to_static(full_graph=True)
    def function(x: Any) -> Any:
        scaled = [FACTOR * part for part in (1.0, 2.0)]
        doubled = (lambda FACTOR: FACTOR * 2)(1.0)

        def inner(settings: Any) -> Any:
            return settings + 1.0

        return x * sum(scaled) * doubled + inner(1.0)

    global FACTOR
    assert function(one())[0].item() == 14.0
    try:
        FACTOR = 3.0
        assert function(one())[0].item() == 20.0
    finally:
        FACTOR = 2.0


def test_ordered_dictionaries_sets_and_deques() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.ordered["a"] * len(self.names) * sum(self.queue)

    net = made(forward)
    net.ordered, net.names = collections.OrderedDict(a=2.0), {"a"}
    net.queue = collections.deque([1.0, 2.0])
    assert net(one())[0].item() == 6.0
    net.ordered["a"] = 3.0
    assert net(one())[0].item() == 9.0
    net.names.add("b")
    assert net(one())[0].item() == 18.0
    net.queue.append(3.0)
    assert net(one())[0].item() == 36.0


def test_threads_that_call_with_different_values() -> None:
    def forward(self: Any, x: Any) -> Any:
        return x * self.alpha

    nets = [made(forward) for _ in range(4)]
    problems: list[Any] = []

    def work(net: Any, start: float) -> None:
        for step in range(12):
            net.alpha = start + step % 4
            value = net(one())[0].item()
            if value != net.alpha:
                problems.append((value, net.alpha))

    threads = [threading.Thread(target=work, args=(net, 10.0 * i)) for i, net in enumerate(nets)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
