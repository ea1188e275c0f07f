import pytest

from proa.eager import attaching
from proa.eager.tensor import Tensor


@pytest.fixture
def name():
    yield "attached_by_a_test"
    attaching._BY.pop("attached_by_a_test", None)
    if "attached_by_a_test" in vars(Tensor):
        del Tensor.attached_by_a_test


def test_a_second_module_cannot_attach_the_same_name(name):
    attaching.attach("first.module", **{name: 1})
    with pytest.raises(TypeError, match=r"second\.module attaches 'attached_by_a_test'.*first\.module did already"):
        attaching.attach("second.module", **{name: 2})
    assert getattr(Tensor, name) == 1


def test_a_module_may_say_whose_attribute_it_replaces(name):
    attaching.attach("first.module", **{name: 1})
    attaching.attach("second.module", "first.module", **{name: 2})
    assert getattr(Tensor, name) == 2
    with pytest.raises(TypeError, match=r"second\.module did already"):
        attaching.attach("third.module", "first.module", **{name: 3})


def test_what_the_class_itself_has_is_not_replaced():
    before = Tensor.numpy
    with pytest.raises(TypeError, match=r"which proa\.eager\.tensor did already"):
        attaching.attach("some.module", numpy=None)
    assert Tensor.numpy is before
