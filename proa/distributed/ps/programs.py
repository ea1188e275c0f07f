"""Tables of the servers in static programs.

A lookup adds two inputs to the program: the features of a batch, sorted, and their rows. The operations find each feature's
place by `searchsorted`, so that a program needs no call of Python's. Before a run the rows are fetched; after it the
gradients that `minimize` added to the program are sent, and the parameters fetched as they are then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.errors import value_error
from ...eager.naming import unique_name
from ...eager.tensor import Tensor
from ...ir.recorder import LOCAL
from ...nn import functional as F
from ...ops.index.lookup import searchsorted
from ...static.companions import Companion
from ...static.execution import computed
from ...static.program import Program
from ...static.scope import Scope, set_values, values_of
from ...static.variable import data
from .config import TableConfig
from .dense import DenseParameters, rule_of
from .session import Session, joined_session, padded_length, summed

_NO_FEATURE = np.iinfo(np.int64).max  # behind the last one, up to the length of the input


@dataclass
class _Lookup:
    """Where a program looks features up."""

    config: TableConfig
    ids: Tensor
    features: Tensor
    rows: Tensor
    padding: int | None
    creates: bool


class TableProgram(Companion):
    """A program whose embeddings lie on the servers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lookups: list[_Lookup] = []
        self._trained: list[_Lookup] = []
        self._parameters: list[Tensor] = []
        self._gradients: list[Tensor] = []  # of the rows of the trained lookups, then of the parameters
        self._optimizer: Any = None
        self._dense: DenseParameters | None = None
        self._session: Session | None = None
        self._sent: list[tuple[np.ndarray, np.ndarray]] = []  # features and shows of the trained lookups in this run
        self._without_tables: Program | None = None

    # ---- while the program is recorded -----------------------------------------------------------

    def look_up(self, config: TableConfig, ids: Tensor, padding: int | None, is_test: bool) -> Tensor:
        """The rows of features, in the shape of `ids` with one dimension more."""
        number = len(self._lookups)
        features = data(f"{config.name}@FEATURES_{number}", [-1], "int64")
        rows = data(f"{config.name}@ROWS_{number}", [-1, config.width], "float32")
        rows.stop_gradient = is_test
        self._lookups.append(_Lookup(config, ids, features, rows, padding, not is_test))
        ids = ids.astype("int64")
        found = F.embedding(searchsorted(features, ids), rows)
        return found if padding is None else found * (ids != padding).astype("float32").unsqueeze(-1)

    def minimize(self, optimizer: Any, loss: Tensor, parameters: Any, no_grad_set: Any) -> list[tuple[Any, Tensor]]:
        """Adds the gradients of the loss, which every run will send; gives those of the parameters."""
        rule_of(optimizer)  # that the servers do not know it is told now
        wanted = parameters or optimizer._members or self._program.all_parameters()
        rows = [lookup.rows for lookup in self._lookups if lookup.creates]
        pairs = self._program.backward_of(loss, [*rows, *wanted], no_grad_set)
        by_rows = {id(lookup.rows): lookup for lookup in self._lookups}
        self._trained = [by_rows[id(tensor)] for tensor, _ in pairs if id(tensor) in by_rows]
        own = [(parameter, gradient) for parameter, gradient in pairs if id(parameter) not in by_rows]
        self._parameters = [parameter for parameter, _ in own]
        self._gradients = [gradient for _, gradient in pairs]
        self._optimizer = optimizer
        return own

    def copied(self, program: Program) -> TableProgram:
        made = TableProgram(program)
        made._lookups = self._lookups
        if not program.is_test:
            made._trained, made._parameters, made._gradients = self._trained, self._parameters, self._gradients
            made._optimizer = self._optimizer
        return made

    # ---- while it runs ---------------------------------------------------------------------------

    def fetches(self) -> list[Tensor]:
        return self._gradients

    def feed(self, arrays: dict[str, Any], scope: Scope) -> dict[str, Any]:
        session = joined_session("Executor.run")
        if session is not self._session:
            self._join(session, scope)
        self._sent = []
        made: dict[str, np.ndarray] = {}
        for lookup in self._lookups:
            ids = np.asarray(self._ids(lookup, arrays, scope), np.int64)
            found, counts = np.unique(ids, return_counts=True)
            if lookup.padding is not None:
                real = found != lookup.padding
                found, counts = found[real], counts[real]
            length = padded_length(len(found))
            features = np.full(length, _NO_FEATURE, np.int64)
            rows = np.zeros((length, lookup.config.width), np.float32)
            features[: len(found)] = found
            creates = lookup.creates and not self._program.is_test
            rows[: len(found)] = session.communicator.pull(lookup.config.name, found, create=creates)
            made[lookup.features.name], made[lookup.rows.name] = features, rows
            if any(lookup is trained for trained in self._trained):
                self._sent.append((found, counts.astype(np.float32)))
        return made

    def _join(self, session: Session, scope: Scope) -> None:
        for lookup in self._lookups:
            session.create(lookup.config)
        if self._optimizer is not None:
            self._dense = DenseParameters(session, self._parameters, self._optimizer)
            values = values_of({parameter.name: parameter for parameter in self._parameters}, scope)
            first = [np.asarray(values[parameter.name]) for parameter in self._parameters]
            set_values(dict(zip(self._parameters, self._dense.start(first))), scope)
        self._session = session

    def _ids(self, lookup: _Lookup, arrays: dict[str, Any], scope: Scope) -> Any:
        name = lookup.ids._name
        if name in self._program.data and self._program.data[name] is lookup.ids:
            if name not in arrays:
                raise value_error(
                    "Executor.run", f"the program needs the input {name}, which is not fed", f"feed: {sorted(arrays)}"
                )
            given = arrays[name]
            return given.numpy() if isinstance(given, Tensor) else given
        if self._without_tables is None:  # features that the program computes itself
            self._without_tables = self._program.clone(for_test=True)
            self._without_tables.companions = []
        return computed(self._without_tables, arrays, [lookup.ids], scope)[0].numpy()

    def finish(self, values: list[Tensor], scope: Scope) -> None:
        if self._session is None or self._dense is None:
            return
        gradients = [value.numpy() for value in values]
        by_table: dict[str, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
        for lookup, (found, shows), gradient in zip(self._trained, self._sent, gradients):
            by_table.setdefault(lookup.config.name, []).append((found, gradient[: len(found)], shows))
        for name, parts in by_table.items():
            self._session.communicator.push(name, *summed(parts), None)
        self._dense.push(gradients[len(self._trained) :], float(self._optimizer.get_lr()))
        self._session.communicator.stepped()
        set_values(dict(zip(self._parameters, self._dense.pull())), scope)


class ProgramOptimizer:
    """An optimiser in a static program whose steps happen on the servers."""

    def __init__(self, optimizer: Any) -> None:
        self._inner = optimizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Tensor]]]:
        """Adds the gradients of the loss to its program; every run sends them to the servers."""
        return [], table_program(LOCAL.segment.owner).minimize(self._inner, loss, parameters, no_grad_set)


def table_program(program: Any) -> TableProgram:
    """What the program that is being recorded has to do with the servers."""
    found = next((companion for companion in program.companions if isinstance(companion, TableProgram)), None)
    if found is None:
        found = TableProgram(program)
        program.companions.append(found)
    return found


def table_name(param_attr: Any) -> str:
    """The name of a table: the parameter's, or one that all workers, which record the same program, come to."""
    name = param_attr if isinstance(param_attr, str) else getattr(param_attr, "name", None)
    return name or unique_name("sparse_embedding")
