"""`paddle.utils.cpp_extension`: operations in C++, as handlers of XLA's foreign function interface.

    extension = paddle.utils.cpp_extension.load("my_ops", ["my_ops.cc"])
    y = extension.Scale(x, factor=2.0)          # a result like the first tensor, no gradient

    scale = extension.define("Scale", operands="x", attributes={"factor": 1.0},
                             grad={"x": lambda g, factor: scale(g, factor)})

Numbers reach a handler as attributes: a Python int as int64_t, a float as double, a bool as bool, a str as a string.
Sources written against Paddle's own C++ classes (PD_BUILD_OP) are refused.
"""

from __future__ import annotations

import inspect
import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import type_error, value_error
from ..kernels.building import build, read_handlers, register
from .custom_op import custom_op, described_results

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "get_build_directory", "load", "setup"]


class Extension:
    """A loaded library: each of its handlers is an attribute, a function of tensors.

    `load` gives one.

    Examples:
        >>> paddle.utils.cpp_extension.Extension("mine", {}).missing
        Traceback (most recent call last):
            ...
        AttributeError: the extension 'mine' has no handler 'missing'; it has []
    """

    def __init__(self, name: str, targets: dict[str, str]) -> None:
        self.__name__ = name
        self._targets = targets
        self._plain: dict[Any, Callable[..., Any]] = {}

    def __dir__(self) -> list[str]:
        return [*self._targets, "define"]

    def __repr__(self) -> str:
        return f"<extension {self.__name__}: {', '.join(self._targets)}>"

    def __getattr__(self, symbol: str) -> Callable[..., Any]:
        if symbol.startswith("_") or symbol not in self._targets:
            raise AttributeError(f"the extension {self.__name__!r} has no handler {symbol!r}; it has {dir(self)[:-1]}")

        def call(*tensors: Any, **attributes: Any) -> Any:
            key = (symbol, len(tensors), tuple((name, type(value)) for name, value in attributes.items()))
            function = self._plain.get(key)
            if function is None:
                names = " ".join(f"x{i}" for i in range(len(tensors)))
                function = self._plain[key] = self.define(symbol, names, attributes=attributes)
            return function(*tensors, *attributes.values())

        call.__name__ = call.__qualname__ = symbol
        return call

    def define(
        self,
        symbol: str,
        operands: str = "x",
        *,
        attributes: dict[str, Any] | None = None,
        result: Any = "same",
        outputs: int = 1,
        grad: Any = None,
    ) -> Callable[..., Any]:
        """An operation from a handler: `operands`, `result`, `outputs` and `grad` as for `paddle.utils.custom_op`.

        `attributes` are the handler's attributes with their defaults; tensors come first, then these.

        Examples:
            >>> extension = paddle.utils.cpp_extension.load("mine", ["scale.cc"])  # doctest: +SKIP
            >>> scale = extension.define("Scale", attributes={"factor": 2.0}, grad=None)  # doctest: +SKIP
            >>> scale(paddle.ones([2])).tolist()  # doctest: +SKIP
            [2.0, 2.0]
            >>> paddle.utils.cpp_extension.Extension("mine", {}).define("Scale")
            Traceback (most recent call last):
                ...
            ValueError: (cpp_extension) there is no handler 'Scale'; received [].
        """
        if symbol not in self._targets:
            raise value_error("cpp_extension", f"there is no handler {symbol!r}", f"{list(self._targets)}")
        if not operands.split():
            raise value_error("cpp_extension", "a handler needs at least one tensor", f"operands: {operands!r}")
        target, defaults = self._targets[symbol], dict(attributes or {})
        count = len(operands.split())

        def kernel(xp: Any, *values: Any) -> Any:
            import jax

            arrays, fixed = values[:count], values[count:]
            if result == "same":
                described = [(arrays[0].shape, arrays[0].dtype)] * outputs
            else:
                described = described_results(result(*arrays, *fixed), outputs)
            wanted = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in described]
            call = jax.ffi.ffi_call(target, wanted[0] if outputs == 1 else wanted)
            found = call(*arrays, **dict(zip(defaults, fixed, strict=True)))
            return found if outputs == 1 else tuple(found)

        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, positional) for name in ("xp", *operands.split())]
        parameters += [inspect.Parameter(name, positional, default=value) for name, value in defaults.items()]
        kernel.__signature__ = inspect.Signature(parameters)
        kernel.__name__ = kernel.__qualname__ = f"{self.__name__}_{symbol}"
        kernel.__doc__ = f"The handler `{symbol}` of the extension `{self.__name__}`."
        return custom_op(kernel, operands=operands, outputs=outputs, result=result, grad=grad, compiled=True)


def get_build_directory(verbose: bool = False) -> str:
    """Where compiled extensions are kept: PADDLE_EXTENSION_DIR, or a folder in the user's cache.

    Examples:
        >>> import os
        >>> os.environ["PADDLE_EXTENSION_DIR"] = "built"
        >>> paddle.utils.cpp_extension.get_build_directory()
        'built'
        >>> del os.environ["PADDLE_EXTENSION_DIR"]
    """
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = os.environ.get("PADDLE_EXTENSION_DIR") or os.path.join(base, "proa", "extensions")
    os.makedirs(folder, exist_ok=True)
    if verbose:
        print(f"Extensions are built in {folder}")
    return str(folder)


def _listed(where: str, name: str, value: Any) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise type_error(where, f"{name} must be a list", repr(value))
    return [os.fspath(item) for item in value]


def load(
    name: str,
    sources: Sequence[str],
    extra_cxx_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    extra_library_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
) -> Extension:
    """Compiles C++ (or CUDA) sources of XLA FFI handlers and gives their operations.

    Args:
        name: what the library is called.
        sources: their paths.
        extra_cxx_cflags: for the compiler.
        extra_cuda_cflags: for nvcc.
        extra_ldflags: for the linker.
        extra_include_paths: where headers are.
        extra_library_paths: where libraries are.
        build_directory: where the result is kept; None: `get_build_directory()`.
        verbose: whether the commands are shown.

    Returns:
        An `Extension`.

    Examples:
        >>> extension = paddle.utils.cpp_extension.load("mine", ["scale.cc"])  # doctest: +SKIP
        >>> paddle.utils.cpp_extension.load("mine", "scale.cc")
        Traceback (most recent call last):
            ...
        proa.core.errors.WrongType: (cpp_extension.load) sources must be a list; received 'scale.cc'.
    """
    where = "cpp_extension.load"
    paths = _listed(where, "sources", sources)
    handlers = read_handlers(where, paths)
    flags = _listed(where, "extra_cxx_cflags", extra_cxx_cflags)
    if any(path.endswith(".cu") for path in paths):
        flags += _listed(where, "extra_cuda_cflags", extra_cuda_cflags)
    linking = [f"-L{path}" for path in _listed(where, "extra_library_paths", extra_library_paths)]
    linking += _listed(where, "extra_ldflags", extra_ldflags)
    includes = _listed(where, "extra_include_paths", extra_include_paths)
    folder = build_directory or get_build_directory(verbose)
    library = build(where, name, paths, flags, includes, linking, folder, verbose)
    return load_library(name, library, handlers)


def load_library(name: str, library: str, handlers: dict[str, str]) -> Extension:
    """The operations of a library that is compiled already; `handlers` says the platform of each ("cpu", "CUDA").

    Examples:
        >>> extension = paddle.utils.cpp_extension.load_library("mine", "mine.so", {"Scale": "cpu"})  # doctest: +SKIP
        >>> paddle.utils.cpp_extension.load_library("mine", "no-such.so", {"Scale": "cpu"})
        Traceback (most recent call last):
            ...
        RuntimeError: (cpp_extension) the library no-such.so cannot be loaded: [Errno 2] No such file or ...
    """
    return Extension(name, register("cpp_extension", library, handlers))


# ---- packages ------------------------------------------------------------------------------------


class Sources:
    """What `CppExtension` and `CUDAExtension` give to `setup`.

    Examples:
        >>> paddle.utils.cpp_extension.Sources(["add.cc"]).sources
        ['add.cc']
    """

    def __init__(self, sources: Sequence[str], **options: Any) -> None:
        self.sources = _listed("cpp_extension", "sources", sources)
        self.name: str | None = options.get("name")
        self.options = options


def CppExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> Sources:
    """Describes C++ sources for `setup`. Options: include_dirs, library_dirs, extra_compile_args, extra_link_args.

    Args:
        sources: their paths.
        **kwargs: the options.

    Examples:
        >>> paddle.utils.cpp_extension.CppExtension(["add.cc"], extra_compile_args=["-O3"]).options
        {'extra_compile_args': ['-O3']}
    """
    return Sources(sources, **kwargs)


def CUDAExtension(sources: Sequence[str], *args: Any, **kwargs: Any) -> Sources:
    """Describes C++ and CUDA sources for `setup`.

    Args:
        sources: their paths.
        **kwargs: the options of `CppExtension`.

    Examples:
        >>> paddle.utils.cpp_extension.CUDAExtension(["add.cc", "add.cu"]).sources
        ['add.cc', 'add.cu']
    """
    return Sources(sources, **kwargs)


_PACKAGE = '''"""Operations of the extension `{name}`."""

import os

from {own} import load_library

_extension = load_library({name!r}, os.path.join(os.path.dirname(__file__), {library!r}), {handlers!r})


def __getattr__(symbol):
    return getattr(_extension, symbol)
'''


def setup(**attr: Any) -> Any:
    """Builds extensions and installs them as a package, as `setuptools.setup` does with its other arguments.

    `name` is the package's name, `ext_modules` one description from `CppExtension` or `CUDAExtension`.

    Examples:
        >>> sources = paddle.utils.cpp_extension.CppExtension(["scale.cc"])
        >>> paddle.utils.cpp_extension.setup(name="mine", ext_modules=sources)  # doctest: +SKIP
        >>> sources.sources
        ['scale.cc']
    """
    where = "cpp_extension.setup"
    name, described = attr.get("name"), attr.pop("ext_modules", None)
    if isinstance(described, (list, tuple)) and len(described) == 1:
        described = described[0]
    if not isinstance(name, str) or not name.isidentifier():
        raise value_error(where, "name must be an identifier, the package's name", f"name: {name!r}")
    if not isinstance(described, Sources):
        raise type_error(where, "ext_modules must be one CppExtension or CUDAExtension", repr(described))
    try:
        import setuptools
    except ImportError:
        raise ImportError(f"({where}) setuptools is not installed; install it, or use load() instead.") from None
    options = described.options
    extra = options.get("extra_compile_args") or []
    flags = [flag for part in extra.values() for flag in part] if isinstance(extra, dict) else list(extra)
    linking = [f"-L{path}" for path in options.get("library_dirs") or []] + list(options.get("extra_link_args") or [])
    handlers = read_handlers(where, described.sources)
    folder = os.path.join("build", "proa_extension", name)
    os.makedirs(folder, exist_ok=True)
    made = build(where, name, described.sources, flags, options.get("include_dirs") or [], linking, "build")
    shutil.copy(made, folder)
    text = _PACKAGE.format(name=name, own=__name__, library=os.path.basename(made), handlers=handlers)
    pathlib.Path(folder, "__init__.py").write_text(text, encoding="utf-8")
    attr.pop("cmdclass", None)  # Paddle's command class compiles; that has been done
    attr.update(packages=[name], package_dir={name: folder}, package_data={name: ["*.so"]}, zip_safe=False)
    if len(sys.argv) < 2:
        attr.setdefault("script_args", ["install"])
    return setuptools.setup(**attr)


class BuildExtension:
    """Stands for Paddle's command class in `setup(cmdclass={"build_ext": BuildExtension})`; `setup` builds by itself.

    Examples:
        >>> paddle.utils.cpp_extension.BuildExtension.with_options() is paddle.utils.cpp_extension.BuildExtension
        True
    """

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """The class itself: `setup` has the options.

        Examples:
            >>> paddle.utils.cpp_extension.BuildExtension.with_options(use_ninja=False).__name__
            'BuildExtension'
        """
        return cls
