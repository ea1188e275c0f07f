"""Places have classes: programs name them, and test with isinstance."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import proa as paddle
from proa.core.place import Place


def test_a_place_is_an_instance_of_its_class() -> None:
    for place, name in (
        (paddle.CPUPlace(), "CPUPlace"),
        (paddle.CUDAPlace(0), "CUDAPlace"),
        (paddle.CUDAPinnedPlace(), "CUDAPinnedPlace"),
        (paddle.CustomPlace("npu", 1), "CustomPlace"),
        (paddle.set_device("cpu"), "CPUPlace"),
    ):
        assert type(place).__name__ == name
        assert isinstance(place, getattr(paddle, name))
        assert isinstance(place, Place)
    assert not isinstance(paddle.CPUPlace(), paddle.CUDAPlace)


def test_equal_places_are_one_object() -> None:
    assert paddle.CPUPlace() is paddle.CPUPlace()
    shown = paddle.to_tensor([1.0]).place
    assert (shown, type(shown)) == (paddle.CPUPlace(), Place)  # as in Paddle
    assert hash(shown) == hash(paddle.CPUPlace())
    assert shown.is_cpu_place()
    assert paddle.CUDAPlace(1) is paddle.CUDAPlace(1)
    assert paddle.CUDAPlace(1) != paddle.CUDAPlace(0)
    assert paddle.CPUPlace()._equals(paddle.CPUPlace())
    assert {paddle.CPUPlace(): 1}[paddle.CPUPlace()] == 1
    for place in (paddle.CPUPlace(), paddle.CUDAPlace(2), paddle.CustomPlace("npu", 1)):
        assert pickle.loads(pickle.dumps(place)) is copy.deepcopy(place) is place
    assert pickle.loads(pickle.dumps(shown)) == shown


def test_pinned_memory_is_a_place_of_its_own_that_holds_host_tensors() -> None:
    pinned = paddle.CUDAPinnedPlace()
    assert pinned.is_cuda_pinned_place()
    assert not pinned.is_cpu_place()
    assert not pinned.is_xpu_pinned_place()
    assert pinned == paddle.CUDAPinnedPlace() != paddle.CPUPlace()
    assert pickle.loads(pickle.dumps(pinned)) == pinned
    assert paddle.to_tensor([1.0], place=pinned).place == paddle.CPUPlace()


def test_what_a_place_tells() -> None:
    assert [p._type() for p in (Place(), paddle.CPUPlace(), paddle.CUDAPlace(0), paddle.CustomPlace("npu"))] == [
        0, 1, 2, 9,
    ]  # fmt: skip
    custom = paddle.CustomPlace("npu", 3)
    assert (custom.get_device_type(), custom.get_device_id(), custom.is_custom_place()) == ("npu", 3, True)
    assert not paddle.CPUPlace().is_custom_place()
    assert paddle.CUDAPlace(2).gpu_device_id() == 2


def test_an_empty_place_can_be_set() -> None:
    place = Place()
    assert repr(place) == "Place(undefined:0)"
    place.set_place(paddle.CPUPlace())
    assert place == paddle.CPUPlace()
    assert paddle.CPUPlace() == place
    assert place._type() == 1
    assert paddle.to_tensor([1.0], place=place).place == paddle.CPUPlace()
    with pytest.raises(ValueError, match="shared"):
        paddle.CPUPlace().set_place(place)


@pytest.mark.parametrize(
    ("make", "where"),
    [(lambda: paddle.XPUPlace(0), "XPUPlace"), (lambda: paddle.IPUPlace(), "IPUPlace"),
     (lambda: paddle.static.xpu_places([0]), "XPUPlace"), (lambda: paddle.set_device("xpu"), "set_device")],
)  # fmt: skip
def test_a_device_without_a_plug_in_is_refused_in_plain_words(make: Callable[[], Any], where: str) -> None:
    with pytest.raises(ValueError, match=rf"^\({where}\) no '[xi]pu' device can be used: no plug-in offers any; run"):
        make()


def test_the_advice_for_an_xpus_memory_can_be_followed() -> None:
    with pytest.raises(ValueError, match="no plug-in offers XPUs") as caught:
        paddle.device.xpu.memory_total()
    advice = re.search(r"use paddle\.(\S+) for", str(caught.value))
    assert advice is not None
    assert advice[1] == "device.get_device_properties().total_memory"
    assert isinstance(paddle.device.get_device_properties().total_memory, int)
