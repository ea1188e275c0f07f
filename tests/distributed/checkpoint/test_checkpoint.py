"""`save_state_dict` and `load_state_dict` in one process: what is saved comes back, and nothing damaged does."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import resource
import sys
import threading
import types

import ml_dtypes
import numpy as np
import pytest

import proa as paddle
import proa.distributed as dist
from proa.distributed.checkpoint import memory, merge_sharded_state_dict, prepare_async_save, saving, staging
from proa.distributed.checkpoint.memory import Reserve
from proa.distributed.checkpoint.metadata import LocalTensorIndex, LocalTensorMetadata, Metadata
from proa.distributed.checkpoint.pieces import array_of, choose_writers, held_pieces
from proa.framework.content import NAME_TABLE
from proa.framework.io import clear_async_save_task_queue
from proa.ir.tiers import kept
from proa.ir.transforms import donation

WRITTEN_BY_PADDLE = pathlib.Path(__file__).with_name("paddle_checkpoint")


def trainer() -> tuple:
    paddle.seed(3)
    with paddle.utils.unique_name.guard():  # the names that a process started anew would give
        return _trainer()


def _trainer() -> tuple:
    model = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 2))
    schedule = paddle.optimizer.lr.StepDecay(0.1, 2)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=model.parameters())
    return model, optimizer, schedule


def train(model, optimizer, schedule, steps: int) -> list[float]:
    losses = []
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(6, 4)).astype("float32"))
    with paddle.jit.eager_mode("immediate"):  # compiled code may round differently from the second time on
        for _ in range(steps):
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
            losses.append(loss.item())
    return losses


def numbered(value: float) -> dict:
    return {"weight": paddle.full([4, 3], value), "bias": paddle.full([3], -value)}


def loaded(path, unique_id=None) -> float:
    state = numbered(0.0)
    dist.load_state_dict(state, str(path), unique_id=unique_id)
    found = {float(value) for value in state["weight"].numpy().ravel()}
    assert len(found) == 1
    assert (state["bias"].numpy() == -state["weight"].numpy()[0]).all()
    return found.pop()


@pytest.mark.parametrize("safetensors", [False, True])
def test_training_goes_on_from_a_checkpoint_with_the_same_bits(tmp_path, safetensors: bool) -> None:
    whole = trainer()
    expected = train(*whole, steps=6)
    first = trainer()
    assert train(*first, steps=3) == expected[:3]
    state = {"model": first[0].state_dict(), "optimizer": first[1].state_dict(), "epoch": 3, "best": None}
    dist.save_state_dict(state, str(tmp_path), safetensors=safetensors)
    second = trainer()
    train(*second, steps=1)  # its optimiser has states then, of which all are filled
    other = {"model": second[0].state_dict(), "optimizer": second[1].state_dict(), "epoch": 0, "best": 1}
    assert other["optimizer"]["LR_Scheduler"] != state["optimizer"]["LR_Scheduler"]
    dist.load_state_dict(other, str(tmp_path), safetensors=safetensors)
    second[1].set_state_dict(other["optimizer"])
    assert other["epoch"] == 3
    assert other["best"] is None
    assert other["optimizer"]["LR_Scheduler"] == state["optimizer"]["LR_Scheduler"]
    assert train(*second, steps=3) == expected[3:]


def test_every_type_of_numbers_and_values_comes_back(tmp_path) -> None:
    arrays = {
        name: np.arange(6).reshape(2, 3).astype(name)
        for name in (
            "uint8",
            "int8",
            "int16",
            "int32",
            "int64",
            "float16",
            "float32",
            "float64",
            "complex64",
            "complex128",
        )
    }
    arrays |= {"bool": np.array([True, False]), "bfloat16": np.array([1.5, -3], ml_dtypes.bfloat16)}
    arrays |= {
        "scalar": np.array(4.0),
        "empty": np.zeros((0, 3), "float32"),
        "float8": np.array([2], ml_dtypes.float8_e4m3fn),
    }
    values = {"text": "x", "list": [1, (2.5, None)], "nothing": {}, "array": np.arange(3), "number": np.float32(2)}
    dist.save_state_dict({"t": {k: paddle.to_tensor(a) for k, a in arrays.items()}, "v": values}, str(tmp_path))
    tensors = {name: paddle.to_tensor(np.zeros_like(array)) for name, array in arrays.items()}
    found = {"t": tensors, "v": dict.fromkeys(values, 0)}
    dist.load_state_dict(found, str(tmp_path))
    for name, array in arrays.items():
        assert tensors[name]._data().dtype == array.dtype, name
        assert np.asarray(tensors[name]._data()).tobytes() == array.tobytes(), name
        assert tuple(tensors[name].shape) == array.shape, name
    assert found["v"].pop("array").tolist() == values.pop("array").tolist()
    assert found["v"] == values


def test_a_tensor_keeps_its_own_type(tmp_path) -> None:
    dist.save_state_dict({"x": paddle.to_tensor([1.0, 2.5])}, str(tmp_path))
    target = {"x": paddle.zeros([2], dtype="bfloat16")}
    dist.load_state_dict(target, str(tmp_path))
    assert target["x"].dtype == paddle.bfloat16
    assert target["x"].astype("float32").tolist() == [1.0, 2.5]


def test_checkpoints_are_numbered_and_the_last_ones_are_kept(tmp_path) -> None:
    for value in range(4):
        dist.save_state_dict(numbered(float(value)), str(tmp_path))
    assert [loaded(tmp_path, number) for number in range(4)] == [0, 1, 2, 3]
    assert loaded(tmp_path) == 3
    dist.save_state_dict(numbered(4.0), str(tmp_path), keep=2)
    assert sorted(os.listdir(tmp_path)) == ["0_3.distcp", "0_4.distcp", "3.metadata", "4.metadata"]
    with pytest.raises(FileNotFoundError, match=r"no checkpoint 1 .* there are \[3, 4\]"):
        loaded(tmp_path, 1)


def test_a_checkpoint_is_written_over_by_its_number(tmp_path, monkeypatch) -> None:
    dist.save_state_dict(numbered(1.0), str(tmp_path), unique_id=9)
    with monkeypatch.context() as patch:
        patch.setattr(saving, "encode", lambda _: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            dist.save_state_dict(numbered(2.0), str(tmp_path), unique_id=9)
    assert loaded(tmp_path) == 1, "what was there stays until the new one is whole"
    dist.save_state_dict(numbered(3.0), str(tmp_path), unique_id=9)
    assert loaded(tmp_path) == 3
    assert len(os.listdir(tmp_path)) == 2


def test_an_interrupted_save_leaves_the_last_checkpoint_and_its_remains_are_removed(tmp_path) -> None:
    dist.save_state_dict(numbered(1.0), str(tmp_path))
    for name in ("0_1.distcp", "3_1.distcp", "0_1.distcp.77.abcdef01.tmp", "1.metadata.77.abcdef01.tmp"):
        (tmp_path / name).write_bytes(b"cut sho")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "0_8.distcp").write_bytes(b"being written by another job")
    assert loaded(tmp_path) == 1
    dist.save_state_dict(numbered(2.0), str(tmp_path))
    assert loaded(tmp_path) == 2
    expected = ["0.metadata", "0_0.distcp", "0_1.distcp", "0_8.distcp", "1.metadata", "notes.txt"]
    assert sorted(os.listdir(tmp_path)) == expected


@pytest.mark.parametrize("safetensors", [False, True])
def test_no_damaged_byte_is_loaded(tmp_path, safetensors: bool) -> None:
    dist.save_state_dict(numbered(3.0), str(tmp_path), safetensors=safetensors)
    errors: list[tuple[str, str]] = []
    metadata = (tmp_path / "0.metadata").read_bytes()
    for name in sorted(os.listdir(tmp_path)):
        content = (tmp_path / name).read_bytes()
        step = 1 if name.startswith("0_") else 7
        for position in range(0, len(content), step):
            damaged = bytearray(content)
            damaged[position] ^= 0x10
            (tmp_path / name).write_bytes(damaged)
            try:
                assert loaded(tmp_path) == 3, f"byte {position} of {name}"
            except ValueError as error:
                errors.append((name, str(error)))
        (tmp_path / name).write_bytes(content)
    assert all(name in error for name, error in errors), "every error names the file"
    assert len(errors) >= 60 + len(metadata) // 7, "all numbers and the whole metadata are covered"
    assert loaded(tmp_path) == 3


def test_a_file_that_is_cut_short_or_missing_is_named(tmp_path) -> None:
    dist.save_state_dict(numbered(3.0), str(tmp_path))
    content = (tmp_path / "0_0.distcp").read_bytes()
    (tmp_path / "0_0.distcp").write_bytes(content[:-3])
    with pytest.raises(ValueError, match=rf"has {len(content) - 3} bytes, and {len(content)} were .*0_0\.distcp"):
        loaded(tmp_path)
    (tmp_path / "0_0.distcp").unlink()
    with pytest.raises(FileNotFoundError, match=r"missing; received .*0_0\.distcp"):
        loaded(tmp_path)
    (tmp_path / "0.metadata").write_bytes(b"")
    with pytest.raises(ValueError, match=r"damaged; received .*0\.metadata"):
        loaded(tmp_path)


def test_metadata_runs_nothing(tmp_path) -> None:
    dist.save_state_dict(numbered(3.0), str(tmp_path))
    (tmp_path / "0.metadata").write_bytes(pickle.dumps(Danger()))
    with pytest.raises(ValueError, match=r"0\.metadata.*refused"):
        loaded(tmp_path)
    assert not Danger.ran


class Danger:
    ran = False

    def __reduce__(self):
        return setattr, (Danger, "ran", True)


def test_a_save_in_the_background_takes_the_values_of_the_call(tmp_path) -> None:
    state = numbered(1.0)
    dist.save_state_dict(state, str(tmp_path), async_save=True)
    state["weight"].set_value(paddle.full([4, 3], 50.0))
    state["bias"].set_value(paddle.full([3], 50.0))
    assert loaded(tmp_path) == 1, "loading waits for it"
    dist.save_state_dict(numbered(2.0), str(tmp_path), async_save=True)  # into the memory of the first
    dist.save_state_dict(numbered(3.0), str(tmp_path), async_save=True)
    clear_async_save_task_queue()
    assert [loaded(tmp_path, number) for number in range(3)] == [1, 2, 3]


def test_the_next_update_waits_for_the_copies_and_nothing_else_does(tmp_path, monkeypatch) -> None:
    gate, copied = threading.Event(), []

    def slowly(*arguments):
        gate.wait(20)
        copied.append(1)
        return array_of(*arguments)

    monkeypatch.setattr(staging, "array_of", slowly)
    kept.PROGRAMS.clear()
    model = paddle.nn.Linear(64, 64)
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    x = paddle.ones([8, 64])

    def forward():
        loss = (model(x) ** 2).mean()
        loss.item()
        return loss

    for _ in range(8):  # until it is compiled
        forward().backward()
        optimizer.step()
        optimizer.clear_grad()
    (program,) = [one for one in kept.PROGRAMS if one.compiled.donated]
    before = program.compiled.copies
    values = {key: value.numpy().copy() for key, value in model.state_dict().items()}
    dist.save_state_dict(model.state_dict(), str(tmp_path), async_save=True)
    loss = forward()
    assert not copied, "neither the call nor the forward pass has waited"
    timer = threading.Timer(0.2, gate.set)
    timer.start()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    forward()
    assert len(copied) >= 2
    assert program.compiled.copies == before, "the update has written over the parameters"
    state = {key: paddle.zeros(value.shape) for key, value in values.items()}
    dist.load_state_dict(state, str(tmp_path))
    for key, value in values.items():
        np.testing.assert_array_equal(state[key].numpy(), value)
        assert (model.state_dict()[key].numpy() != value).any()


def test_a_copy_that_fails_is_told(tmp_path, monkeypatch) -> None:
    def fail(*_):
        raise MemoryError("no memory")

    monkeypatch.setattr(staging, "array_of", fail)
    dist.save_state_dict({"x": compiled_value()}, str(tmp_path), async_save=True)
    with pytest.raises(MemoryError, match="no memory"):
        clear_async_save_task_queue()
    assert not donation.READERS


def compiled_value() -> paddle.Tensor:
    """A tensor whose numbers an executable has made."""
    x = paddle.ones([4])
    for _ in range(8):
        x = x * 2
        x.numpy()
    assert not isinstance(x._data(), np.ndarray)
    return x


def test_the_copy_for_the_background_shares_no_memory() -> None:
    """Buffers of tensors are reused by compiled steps: what the thread writes must lie elsewhere."""
    tensors = [paddle.rand([100, 10]), paddle.arange(5), (paddle.rand([8]) * 2).astype("bfloat16")]
    pieces = [piece for n, tensor in enumerate(tensors) for piece in held_pieces(str(n), tensor, 0)]
    snapshot = staging.Snapshot(pieces)
    for n, (tensor, piece) in enumerate(zip(tensors, pieces)):
        copy = snapshot.array(n)
        assert copy.tobytes() == np.asarray(tensor._data()).tobytes()
        assert not np.shares_memory(copy, np.asarray(piece.source))


def resident() -> int:
    """Bytes of memory that this process has."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted by Linux's files")
def test_memory_for_the_first_save_can_be_made_beforehand(tmp_path) -> None:
    size = 64 << 20
    state = {"model": {"weight": paddle.to_tensor(np.full(size // 4, 3.0, "float32"))}, "step": 7}
    weight = state["model"]["weight"]
    pieces = held_pieces("weight", weight, 0)
    prepare_async_save({"x": paddle.zeros([3])})  # imports what is needed
    clear_async_save_task_queue()
    before = resident()
    prepare_async_save(state)
    clear_async_save_task_queue()
    ready = resident()
    assert ready - before > 0.9 * size
    snapshot = staging.Snapshot(pieces)
    assert resident() - ready < 0.1 * size
    np.testing.assert_array_equal(snapshot.array(0), np.full(size // 4, 3.0, "float32"))
    snapshot.close()
    prepare_async_save({"x": paddle.zeros([3])})  # of something else: the large one is not kept
    dist.save_state_dict(numbered(5.0), str(tmp_path), async_save=True)
    assert loaded(tmp_path) == 5
    assert staging.RESERVE.num_bytes() < 0.1 * size


def reserve_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "reserve"]


def first_step_in_a_job(monkeypatch) -> None:
    monkeypatch.setattr(staging, "RESERVE", Reserve())
    monkeypatch.setattr(staging, "_WORTH_EXPECTING", 1 << 20)
    dist.init_parallel_env()
    layer = paddle.nn.Linear(1024, 512, bias_attr=False)  # 2 MB, and as much for each moment
    optimizer = paddle.optimizer.Adam(parameters=layer.parameters())
    layer(paddle.ones([2, 1024])).sum().backward()
    optimizer.step()
    optimizer.clear_grad()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted by Linux's files")
def test_the_first_step_of_a_job_gets_the_memory_for_saves(monkeypatch) -> None:
    first_step_in_a_job(monkeypatch)
    for thread in reserve_threads():
        thread.join()
    assert 3 * (2 << 20) <= staging.RESERVE.num_bytes() < 3.1 * (2 << 20)


def test_no_memory_is_got_where_there_is_little(monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 3 << 20)
    first_step_in_a_job(monkeypatch)
    assert not reserve_threads()
    assert not staging.RESERVE.num_bytes()


def test_memory_that_is_being_got_may_be_taken() -> None:
    """The thread that gets it writes to it: not any more once a save has it."""
    reserve = Reserve()
    size = 256 << 20
    thread = threading.Thread(target=reserve.get, args=(size,))
    thread.start()
    while not reserve.num_bytes():
        pass
    lent, (array,) = reserve.lend([((size,), np.dtype("uint8"))])
    array.fill(7)
    thread.join()
    assert array.min() == 7
    reserve.give_back(lent)
    assert reserve.num_bytes() == size


def test_copies_on_devices_outlive_a_donation() -> None:
    import jax
    import jax.numpy as jnp

    sources = [jnp.arange(6.0).reshape(2, 3), jnp.ones(4, jnp.bfloat16)]
    copies = staging.copies_on_devices(sources)
    jax.jit(lambda a, b: (a + 1, b + 1), donate_argnums=(0, 1))(*sources)
    np.testing.assert_array_equal(np.asarray(copies[0]), np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(np.asarray(copies[1]).astype("float32"), np.ones(4))


def test_memory_is_made_for_dictionaries_only() -> None:
    with pytest.raises(ValueError, match=r"\(prepare_async_save\) state_dict must be a dictionary"):
        prepare_async_save([paddle.zeros([2])])  # type: ignore[arg-type]


def test_a_save_that_fails_in_the_background_is_told(tmp_path, monkeypatch) -> None:
    dist.save_state_dict(numbered(1.0), str(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(saving.files, "write", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        dist.save_state_dict(numbered(2.0), str(tmp_path), async_save=True)
        with pytest.raises(OSError, match="disk full"):
            clear_async_save_task_queue()
    assert loaded(tmp_path) == 1
    dist.save_state_dict(numbered(3.0), str(tmp_path))
    assert loaded(tmp_path, 1) == 3


def test_nothing_is_changed_where_names_or_shapes_differ(tmp_path) -> None:
    dist.save_state_dict(numbered(1.0), str(tmp_path))
    state = {"weight": paddle.zeros([4, 3]), "more": paddle.zeros([1])}
    with pytest.raises(ValueError, match=r"has no 'more'; received 1 such names; it has \['bias', 'weight'\]"):
        dist.load_state_dict(state, str(tmp_path))
    state = {"weight": paddle.zeros([4, 3]), "bias": paddle.zeros([4])}
    with pytest.raises(ValueError, match=r"'bias' has another shape .*tensor: \[4\], checkpoint: \[3\]"):
        dist.load_state_dict(state, str(tmp_path))
    assert not state["weight"].numpy().any()


def test_bad_arguments_are_named(tmp_path) -> None:
    path = str(tmp_path / "c")
    with pytest.raises(AssertionError, match="state_dict must be a dictionary; received list"):
        dist.save_state_dict([1], path)
    with pytest.raises(TypeError, match="names must be strings; received int 3 under 'a'"):
        dist.save_state_dict({"a": {3: paddle.ones([1])}}, path)
    with pytest.raises(ValueError, match=r"two values have the same name; received \('a', 'b'\) and \('a.b',\)"):
        dist.save_state_dict({"a": {"b": paddle.ones([1])}, "a.b": 1}, path)
    with pytest.raises(TypeError, match="received Danger under 'a'"):
        dist.save_state_dict({"a": Danger()}, path)
    with pytest.raises(ValueError, match="keep must be at least 1"):
        dist.save_state_dict({}, path, keep=0)
    with pytest.raises(ValueError, match="unique_id must be a number"):
        dist.save_state_dict({}, path, unique_id=-1)
    with pytest.raises(ValueError, match="coordinator must be a process of the group; received coordinator_rank: 4"):
        dist.save_state_dict({}, path, coordinator_rank=4)
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(NotADirectoryError, match="must be a folder"):
        dist.save_state_dict({}, str(file))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        dist.load_state_dict({}, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="must hold a finished checkpoint"):
        dist.load_state_dict({}, path)
    with pytest.raises(NotImplementedError, match="aoa_config"):
        dist.load_state_dict({}, path, aoa_config={"aoa_statements": ["a -> b"]})


# ---- blocks --------------------------------------------------------------------------------------


def test_blocks_that_are_described_by_hand_are_put_together(tmp_path) -> None:
    whole = np.arange(24, dtype="float32").reshape(4, 6)

    def block(rows: slice, name: str = "w", **more) -> dist.ShardedWeight:
        part = whole[rows].reshape(-1)[more["flattened_range"]] if more else whole[rows]
        shape = (rows.stop - rows.start, 6)
        return dist.ShardedWeight(name, paddle.to_tensor(part), shape, (4, 6), (rows.start, 0), bool(more), **more)

    with pytest.raises(ValueError, match=r"'w' do not make up the tensor of shape \[4, 6\]; received 12 elements in 1"):
        dist.save_state_dict({"w": block(slice(0, 2))}, str(tmp_path))
    with pytest.raises(ValueError, match="block must lie within the whole"):
        dist.ShardedWeight("w", paddle.zeros([2, 6]), (2, 6), (4, 6), (3, 0))
    with pytest.raises(ValueError, match="must have the elements of"):
        dist.ShardedWeight("w", paddle.zeros([2, 6]), (2, 6), (4, 6), (0, 0), True, slice(0, 5))
    dist.save_state_dict({"w": block(slice(0, 4), flattened_range=slice(0, 24))}, str(tmp_path))
    lower = dist.ShardedWeight("w", paddle.zeros([2, 6]), (2, 6), (4, 6), (2, 0))
    middle = dist.ShardedWeight("w", paddle.zeros([7]), (2, 6), (4, 6), (1, 0), True, slice(3, 10))
    dist.load_state_dict({"w": lower}, str(tmp_path))
    dist.load_state_dict({"w": middle}, str(tmp_path))
    np.testing.assert_array_equal(lower.local_tensor.numpy(), whole[2:])
    np.testing.assert_array_equal(middle.local_tensor.numpy(), whole[1:3].reshape(-1)[3:10])


def test_rules_say_what_is_divided() -> None:
    state = {"w": paddle.zeros([4, 6]), "b": paddle.zeros([3])}
    built = dist.build_sharded_state_dict(state, {"w": 1}, prefix="net.")
    assert list(built) == ["net.w", "net.b"]
    assert built["net.w"].global_shape == (4, 6)
    assert built["net.w"].local_tensor is state["w"]
    group = types.SimpleNamespace(nranks=3, rank=2)
    weight = dist.shard_weight("w", state["w"], -1, group)
    assert (weight.global_shape, weight.global_offset) == ((4, 18), (0, 12))
    with pytest.raises(ValueError, match="every rule must name a tensor"):
        dist.build_sharded_state_dict(state, {"v": 0})


def test_every_block_is_written_once_and_the_work_is_shared() -> None:
    names = [f"layer{number}" for number in range(40)]
    labels = [[(name, process, [0], [10], None, 40) for name in names] for process in range(4)]
    chosen = choose_writers(labels, replicas=False)
    written = [key for pieces in chosen for key, *_ in pieces]
    assert sorted(written) == sorted(names)
    assert [len(pieces) for pieces in chosen] == [10, 10, 10, 10]
    assert [len(pieces) for pieces in choose_writers(labels, replicas=True)] == [40, 40, 40, 40]
    labels[3][0] = ("layer0", 3, [0], [9], None, 36)
    with pytest.raises(ValueError, match="different parts of 'layer0' under one name"):
        choose_writers(labels, replicas=False)


# ---- other programs' files -----------------------------------------------------------------------


def test_a_checkpoint_that_paddle_wrote_is_read(tmp_path) -> None:
    state = {"model": {"weight": paddle.zeros([3, 4]), "half": paddle.zeros([2], dtype="bfloat16")}}
    dist.load_state_dict(state, str(WRITTEN_BY_PADDLE))
    np.testing.assert_array_equal(state["model"]["weight"].numpy(), np.arange(12).reshape(3, 4) / 4)
    assert state["model"]["half"].astype("float32").tolist() == [1.5, -2.0]
    merged = dist.load_merged_state_dict(str(WRITTEN_BY_PADDLE))
    assert list(merged) == ["model.weight", "model.half", "steps"]
    assert merged["steps"].tolist() == [7]
    assert merged["model.half"].dtype == paddle.bfloat16


def test_a_checkpoint_of_an_older_paddle_is_read(tmp_path, monkeypatch) -> None:
    """Its classes are kept in another module and have fewer fields; the shape of a whole tensor follows from its blocks."""
    name = "paddle.distributed.checkpoint.metadata"
    module = types.ModuleType(name)
    for kind in ("Metadata", "LocalTensorMetadata", "LocalTensorIndex"):
        setattr(module, kind, type(kind, (_Fields,), {"__module__": name}))
    for parent in ("paddle", "paddle.distributed", "paddle.distributed.checkpoint", name):
        monkeypatch.setitem(sys.modules, parent, module)
    blocks, files = [], {}
    for rank in range(2):
        array = np.full((2, 3), rank, "float32")
        (tmp_path / f"{rank}_0.distcp").write_bytes(pickle.dumps({"w": array}, 4))
        blocks.append(module.LocalTensorMetadata(global_offset=(2 * rank, 0), local_shape=(2, 3), dtype="float32"))
        files[module.LocalTensorIndex(tensor_key="w", global_offset=(2 * rank, 0))] = f"{rank}_0.distcp"
    metadata = module.Metadata(state_dict_metadata={"w": blocks}, storage_metadata=files, flat_mapping=None)
    (tmp_path / "0.metadata").write_bytes(pickle.dumps(metadata, 4))
    [(key, tensor)] = dist.load_merged_state_dict(str(tmp_path)).items()
    assert key == "w"
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]]


class _Fields:
    def __init__(self, **fields) -> None:
        vars(self).update(fields)


def test_what_is_written_has_the_form_that_paddle_reads(tmp_path, monkeypatch) -> None:
    """Python's own pickle, with Paddle's class names and nothing of ours, finds the fields that Paddle's file has."""
    name = "paddle.distributed.flex_checkpoint.dcp.metadata"
    module = types.ModuleType(name)
    for kind in ("Metadata", "LocalTensorMetadata", "LocalTensorIndex"):
        setattr(module, kind, type(kind, (), {"__module__": name}))
    for end in range(1, name.count(".") + 2):
        parent = ".".join(name.split(".")[:end])
        monkeypatch.setitem(sys.modules, parent, module if parent == name else types.ModuleType(parent))
    half = paddle.to_tensor([1.5, -2.0], dtype="bfloat16")
    state = {"model": {"weight": paddle.arange(12, dtype="float32").reshape([3, 4]) / 4, "half": half}}
    dist.save_state_dict({**state, "steps": paddle.to_tensor([7])}, str(tmp_path))
    ours, theirs = (pickle.loads((folder / "0.metadata").read_bytes()) for folder in (tmp_path, WRITTEN_BY_PADDLE))
    for key, blocks in theirs.state_dict_metadata.items():
        assert [vars(block) for block in ours.state_dict_metadata[key]] == [vars(block) for block in blocks]
    assert [vars(index) for index in ours.storage_metadata] == [vars(index) for index in theirs.storage_metadata]
    assert list(ours.storage_metadata.values()) == list(theirs.storage_metadata.values())
    assert ours.flat_mapping == theirs.flat_mapping
    ours, theirs = (pickle.loads((folder / "0_0.distcp").read_bytes()) for folder in (tmp_path, WRITTEN_BY_PADDLE))
    assert list(ours) == list(theirs)
    assert set(theirs.pop(NAME_TABLE)) == set(ours.pop(NAME_TABLE))
    for key, array in theirs.items():
        assert ours[key].dtype == array.dtype
        np.testing.assert_array_equal(ours[key], array)


def test_the_classes_of_paddles_metadata_are_found_by_their_path() -> None:
    from proa.distributed.flex_checkpoint.dcp import metadata, save_state_dict, sharded_weight
    from proa.distributed.flex_checkpoint.dcp.load_state_dict import merge_sharded_state_dict as by_path

    assert (metadata.Metadata, metadata.LocalTensorIndex) == (Metadata, LocalTensorIndex)
    assert metadata.LocalTensorMetadata is LocalTensorMetadata
    assert by_path is merge_sharded_state_dict
    assert save_state_dict.clear_async_save_task_queue is clear_async_save_task_queue
    assert sharded_weight.ShardedWeight is dist.ShardedWeight


def test_a_checkpoint_becomes_safetensors_with_an_index_and_back(tmp_path) -> None:
    arrays = {f"layer{n}.weight": np.random.default_rng(n).normal(size=(8, 4)).astype("float32") for n in range(5)}
    arrays["norm"] = np.arange(6).astype(ml_dtypes.bfloat16)
    state = {"model": {name: paddle.to_tensor(array) for name, array in arrays.items()}, "moment": paddle.ones([2])}
    dist.save_state_dict(state, str(tmp_path / "c"))
    out = tmp_path / "hf"
    merge_sharded_state_dict(
        str(tmp_path / "c"), str(out), prefix="model", skip_postfix_list=["0.weight"], max_file_bytes=260
    )
    del arrays["layer0.weight"]
    index = json.loads((out / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == sum(array.nbytes for array in arrays.values())
    assert sorted(set(index["weight_map"].values())) == [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    for name, array in arrays.items():  # read by hand, as the format says
        content = (out / index["weight_map"][name]).read_bytes()
        length = int.from_bytes(content[:8], "little")
        begin, end = json.loads(content[8 : 8 + length])[name]["data_offsets"]
        assert content[8 + length + begin : 8 + length + end] == array.tobytes()
    found = {name: paddle.to_tensor(np.zeros_like(array)) for name, array in arrays.items()}
    for path in (out, out / "model.safetensors.index.json"):
        dist.load_state_dict(found, str(path))
        for name, array in arrays.items():
            assert np.asarray(found[name]._data()).tobytes() == array.tobytes()
            found[name].zero_()
    (out / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="model-00002-of-00003"):
        dist.load_state_dict(found, str(out))


def test_a_single_file_of_safetensors_is_a_checkpoint(tmp_path) -> None:
    paddle.save({"x": paddle.arange(4)}, str(tmp_path / "model.safetensors"))
    target = {"x": paddle.zeros([4], dtype="int64")}
    dist.load_state_dict(target, str(tmp_path / "model.safetensors"), safetensors=True)
    assert target["x"].tolist() == [0, 1, 2, 3]
    content = bytearray((tmp_path / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors.*checksum"):
        dist.load_state_dict(target, str(tmp_path))
