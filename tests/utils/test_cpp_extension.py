"""C++ handlers of XLA's foreign function interface as operations."""

from __future__ import annotations

import pathlib
import shutil
import sys
from typing import Any

import pytest

import proa as paddle
from proa.utils import cpp_extension

HAS_COMPILER = any(shutil.which(name) for name in ("c++", "g++", "clang++"))
needs_compiler = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C++ compiler")

SOURCE = """
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;

static ffi::Error ScaleImpl(double factor, int64_t shift, Floats x, ffi::ResultBuffer<ffi::F32> out) {
  for (size_t i = 0; i < x.element_count(); ++i) out->typed_data()[i] = x.typed_data()[i] * factor + shift;
  return ffi::Error::Success();
}
// XLA_FFI_DEFINE_HANDLER_SYMBOL(Commented, ScaleImpl, ...)
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, ScaleImpl, ffi::Ffi::Bind()
    .Attr<double>("factor").Attr<int64_t>("shift").Arg<Floats>().Ret<Floats>());

static ffi::Error TotalImpl(Floats x, Floats y, ffi::ResultBuffer<ffi::F32> out) {
  float total = 0;
  for (size_t i = 0; i < x.element_count(); ++i) total += x.typed_data()[i] * y.typed_data()[i];
  out->typed_data()[0] = total;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Total, TotalImpl, ffi::Ffi::Bind().Arg<Floats>().Arg<Floats>().Ret<Floats>());
"""


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("extension")
    source = folder / "scale.cc"
    source.write_text(SOURCE)
    return cpp_extension.load("scaling", [str(source)], build_directory=str(folder / "built"))


@needs_compiler
def test_a_handler_as_a_function(extension: Any) -> None:
    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(4):  # cold and compiled
        assert (extension.Scale(x * 2.0, factor=3.0, shift=1) + 1.0).tolist() == [8.0, 14.0]
    assert extension.Scale(x, factor=0.5, shift=0).stop_gradient
    assert "Scale" in dir(extension)
    assert "Commented" not in dir(extension)


@needs_compiler
def test_a_gradient_and_a_result_of_its_own(extension: Any) -> None:
    scale = extension.define(
        "Scale", "x", attributes={"factor": 1.0, "shift": 0}, grad={"x": lambda g, factor: scale(g, factor)}
    )
    total = extension.define(
        "Total", "x y", result=lambda x, y: ((), x.dtype),
        grad={"x": lambda g, y: g * y, "y": lambda g, x: g * x},
    )  # fmt: skip
    x = paddle.to_tensor([1.0, 2.0])
    x.stop_gradient = False
    for _ in range(4):
        out = total(scale(x, 3), x)
        assert (out.shape, out.item()) == ([], 15.0)
        (gradient,) = paddle.grad(out, x, create_graph=True)
        assert gradient.tolist() == [6.0, 12.0]
        (again,) = paddle.grad(gradient.sum(), x)
        assert again.tolist() == [6.0, 6.0]


@needs_compiler
def test_wrong_calls(extension: Any) -> None:
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="expected F32 but got F64"):
        extension.Scale(x.astype("float64"), factor=1.0, shift=0).numpy()
    with pytest.raises(RuntimeError, match="Wrong number of attributes"):
        extension.Scale(x).numpy()
    with pytest.raises(AttributeError, match=r"no handler 'Missing'; it has \['Scale', 'Total'\]"):
        _ = extension.Missing
    with pytest.raises(ValueError, match="no handler"):
        extension.define("Missing")


@needs_compiler
def test_what_does_not_compile(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "bad.cc"
    source.write_text("XLA_FFI_DEFINE_HANDLER_SYMBOL(Bad, nothing);")
    with pytest.raises(RuntimeError, match=r"\(cpp_extension.load\) the sources do not compile"):
        cpp_extension.load("bad", [str(source)], build_directory=str(tmp_path))


def test_no_compiler_in_clear_words(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    for suffix, text in ((".cc", "no C[+][+] compiler"), (".cu", "nvcc")):
        source = tmp_path / f"good{suffix}"
        source.write_text(SOURCE)
        with pytest.raises(RuntimeError, match=text):
            cpp_extension.load("good", [str(source)], build_directory=str(tmp_path))


def test_sources_that_are_refused(tmp_path: pathlib.Path) -> None:
    paddles = tmp_path / "relu.cc"
    paddles.write_text('#include "paddle/extension.h"\nPD_BUILD_OP(custom_relu).Inputs({"X"});')
    with pytest.raises(NotImplementedError, match=r"PD_BUILD_OP.*XLA FFI handler.*custom_op"):
        cpp_extension.load("relu", [str(paddles)])
    empty = tmp_path / "empty.cc"
    empty.write_text("int main() {}")
    with pytest.raises(ValueError, match="define no handler"):
        cpp_extension.load("empty", [str(empty)])
    with pytest.raises(FileNotFoundError, match="no source file"):
        cpp_extension.load("gone", [str(tmp_path / "gone.cc")])
    with pytest.raises(ValueError, match="no sources"):
        cpp_extension.load("none", [])
    with pytest.raises(TypeError, match="must be a list"):
        cpp_extension.load("text", "a.cc")


@needs_compiler
def test_setup_builds_a_package(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("setuptools")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("scale.cc").write_text(SOURCE)
    described = cpp_extension.CppExtension(sources=["scale.cc"])
    cpp_extension.setup(name="scaling_package", ext_modules=described, script_args=["--quiet", "build"])
    monkeypatch.syspath_prepend(str(next(tmp_path.glob("build/lib*"))))
    package = __import__("scaling_package")
    assert package.Scale(paddle.to_tensor([1.0]), factor=2.0, shift=1).tolist() == [3.0]
    del sys.modules["scaling_package"]
    with pytest.raises(TypeError, match="one CppExtension"):
        cpp_extension.setup(name="x", ext_modules=None)
    with pytest.raises(ValueError, match="identifier"):
        cpp_extension.setup(name="x-y", ext_modules=described)


def test_build_directory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_EXTENSION_DIR", str(tmp_path / "chosen"))
    assert cpp_extension.get_build_directory() == str(tmp_path / "chosen")
    assert (tmp_path / "chosen").is_dir()
