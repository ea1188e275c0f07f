"""Distributed tensors: layouts, parts, gradients, bad input."""

from __future__ import annotations

import random
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import proa as paddle
from proa import distributed as dist
from proa.distributed.meshes.layouts import found_layout
from proa.distributed.meshes.local import locals_of
from proa.distributed.meshes.submeshes import moe_global_mesh_tensor, moe_sub_mesh_tensors
from tests.distributed.support import reshard_pairs

GRID = dist.ProcessMesh([[0, 1, 2, 3], [4, 5, 6, 7]], ["dp", "mp"])
LINE = dist.ProcessMesh(list(range(8)), ["x"])
R, S, P = dist.Replicate, dist.Shard, dist.Partial


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


@pytest.mark.parametrize("seed", range(8))
def test_from_any_placement_to_any_other(seed: int) -> None:
    for name, mesh, shape, before, after in random.Random(seed).sample(PAIRS, 3):
        try:
            reshard_pairs.check(dist, mesh, shape, before, after)
        except Exception as error:
            raise AssertionError(f"{name} {shape}: {before} -> {after}") from error


PAIRS = [pair for pair in reshard_pairs.pairs(dist) if pair[0] != "cube" or pair[2] == (5, 7)]


def test_the_parts_lie_on_their_devices() -> None:
    x = dist.shard_tensor(numbers(8, 12), GRID, [S(0), S(1)])
    for piece in x._data().addressable_shards:
        row, column = divmod(piece.device.id, 4)
        expected = numbers(8, 12)[row * 4 : row * 4 + 4, column * 3 : column * 3 + 3]
        np.testing.assert_array_equal(np.asarray(piece.data), expected)
    assert (x._local_shape, x.num_shard) == ([4, 3], 8)
    other = dist.shard_tensor(numbers(8, 12), GRID.get_mesh_with_dim("mp"), [S(0), S(0)])
    assert other._data().addressable_shards[4].index[0] == slice(1, 2)  # device 4: mp 0, dp 1
    np.testing.assert_array_equal((x + other).numpy(), 2 * numbers(8, 12))


def test_the_text_says_where_a_tensor_lies() -> None:
    # As Paddle prints it, but for blanks between the numbers of a mesh.
    text = repr(dist.shard_tensor(np.ones((2, 2), "float32"), GRID, [S(0), P()]))
    assert (
        "stop_gradient=True, process_mesh={shape: [2, 4], process_ids: [0, 1, 2, 3, 4, 5, 6, 7], dim_names: [dp, mp]}"
        in text
    )
    assert "placements=[Shard(dim=0), Partial(reduce_type=SUM)], GlobalDenseTensor=\n       [[1., 1.]," in text
    assert "process_mesh" not in repr(paddle.ones([2]))


def test_results_say_how_xla_cut_them() -> None:
    x = dist.shard_tensor(numbers(8, 16), GRID, [S(0), R()])
    w = dist.shard_tensor(numbers(16, 8), GRID, [R(), S(1)])
    y = x @ w
    assert y.is_dist()
    assert (y.process_mesh, y.placements, y._local_shape) == (GRID, [S(0), S(1)], [4, 2])
    np.testing.assert_allclose(y.numpy(), numbers(8, 16) @ numbers(16, 8), rtol=1e-5, atol=1e-5)
    plain = paddle.ones([2])
    assert not plain.is_dist()
    assert (plain.process_mesh, plain.placements) == (None, None)


@pytest.mark.parametrize(
    "placements", [[S(0), S(1)], [S(1), S(1)], [P(), S(0)], [P(), P()], [R(), P(dist.ReduceType.kRedAvg)]]
)
def test_parts_can_be_taken_out_and_put_together(placements: list[Any]) -> None:
    x = dist.shard_tensor(numbers(5, 7), GRID, placements)
    parts = locals_of(x, found_layout(x))
    again = dist.dtensor_from_local(parts, GRID, placements)
    np.testing.assert_allclose(again.numpy(), numbers(5, 7), rtol=1e-6)
    assert again.placements == placements


def test_one_part_stands_for_all_devices_of_a_process() -> None:
    part = paddle.to_tensor(numbers(2, 3))
    assert dist.dtensor_from_local(part, LINE, [S(0)]).shape == [16, 3]
    np.testing.assert_allclose(dist.dtensor_from_local(part, LINE, [P()]).numpy(), 8 * numbers(2, 3), rtol=1e-6)
    with pytest.raises(ValueError, match=r"8 of the mesh's devices; received 3 parts"):
        dist.dtensor_from_local([part] * 3, LINE, [S(0)])


def test_gradients_flow_through_layouts_parts_and_meshes() -> None:
    x = paddle.to_tensor(numbers(8, 4), stop_gradient=False)
    half = dist.ProcessMesh([0, 1, 2, 3], ["x"])
    other = dist.ProcessMesh([4, 5, 6, 7], ["x"])
    y = dist.reshard(dist.shard_tensor(x, half, [S(0)]) * 3.0, other, [S(1)])
    z = dist.reshard(y * y, other, [P()])
    (z * 2.0).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 2 * 9 * numbers(8, 4), rtol=1e-5)
    parts = [paddle.to_tensor(numbers(3), stop_gradient=False) for _ in range(8)]
    (dist.dtensor_from_local(parts, LINE, [P(dist.ReduceType.kRedAvg)]) * 8.0).sum().backward()
    np.testing.assert_allclose(parts[5].grad.numpy(), np.ones(3), rtol=1e-6)
    source = paddle.to_tensor(numbers(16), stop_gradient=False)
    dist.dtensor_to_local(dist.shard_tensor(source, LINE, [S(0)]) * 5.0).sum().backward()
    assert source.grad.numpy().tolist() == [5.0] * 2 + [0.0] * 14  # the first device has two of them


def test_what_follows_a_tensor_on_another_mesh() -> None:
    first, second = dist.ProcessMesh([0, 1], ["x"]), dist.ProcessMesh([2, 3], ["x"])
    a = dist.shard_tensor(numbers(4, 4), first, [S(0)])
    b = dist.shard_tensor(numbers(4, 4), second, [S(0)])
    with pytest.raises(ValueError, match=r"\(add\) the tensors lie on different meshes.*reshard"):
        a + b
    total = (a * 1.0).sum() + (b * 2.0).sum()  # numbers go where others are
    np.testing.assert_allclose(float(total), 3 * numbers(4, 4).sum(), rtol=1e-5)
    mask = paddle.tril(paddle.ones([4, 4]))
    np.testing.assert_allclose((a * mask).numpy(), numbers(4, 4) * np.tril(np.ones((4, 4))), rtol=1e-6)
    np.testing.assert_allclose((b * mask).numpy(), numbers(4, 4) * np.tril(np.ones((4, 4))), rtol=1e-6)


def test_a_parameter_keeps_its_layout() -> None:
    layer = paddle.nn.Linear(8, 16)
    parameter = dist.shard_tensor(layer.weight, GRID, [R(), S(1)])
    assert parameter is layer.weight
    layer.weight.set_value(numbers(8, 16))
    assert layer.weight._data().addressable_shards[0].data.shape == (8, 4)
    state = {name: value.numpy() for name, value in layer.state_dict().items()}
    layer.set_state_dict(state)
    assert layer.weight._data().addressable_shards[0].data.shape == (8, 4)
    np.testing.assert_array_equal(layer.weight.numpy(), numbers(8, 16))


def test_whole_again() -> None:
    x = dist.shard_tensor(numbers(5, 7), GRID, [S(0), P()])
    whole = dist.unshard_dtensor(x)
    np.testing.assert_array_equal(whole.numpy(), numbers(5, 7))
    assert whole._data().is_fully_replicated
    assert dist.unshard_dtensor(paddle.ones([2])).shape == [2]
    made = dist.dtensor_from_fn(paddle.ones, LINE, [S(0)], shape=[16])
    assert made._local_shape == [2]


def test_slices_of_a_mesh() -> None:
    x = paddle.to_tensor(numbers(8, 6), stop_gradient=False)
    laid_out = dist.shard_tensor(x, GRID, [S(0), S(1)])
    slices = moe_sub_mesh_tensors(laid_out, GRID, 0, [S(0), S(1)])
    assert [list(one.shape) for one in slices] == [[4, 6], [4, 6]]
    assert [one.process_mesh.process_ids for one in slices] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    whole = moe_global_mesh_tensor([one * 2.0 for one in slices], GRID, [S(0), S(1)], 0)
    np.testing.assert_allclose(whole.numpy(), 2 * numbers(8, 6), rtol=1e-6)
    whole.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.full((8, 6), 2.0), rtol=1e-6)
    with pytest.raises(ValueError, match="has 2 slices"):
        moe_global_mesh_tensor(slices[:1], GRID, [S(0), S(1)], 0)


def test_meshes_of_the_same_devices_go_together() -> None:
    a, b = dist.shard_tensor(numbers(8, 8), GRID, [S(0), S(1)]), dist.shard_tensor(numbers(8, 8), LINE, [S(0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a program that could not be compiled would say so
        np.testing.assert_allclose((a @ b).numpy(), numbers(8, 8) @ numbers(8, 8), rtol=1e-4, atol=1e-4)


def test_zero_size_and_0d() -> None:
    empty = dist.shard_tensor(np.zeros((0, 3), "float32"), LINE, [S(0)])
    assert empty._local_shape == [0, 3]
    assert dist.reshard(empty, LINE, [S(1)]).numpy().shape == (0, 3)
    number = dist.shard_tensor(3.0, LINE, [P()])
    assert float(number) == 3.0
    with pytest.raises(ValueError, match="such a dimension"):
        dist.shard_tensor(3.0, LINE, [S(0)])


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(shard_tensor\).*takes 2 placements"):
        dist.shard_tensor(numbers(4), GRID, [S(0), R(), R()])
    assert dist.shard_tensor(numbers(4), GRID, [S(0)]).placements == [S(0), R()]
    with pytest.raises(TypeError, match="list of Shard, Replicate and Partial"):
        dist.shard_tensor(numbers(4), LINE, [0])
    with pytest.raises(ValueError, match="there are 8 devices"):
        dist.shard_tensor(numbers(4), dist.ProcessMesh([7, 8]), [S(0)])
    with pytest.raises(TypeError, match="must be a ProcessMesh"):
        dist.reshard(paddle.ones([2]), None, [S(0)])
    with pytest.raises(ValueError, match="each another"):
        dist.ProcessMesh([[0], [1]], ["a", "a"])
    with pytest.raises(ValueError, match="not negative"):
        dist.ProcessMesh([0, 0])
    with pytest.raises(ValueError, match="is not distributed"):
        dist.dtensor_to_local(paddle.ones([2]))


def test_threads_lay_out_tensors_at_once() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            data = np.random.default_rng(seed).normal(size=(8, 8)).astype("float32")
            for _ in range(5):
                x = dist.shard_tensor(data, GRID, [S(seed % 2), R()])
                np.testing.assert_allclose((x @ x).numpy(), data @ data, rtol=1e-4, atol=1e-4)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
