"""Imports go down only, each foreign library has its one folder, modules and folders stay small.

Imports are read with `ast`: those inside functions and under TYPE_CHECKING count as well. The
folders of the tests are named as those of the package.
"""

import ast
import re
import statistics
from collections import Counter
from collections.abc import Callable, Collection
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(find_spec("tfdist").submodule_search_locations[0])

FLOORS = [
    ["errors", "base", "protos", "tracing"],
    ["formats", "graph"],
    ["ops", "plan"],
    ["cluster", "simulation"],
    ["runtime"],
    ["wire"],
    ["session"],
    ["training", "datasets", "launch", "models"],
    ["keras_impl"],
    ["estimators"],
    ["api", "plots", "programs"],
    ["web"],
    ["jupyter", "demo", "cli"],
]


def below(floor: int) -> set[str]:
    """Return the folders of all floors under `floor`."""
    return {folder for folders in FLOORS[:floor] for folder in folders}


# Folder, or module at the top -> what it may import besides itself. "tfdist" is the root.
ALLOWED = {
    "errors": set(),
    "base": {"errors"},
    "protos": set(),
    "tracing": set(),
    "formats": {"base", "protos", "errors"},
    "graph": {"base", "protos", "errors"},
    "ops": {"graph", "formats", "base", "protos", "errors"},
    "plan": {"graph", "base", "errors"},
    "simulation": {"plan", "graph", "base", "tracing", "errors"},
    "cluster": {"plan", "graph", "base", "protos", "errors"},  # protos: ClusterSpec's public edge
    "runtime": {"cluster", "plan", "graph", "base", "tracing", "errors"},
    "wire": {"runtime", "cluster", "plan", "graph", "protos", "base", "tracing", "errors"},
    "session": below(6),
    "training": below(7) | {"datasets"},
    "datasets": below(7),
    "models": below(7),
    "launch": below(7),
    "estimators": below(9),
    "keras_impl": below(8),
    "api": below(10) | {"programs"},
    "plots": below(10),
    "programs": below(10),
    "web": below(11),
    "jupyter": below(12),
    "demo": below(12) | {"tfdist"},
    "cli": below(12) | {"tfdist", "demo"},
    "__main__": {"cli"},
    "tfdist": below(12) | {"jupyter"},  # load_ipython_extension
}

# Library -> the only folders that may import it.
ONLY_IN = {
    "google.protobuf": {"protos"},
    "grpc": {"wire"},
    "IPython": {"jupyter"},
    "anywidget": {"jupyter"},
    "ipywidgets": {"jupyter"},
    "matplotlib": {"plots"},
    "PIL": {"formats", "plots"},
    "h5py": {"keras_impl"},
    "cryptography": {"launch"},
    "asyncssh": {"launch"},
    "distributed": {"datasets", "launch", "ops"},
    "dask": {"datasets"},
}

# Library -> the folders that must not import it: time, chance and threads come in as arguments.
NOT_IN = {
    "threading": {
        "base",
        "plan",
        "cluster",
        "ops",
        "simulation",
    },  # graph: default graphs are one per thread
    "time": {"plan", "cluster", "simulation"},
    "random": {"plan", "cluster", "simulation"},
}


def module_name(path: Path) -> str:
    """Return the dotted name of the module at `path`."""
    parts = ("tfdist", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


# Packages whose folders are an index, not floors: families of ops call each other both ways, and
# a namespace may have names of its parents. (The floors of `tfdist` itself are in the table.)
INDEXES = {"tfdist", "tfdist.ops", "tfdist.api"}
PACKAGES = [module for module, path in PATHS.items() if path.name == "__init__.py"]


def inside(package: str) -> list[str]:
    """Return the modules of a package, those of its folders too; not itself."""
    return [module for module in PATHS if module.startswith(f"{package}.")]


def part(package: str, module: str) -> str:
    """Return the module or folder of `package` that `module` is in."""
    return module.removeprefix(f"{package}.").partition(".")[0]


MODULE = re.compile(r"tfdist(\.[a-z_0-9]+)+")


class Facts(NamedTuple):
    """What is read of a module, in one walk over its tree; the tree itself is not kept.

    Attributes:
      imports: the dotted name of everything that it imports.
      lengths: lines of each of its functions.
      anys: how many times the signatures of its functions say `Any`.
      lines: how many it has.
      is_docstring: whether it is a docstring and nothing else.
      texts: what it names as text in the form of one of our modules.
    """

    imports: frozenset[str]
    lengths: tuple[int, ...]
    anys: int
    lines: int
    is_docstring: bool
    texts: frozenset[str]


@cache
def facts(module: str) -> Facts:
    text = PATHS[module].read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports: set[str] = set()
    texts: set[str] = set()
    lengths, anys = [], 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and MODULE.fullmatch(str(node.value)):
            texts.add(str(node.value))
        elif isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, [package(module, node.level), node.module]))
            imports.update(f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lengths.append(node.end_lineno - node.lineno + 1)
            anys += anys_in(node)
    is_docstring = len(tree.body) == 1 and ast.get_docstring(tree) is not None
    lines = text.count("\n")
    return Facts(frozenset(imports), tuple(lengths), anys, lines, is_docstring, frozenset(texts))


def anys_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many times the signature of a function says `Any`."""
    given = function.args
    args = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [function.returns, *(arg.annotation for arg in args if arg is not None)]
    return sum(
        isinstance(name, ast.Name) and name.id == "Any"
        for annotation in filter(None, annotations)
        for name in ast.walk(annotation)
    )


def folder_of(module: str) -> str:
    """Return the row of the table that `module` belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def package(module: str, level: int) -> str:
    """Return the package that an import with `level` leading dots starts from."""
    if level == 0:
        return ""
    up = level - (PATHS[module].name == "__init__.py")
    parts = module.split(".")
    return ".".join(parts[: len(parts) - up])


def own_imports(module: str) -> set[str]:
    """Return our modules that `module` imports; a name from a module counts as that module."""
    ours = (name for name in facts(module).imports if name.split(".")[0] == "tfdist")
    return {known_module(name) for name in ours} - {module}


def known_module(name: str) -> str:
    """Return the longest beginning of `name` that is a module of ours."""
    while name not in PATHS and "." in name:
        name = name.rpartition(".")[0]
    return name


def imports_library(module: str, library: str) -> bool:
    return any(f"{name}.".startswith(f"{library}.") for name in facts(module).imports)


def offenders(find: Callable[[str], Collection[str]]) -> dict[str, set[str]]:
    """Return what `find` finds in each module, without those in which it finds nothing.

    One test looks at all modules: an item for each would take longer than what it looks for.
    """
    return {module: set(found) for module in PATHS if (found := find(module))}


def test_every_folder_has_a_row():
    assert {folder_of(module) for module in PATHS} <= set(ALLOWED)


def test_imports_go_down():
    def upward(module: str) -> set[str]:
        allowed = {folder_of(module), *ALLOWED[folder_of(module)]}
        return {name for name in own_imports(module) if folder_of(name) not in allowed}

    assert offenders(upward) == {}


def test_foreign_libraries_stay_in_their_folders():
    def strayed(module: str) -> set[str]:
        return {
            library
            for library, folders in ONLY_IN.items()
            if folder_of(module) not in folders and imports_library(module, library)
        }

    assert offenders(strayed) == {}


def test_modules_that_are_named_as_text_are_there():
    assert offenders(lambda module: facts(module).texts - set(PATHS)) == {}


def test_pure_folders_import_no_thread_clock_or_chance():
    def impure(module: str) -> set[str]:
        return {
            library
            for library, folders in NOT_IN.items()
            if folder_of(module) in folders and imports_library(module, library)
        }

    assert offenders(impure) == {}


def test_no_import_cycle():
    try:
        TopologicalSorter({module: own_imports(module) for module in PATHS}).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


def test_the_parts_of_a_package_are_floors():
    """Its modules and folders have an order, in which imports go down."""
    for package in PACKAGES:
        if package not in INDEXES:
            check_floors(package)


def check_floors(package: str) -> None:
    graph: dict[str, set[str]] = {}
    for module in inside(package):
        for other in own_imports(module):
            if other.startswith(f"{package}."):
                parts = part(package, module), part(package, other)
                graph.setdefault(parts[0], set()).update({parts[1]} - {parts[0]})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"folders of {package} import each other: {' <- '.join(error.args[1])}")


def test_no_folder_holds_more_than_45_modules():
    counts = {package: len(list(PATHS[package].parent.glob("*.py"))) for package in PACKAGES}
    assert {package: count for package, count in counts.items() if count > 45} == {}


def test_no_module_over_450_lines():
    counts = {module: facts(module).lines for module in PATHS}
    assert {module: count for module, count in counts.items() if count > 450} == {}


def test_inner_init_is_a_docstring_only():
    inner = [module for module in PACKAGES if folder_of(module) not in {"tfdist", "api"}]
    more = [each for each in inner if not facts(each).is_docstring]
    assert more == []


def test_median_function_is_short():
    lengths = [each for module in PATHS for each in facts(module).lengths]
    assert statistics.median(lengths) <= 12


# Folder -> how many times its signatures may say `Any`. Where a step passes, from `Session.run` to
# a kernel and back, they name what comes: a class, a protocol, or an alias of `base.aliases`.
ANYS = {"graph": 0, "plan": 0, "cluster": 0, "runtime": 0, "wire": 0, "session": 0,
        "base": 189, "formats": 151, "launch": 34, "plots": 39, "tracing": 27}  # fmt: skip


def test_signatures_say_what_comes():
    counts = Counter[str]()
    for module in PATHS:
        counts[folder_of(module)] += facts(module).anys
    assert {folder: counts[folder] for folder, most in ANYS.items() if counts[folder] > most} == {}


TESTS = Path(__file__).parent
# Folders of tests that are about no folder of the package: they measure it, do harm to it, give it
# random input, or run it beside TensorFlow.
NO_MIRROR = {"benchmarks", "faults", "fuzz", "interop"}
TEST_FOLDERS = sorted({path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")})


def test_tests_are_found():
    assert len(TEST_FOLDERS) > 50
    assert NO_MIRROR <= {folder.as_posix() for folder in TEST_FOLDERS}


def test_a_folder_of_tests_is_named_as_one_of_the_package():
    mirrors = [folder for folder in TEST_FOLDERS if folder.as_posix() not in NO_MIRROR]
    assert [each for each in mirrors if not (ROOT / each / "__init__.py").exists()] == []


def test_no_folder_of_tests_holds_more_than_45_files():
    counts = {
        str(folder): sum(path.is_file() for path in (TESTS / folder).iterdir())
        for folder in TEST_FOLDERS
    }
    assert {folder: count for folder, count in counts.items() if count > 45} == {}
