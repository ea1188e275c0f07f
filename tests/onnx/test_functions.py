"""Every primitive has a translator or a reason; the samples of every public function agree with ONNX Runtime."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

import proa.distributed
import proa.ir.padding
from proa.ir.operation import all_operations
from proa.onnx.registry import REASONS, TRANSLATORS, no_counterpart, translates
from proa.onnx.translation import load_translators
from tests.onnx.functions import samples, tried

load_translators()

_CASES: dict[str, list[tuple[str, Any, Any]]] = {}
for _title, _function, _case in samples([]):
    _CASES.setdefault(_title.split(" ")[0], []).append((_title, _function, _case))


@pytest.mark.parametrize("name", list(_CASES))
def test_samples_agree_with_the_runtime(name: str) -> None:
    """What is left out says why; nothing that is written differs."""
    for title, function, case in _CASES[name]:
        left_out = tried(function, case)
        assert left_out != "", title


def test_what_models_use_is_compared() -> None:
    """So that what is left out cannot grow unnoticed."""
    for name in ("add", "matmul", "conv2d", "gelu", "concat", "topk", "where", "einsum", "cumsum", "grid_sample",
                 "interpolate", "layer_norm", "one_hot", "argsort", "gather_nd"):  # fmt: skip
        found = [tried(function, case) for title, function, case in samples([name]) if not title.startswith("sparse")]
        assert found.count(None) >= 0.7 * len(found) > 0, (name, found)


# These need sizes that are computed inside the graph.
UNKNOWN = (
    "reshape", "flatten", "concat", "split", "tile", "expand", "slice", "strided_slice", "roll", "flip", "diagonal",
    "diag_embed", "gather", "take_along_axis", "one_hot", "stack", "cumsum", "topk", "argsort", "mean",
    "softmax", "group_norm", "matmul", "linear", "max_pool2d", "avg_pool2d", "interpolate",
    "pad", "embedding", "tril", "cross_entropy", "adaptive_avg_pool2d",
    "pixel_shuffle",
)  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_samples_agree_where_every_size_is_unknown(name: str) -> None:
    found = [tried(function, case, unknown=True) for _, function, case in samples([name])]
    assert found.count(None) >= 1, found


def test_every_primitive_has_a_translator_or_a_reason() -> None:
    for module in pkgutil.walk_packages(proa.ir.padding.__path__, "proa.ir.padding."):
        importlib.import_module(module.name)  # declares operations when something is padded
    # Tests may declare operations of their own; some are declared when code first needs them: gradients that are derived,
    # users' operations, calls that are put off, exchanges between processes.
    apart = ("proa.eager.backward.derived", "proa.static", "proa.utils", "proa.jit.conversion", "proa.distributed")
    missing = [
        name
        for name, operation in all_operations().items()
        if operation.kernel.__module__.startswith("proa.")
        and not operation.kernel.__module__.startswith(apart)
        and name not in TRANSLATORS
        and name not in REASONS
    ]
    assert missing == []
    assert not set(TRANSLATORS) & set(REASONS)
    assert all(len(reason.split()) >= 5 for reason in REASONS.values())


def test_a_primitive_is_translated_once() -> None:
    with pytest.raises(ValueError, match="add has two translators"):
        translates("add")(lambda builder, call: None)
    with pytest.raises(ValueError, match="has a translator or a reason already"):
        no_counterpart("because of this very test here", "add")
