"""Memory programs: their inputs, functions, loops, branches, gradients and reads."""

from __future__ import annotations

from .proposals import CHANGES, COPIES, VIEWS, Proposal
from .strided import Tensor
from .writer import Writer

REPETITIONS = 6

TABLE: list[tuple[Proposal, float]] = [
    *((proposal, weight) for proposal, weight in VIEWS),
    *((proposal, 0.7 * weight) for proposal, weight in COPIES),
    *((proposal, 0.9 * weight) for proposal, weight in CHANGES),
]


def inputs(writer: Writer, with_gradients: bool, changing_shapes: bool) -> None:
    chance = writer.chance
    a, b, c = chance.sample((1, 2, 2, 3, 3, 4), 3)
    shapes = [(a, b), (a, b, c), (b, c), (a, 1, c), (b,), (a, c), (a, b)]
    writer.with_gradients = with_gradients
    for position in range(chance.randint(2, 3)):
        shape = chance.choice(shapes)
        text = ", ".join(map(str, shape))
        if changing_shapes and shape[0] == a:
            text = f"vary({a})" + "".join(f", {size}" for size in shape[1:])
        if with_gradients and (position == 0 or writer.decide(0.3)):
            leaf(writer, text)
            continue
        name = writer.fresh("x")
        # Half of them are computed, so that in the self-compiling mode they wait when their names go.
        computed = chance.choice(("", "", " + 0.5", " * 0.5"))
        assert writer.write(
            f"{name} = paddle.to_tensor(given([{text}], {chance.randint(0, 99)})){computed}", binds=name
        )


def leaf(writer: Writer, shape: str) -> None:
    """A tensor whose gradient is wanted. As a rule only what is computed from it is in reach: Paddle has no rule for
    changes of a leaf through a view that are recorded."""
    name = writer.fresh("leaf")
    number = writer.chance.randint(0, 99)
    assert writer.write(f"{name} = paddle.to_tensor(given([{shape}], {number}), stop_gradient=False)", binds=name)
    writer.leaves.append(name)
    if writer.decide(0.8):
        writer.names.remove(name)
        computed = writer.fresh("x")
        assert writer.write(f"{computed} = {name} * {writer.chance.choice(('0.5', '-1.0', '2.0'))}", binds=computed)


def proposals_of(table: list[tuple[Proposal, float]]) -> tuple[list[Proposal], list[float]]:
    return [proposal for proposal, _ in table], [weight for _, weight in table]


def some(writer: Writer, count: int) -> None:
    """Some statements, with reads among them."""
    proposals, weights = proposals_of(TABLE)
    written = 0
    for _ in range(5 * count):
        if written >= count:
            return
        written += writer.chance.choices(proposals, weights)[0](writer)
        if writer.decide(0.12):
            read(writer)
        if writer.decide(0.08):
            drop(writer)


def read(writer: Writer) -> None:
    name = writer.pick()
    if name is None:
        return
    if writer.decide(0.7):
        writer.record(name)
        return
    writer.features.add("early read")
    writer.record(
        "read",
        writer.chance.choice((f"float({name}.sum())", f"len(str({name})) > 0", f"np.array({name}.tolist()).sum()")),
    )


def drop(writer: Writer) -> None:
    """Forget a name, more often one whose memory others look at."""
    name = writer.pick(lambda one: one.storage.is_shared) if writer.decide(0.7) else writer.pick()
    if name is None or len(writer.names) < 3 or not writer.write(f"del {name}"):
        return
    writer.names.remove(name)
    writer.features.add("deletion")


def function(writer: Writer) -> None:
    """A function of one to three tensors, which may be the same; its own names go when it returns."""
    arguments = [writer.pick() or "" for _ in range(writer.chance.randint(1, 3))]
    if not all(arguments):
        return
    parameters = [writer.fresh("a") for _ in arguments]
    name, result = writer.fresh("function"), ""
    with writer.draft() as body:
        for parameter, argument in zip(parameters, arguments, strict=True):
            if not writer.attempt(f"{parameter} = {argument}"):
                return
        writer.names = list(parameters)
        writer.indentation += 1
        some(writer, writer.chance.randint(2, 6))
        result = writer.pick() or parameters[0]
        writer.emit(f"return {result}")
        writer.indentation -= 1
    definition = "\n".join([f"def {name}({', '.join(parameters)}):", *body])
    target = writer.fresh("v")
    calls = [f"{target} = {name}({', '.join(arguments)})"] * writer.chance.choice((1, 1, 2))
    if writer.attempt("\n".join([definition, *calls])):
        writer.emit(definition)
        for call in calls:
            writer.emit(call)
        writer.names.append(target)
        writer.features.add("function")


def block(writer: Writer, header: str, feature: str, count: int) -> None:
    """A block whose names are forgotten after it, but for changes and rebindings it makes."""
    with writer.draft() as body:
        known = list(writer.names)
        writer.indentation += 1
        some(writer, count)
        writer.indentation -= 1
        alive = [name for name in known if name in writer.names]
    if not body or len(alive) < len(known):
        return
    text = "\n".join([header, *body])
    if writer.attempt(text):
        writer.emit(text)
        writer.features.add(feature)


def loop(writer: Writer) -> None:
    block(
        writer,
        f"for {writer.fresh('step')} in range({writer.chance.randint(2, 4)}):",
        "loop",
        writer.chance.randint(2, 5),
    )


def branch(writer: Writer) -> None:
    name = writer.pick()
    if name is not None:
        test = f"if float({name}.sum()) > {writer.chance.choice(('0.0', '1.0', '-1.5'))}:"
        block(writer, test, "branch on value", writer.chance.randint(1, 3))


def siblings(writer: Writer) -> None:
    """Views of a computed tensor whose name goes, perhaps before it was ever computed; then changes through them."""
    source = writer.pick(lambda one: one.values.size > 2)
    if source is None:
        return
    base, known = writer.fresh("b"), list(writer.names)
    if not writer.write(f"{base} = {source} {writer.chance.choice(('+ 0.25', '* 0.5'))}", binds=base):
        return
    writer.names = [base]
    views, _ = proposals_of(VIEWS)
    for _ in range(writer.chance.randint(2, 5)):
        writer.chance.choice(views)(writer)
    writer.names, made = known, [name for name in writer.names if name != base]
    if base in writer.worlds[0] and writer.write(f"del {base}"):
        writer.features.add("siblings of a tensor that is gone")
    if not made:
        return
    if writer.decide(0.5):
        writer.record(writer.chance.choice(made))
    changes, weights = proposals_of(CHANGES)
    writer.names = made
    for _ in range(writer.chance.randint(1, 3)):
        writer.chance.choices(changes, weights)[0](writer)
    for name in made:
        if writer.decide(0.5):
            writer.record(name)
    writer.names = known + [name for name in writer.names if name not in known]


def unrecorded(writer: Writer) -> None:
    if writer.with_gradients:
        block(writer, "with paddle.no_grad():", "no_grad", writer.chance.randint(1, 3))


def has_history(tensor: Tensor) -> bool:
    return not tensor.stop_gradient and not tensor.is_leaf


def gradients(writer: Writer) -> None:
    """A loss of what has a history, and the gradients of the leaves."""
    worlds = writer.worlds
    targets = [name for name in writer.names if all(has_history(world[name]) for world in worlds)]
    leaves = [name for name in writer.leaves if name in worlds[0] and not has_history(worlds[0][name])]
    if not targets:
        return
    chosen = writer.chance.sample(targets, min(len(targets), writer.chance.randint(1, 3)))
    terms = [f"({name} * {name}).sum()" if writer.decide(0.2) else f"{name}.sum()" for name in chosen]
    writer.emit(f"loss = ({' + '.join(terms)}) * 0.5")
    # Paddle refuses where a value that a gradient needs was changed; so may we, but not more often.
    writer.emit("refused = is_refused(loss)")
    writer.emit('record("refused", refused)')
    writer.emit("if not refused:")
    for name in leaves:
        writer.emit(f'    record("{name}.grad", {name}.grad)')
    if not leaves:
        writer.emit("    pass")
    writer.features.add("gradient")


SECTIONS = (function, loop, branch, unrecorded, siblings, siblings)


def memory_program(writer: Writer) -> None:
    """Statements in a row, in functions, loops and branches; then a look at everything."""
    with_gradients = writer.decide(0.3)
    changing_shapes = writer.decide(0.25)
    if changing_shapes:
        writer.features.add("changing shapes")
    inputs(writer, with_gradients, changing_shapes)
    for _ in range(writer.chance.randint(1, 3)):
        some(writer, writer.chance.randint(3, 9))
        if writer.decide(0.6):
            writer.chance.choice(SECTIONS)(writer)
    if with_gradients:
        gradients(writer)
    for name in writer.names:
        if name.startswith("x") or writer.decide(0.7):
            writer.record(name)
