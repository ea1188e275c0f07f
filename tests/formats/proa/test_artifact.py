"""proa's own artifact: what is saved comes back, and still does in later versions."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa.formats.proa import load_artifact, load_graph, save_graph
from proa.formats.proa.archive import VERSION, DamagedArtifact
from proa.formats.proa.tests import Recorded, replay
from proa.graph.capture import capture
from proa.graph.structure import flatten
from proa.static import InputSpec
from proa_command import main

from .examples import EXAMPLES, save_example

_GOLDEN = Path(__file__).parent / "golden"


def arrays_for(name: str) -> list[np.ndarray]:
    numbers = np.random.default_rng(5)
    if name == "picture":
        return [numbers.standard_normal((3, 3, 8, 8)).astype("float32")]
    if name == "words":
        return [numbers.integers(0, 9, (2, 5))]
    return [numbers.standard_normal((4, 3)).astype("float32"), np.array(2)]


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_saved_and_loaded(tmp_path: Path, name: str) -> None:
    layer = save_example(name, str(tmp_path / "model.proa"))
    loaded = paddle.jit.load(str(tmp_path / "model.proa"))
    tensors = [paddle.to_tensor(array) for array in arrays_for(name)]
    expected: list[Any] = []
    found: list[Any] = []
    with paddle.no_grad():
        structure = flatten(layer(*tensors), expected)
        again = flatten(loaded(*tensors), found)
    assert repr(again) == repr(structure)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-5, 1e-6)
    own = layer.state_dict()  # which may name a tensor twice
    assert all(np.array_equal(tensor.numpy(), own[name].numpy()) for name, tensor in loaded.state_dict().items())
    assert len(loaded.state_dict()) == len({id(tensor) for tensor in own.values()})


@pytest.mark.parametrize("path", sorted(_GOLDEN.glob("*.proa")), ids=lambda p: p.stem)
def test_files_of_every_version_still_load(path: Path) -> None:
    artifact = load_artifact(path)
    assert artifact.meta["version"] <= VERSION
    for title, method in artifact.methods.items():
        assert method.tests
        assert all(verdict.good for verdict in replay(method.graph, title, method.tests))


def test_there_is_a_golden_file_of_this_version() -> None:
    assert {p.stem.split("_")[1] for p in _GOLDEN.glob("version_*.proa")} >= {str(v) for v in range(1, VERSION + 1)}


def test_the_file_is_a_plain_zip_of_readable_parts(tmp_path: Path) -> None:
    save_example("picture", str(tmp_path / "model.proa"))
    with zipfile.ZipFile(tmp_path / "model.proa") as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        program = json.loads(archive.read("program.json"))
        signature = json.loads(archive.read("signature.json"))
    assert set(entries) == {"meta.json", "program.json", "signature.json", "weights.safetensors", "tests.safetensors"}
    assert all(entry.compress_type == zipfile.ZIP_STORED for entry in entries.values())
    first = program["methods"]["forward"]["program"]["instructions"][0]
    assert first["op"] == "conv"
    assert signature["methods"]["forward"]["inputs"][0]["shape"] == [-1, 3, 8, 8]
    assert program["methods"]["forward"]["captured"][0]["weight"] == "conv.weight"


def test_attributes_of_every_kind(tmp_path: Path) -> None:
    def function(x: Any) -> Any:
        inf = paddle.full([2], float("inf"))
        return x.astype("float64").norm(p=float("inf"), axis=1), inf, x[:, ::-1], x.astype("complex128") * (1 + 2j)

    save_graph(capture(function, [InputSpec([None, 2])]), tmp_path / "model.proa")
    graph = load_graph(tmp_path / "model.proa")
    x = np.array([[1.0, -3.0], [2.0, 0.5]], "float32")
    norm, inf, turned, product = graph(paddle.to_tensor(x))
    np.testing.assert_array_equal(norm.numpy(), [3.0, 2.0])
    assert np.isinf(inf.numpy()).all()
    np.testing.assert_array_equal(turned.numpy(), x[:, ::-1])
    np.testing.assert_allclose(product.numpy(), x * (1 + 2j))


def test_weights_of_types_that_safetensors_lacks(tmp_path: Path) -> None:
    constant = paddle.to_tensor(np.array([1 + 1j, 2 - 3j]))
    save_graph(capture(lambda x: x * constant, [InputSpec([2], "complex128")]), tmp_path / "model.proa")
    graph = load_graph(tmp_path / "model.proa")
    result = graph(paddle.to_tensor(np.array([1j, 1.0 + 0j])))
    np.testing.assert_array_equal(result.numpy(), [-1 + 1j, 2 - 3j])


def test_random_operations_have_no_test_vectors(tmp_path: Path) -> None:
    save_graph(capture(lambda x: x + paddle.rand([2]), [InputSpec([2])]), tmp_path / "model.proa")
    artifact = load_artifact(tmp_path / "model.proa")
    assert artifact.methods["forward"].tests == []
    assert "random" in artifact.meta["notes"][0]
    graph = artifact.methods["forward"].graph
    zero = paddle.zeros([2])
    assert not np.array_equal(graph(zero).numpy(), graph(zero).numpy())


def test_own_test_inputs(tmp_path: Path) -> None:
    layer = EXAMPLES["steps"][0]()
    inputs = [[np.ones((1, 3), "float32"), np.array(4)], [-np.ones((2, 3), "float32"), np.array(0)]]
    paddle.jit.save(layer, str(tmp_path / "m.proa"), EXAMPLES["steps"][1], test_inputs=inputs)
    tests = load_artifact(tmp_path / "m.proa").methods["forward"].tests
    assert [test.inputs[1].item() for test in tests] == [4, 0]
    assert tests[0].outputs[1].item() == 4


# ---- the command -------------------------------------------------------------------------------------------------


def test_verify_says_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_example("words", str(tmp_path / "model.proa"))
    assert main(["verify", str(tmp_path / "model.proa")]) == 0
    assert "good" in capsys.readouterr().out


def test_verify_sees_a_changed_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = capture(lambda x: x * 2, [InputSpec([3])])
    x = np.ones(3, "float32")
    good, bad = Recorded([x], [2 * x]), Recorded([x], [3 * x])
    assert [verdict.good for verdict in replay(graph, "forward", [good, bad])] == [True, False]
    path = tmp_path / "model.proa"
    save_graph(graph, path)
    content = path.read_bytes()
    path.write_bytes(content[:-200])
    assert main(["verify", str(path)]) == 1
    assert "BAD" in capsys.readouterr().out


def test_verify_reads_paddle_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paddle.jit.save(paddle.nn.Linear(2, 3), str(tmp_path / "model"), [InputSpec([None, 2])])
    assert main(["verify", str(tmp_path / "model")]) == 0
    assert "no test vectors" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "nothing")]) == 1


# ---- what is refused ---------------------------------------------------------------------------------------------


def changed(path: Path, entry: str, change: Any) -> None:
    """Rewrites one document of an artifact, with a right checksum."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries[entry])
    change(document)
    entries[entry] = json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def forward(document: Any) -> Any:
    return document["methods"]["forward"]["program"]


@pytest.mark.parametrize(
    ("entry", "change", "match"),
    [
        ("meta.json", lambda d: d.update(version=VERSION + 1), "update proa"),
        ("meta.json", lambda d: d.pop("version"), "which version"),
        ("program.json", lambda d: forward(d)["instructions"][0].update(op="os.system"), "not in the op table"),
        ("program.json", lambda d: forward(d)["instructions"][0]["in"].__setitem__(0, 5), "before it is defined"),
        ("program.json", lambda d: forward(d)["instructions"][0]["in"].__setitem__(0, -99), "before it is defined"),
        ("program.json", lambda d: forward(d)["instructions"][0].update(out=["float32[9,9]"]), "damaged"),
        ("program.json", lambda d: forward(d)["instructions"][0].update(out=["float32[99999999999999999999]"]), "absurd"),
        ("program.json", lambda d: forward(d)["instructions"][0]["attributes"].__setitem__(0, [2**30, "x"]), "another kind"),
        ("program.json", lambda d: forward(d).update(outputs=[10**9]), "no value"),
        ("program.json", lambda d: forward(d)["scalars"].append(1), "numbers do not fit"),
        ("program.json", lambda d: d["methods"]["forward"]["captured"].pop(), "do not fit"),
        ("signature.json", lambda d: d["methods"]["forward"].update(outputs={"tensor": 99}), "not among the results"),
        ("signature.json", lambda d: d["methods"].pop("forward"), "no methods"),
    ],
)  # fmt: skip
def test_documents_that_do_not_fit(tmp_path: Path, entry: str, change: Any, match: str) -> None:
    path = tmp_path / "model.proa"
    save_example("picture", str(path))
    changed(path, entry, change)
    with pytest.raises(DamagedArtifact, match=match):
        load_artifact(path)


def test_a_file_that_is_no_artifact(tmp_path: Path) -> None:
    path = tmp_path / "model.proa"
    path.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match=r"not a \.proa file"):
        load_artifact(path)
    with pytest.raises(FileNotFoundError):
        paddle.jit.load(str(tmp_path / "other.proa"))


def test_compressed_entries_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.proa"
    save_example("steps", str(path))
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(DamagedArtifact, match="compressed"):
        load_artifact(path)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.proa"
    path.write_bytes(b"before")
    with pytest.raises(TypeError, match="cannot be saved"):
        save_graph(capture(lambda x: (x + 1, object()), [InputSpec([2])]), path)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["model.proa"]


def test_mutated_files_give_errors() -> None:
    from .mutations import check

    ends, longest, _ = check(150, seed=11)
    assert set(ends) <= {"read", "ValueError"}
    assert ends["ValueError"] > 75
    assert longest < 5
