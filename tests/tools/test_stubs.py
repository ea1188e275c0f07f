import ast
import importlib.machinery
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import proa as paddle
from tools.public_names import NAMESPACES
from tools.stubs.annotations import Imports, moved
from tools.stubs.functions import definition

ROOT = Path(__file__).resolve().parents[2]


def members_of_the_stub() -> dict[str, ast.stmt]:
    tree = ast.parse((ROOT / "proa/eager/tensor.pyi").read_text("utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef))
    found: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            found[ast.unparse(target)] = node
    return found


def test_every_public_attribute_of_tensor_is_in_its_stub():
    own = {name for name in dir(paddle.Tensor) if not name.startswith("_")}
    assert own - members_of_the_stub().keys() == set()


@pytest.mark.parametrize("name", ["abs", "matmul", "sum", "reshape", "add_"])
def test_parameters_and_defaults_are_those_of_the_function(name):
    written = members_of_the_stub()[name]
    assert isinstance(written, ast.FunctionDef)
    real = list(inspect.signature(getattr(paddle.Tensor, name)).parameters.values())[1:]
    arguments = written.args
    listed = [*arguments.args[1:], *([arguments.vararg] if arguments.vararg else []), *arguments.kwonlyargs]
    assert [argument.arg for argument in listed] == [parameter.name for parameter in real]
    defaults = [ast.literal_eval(each) for each in [*arguments.defaults, *arguments.kw_defaults] if each is not None]
    assert defaults == [parameter.default for parameter in real if parameter.default is not parameter.empty]


def test_every_public_function_of_the_package_is_in_its_stub():
    found: set[str | None] = set()
    for node in ast.parse((ROOT / "proa/__init__.pyi").read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom):  # only a name that is repeated is offered by a stub
            found |= {alias.asname for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found.add(ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0]))
    functions = {name for name in dir(paddle) if not name.startswith("_") and inspect.isroutine(getattr(paddle, name))}
    # Names that only Paddle's inner modules need come with the first of them, which another test may have imported.
    inner = {name for name in functions if not getattr(paddle, name).__module__.startswith("proa.")}
    assert functions - found - inner == set()


def offered_modules(folder: Path) -> set[str | None]:
    """The names that `from package import name` of a package brings, for type checkers: its stub's, or its source's."""
    stub = folder / "__init__.pyi"
    source = stub if stub.exists() else folder / "__init__.py"
    imports = [node for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    listed = {alias.asname or alias.name for node in imports for alias in node.names}
    return {name for name in listed if not name.startswith("_")}


def folder_above(namespace: str) -> Path:
    return ROOT / "proa" / namespace.rpartition(".")[0].replace(".", "/")


# Not `distributed.passes`, which Paddle's programs have to import; nor what is made without a file when it is asked for.
WITH_FILES = [
    namespace
    for namespace in NAMESPACES
    if "." in namespace
    and namespace != "distributed.passes"
    and importlib.machinery.PathFinder.find_spec(namespace.rpartition(".")[2], [str(folder_above(namespace))])
]


@pytest.mark.parametrize("namespace", WITH_FILES)
def test_a_namespace_below_another_is_seen_without_importing_it(namespace):
    assert namespace.rpartition(".")[2] in offered_modules(folder_above(namespace))


def test_what_type_checkers_see_is_loaded_when_it_is_asked_for():
    code = "import sys, proa; print([name for name in sys.argv[1:] if name in sys.modules])"
    names = ["proa.incubate.asp", "proa.incubate.nn", "proa.vision", "proa.jit.saving", "proa.llm", "proa.ocr"]
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_a_hidden_builtin_is_named_by_its_module():
    imports = Imports("some.stub", {"bool"})
    assert moved("list[bool] | int", "proa.eager.tensor", imports, {"bool"}) == "list[builtins.bool] | int"
    assert imports.lines() == ["import builtins"]


def test_an_annotation_brings_its_import():
    imports = Imports("some.stub", {"Tensor"})
    assert moved("Tensor | np.ndarray", "proa.eager.tensor", imports, ()) == "_Tensor | numpy.ndarray"
    assert imports.lines() == ["from proa.eager.tensor import Tensor as _Tensor", "import numpy"]


def test_an_annotation_of_an_unknown_name_says_where():
    with pytest.raises(NameError, match=r"proa\.eager\.tensor uses 'Nowhere'"):
        moved("Nowhere", "proa.eager.tensor", Imports("some.stub", ()), ())


def test_a_primitive_is_written_with_tensors_where_its_kernel_gets_arrays():
    lines = definition("multiply", paddle.multiply, Imports("some.stub", ()), ())
    assert lines[0].startswith("def multiply(x: Tensor | complex, y: Tensor | complex, name: str | None = None")
