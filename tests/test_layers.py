"""Imports go down only, each foreign library has its one folder, modules and folders stay small.

Imports are read with `ast`: those inside functions and under TYPE_CHECKING count as well. The
folders of the tests are named as those of the package.
"""

import ast
import statistics
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

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
    ["estimators", "keras_impl"],
    ["api", "plots", "programs"],
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
    "estimators": below(8),
    "keras_impl": below(8),
    "api": below(9) | {"programs"},
    "plots": below(9),
    "programs": below(9),
    "jupyter": below(10),
    "demo": below(10) | {"tfdist"},
    "cli": below(10) | {"tfdist", "demo"},
    "__main__": {"cli"},
    "tfdist": below(10) | {"jupyter"},  # load_ipython_extension
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
MODULES = pytest.mark.parametrize("module", PATHS)


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


@cache
def parse(module: str) -> ast.Module:
    return ast.parse(PATHS[module].read_text(encoding="utf-8"))


def folder_of(module: str) -> str:
    """Return the row of the table that `module` belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


@cache
def imports(module: str) -> frozenset[str]:
    """Return the dotted name of everything that `module` imports."""
    return frozenset(all_imports(module))


def all_imports(module: str) -> Iterator[str]:
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, [package(module, node.level), node.module]))
            yield from (f"{source}.{alias.name}" for alias in node.names)


def package(module: str, level: int) -> str:
    """Return the package that an import with `level` leading dots starts from."""
    if level == 0:
        return ""
    up = level - (PATHS[module].name == "__init__.py")
    parts = module.split(".")
    return ".".join(parts[: len(parts) - up])


def own_imports(module: str) -> set[str]:
    """Return our modules that `module` imports; a name from a module counts as that module."""
    ours = (name for name in imports(module) if name.split(".")[0] == "tfdist")
    return {known_module(name) for name in ours} - {module}


def known_module(name: str) -> str:
    """Return the longest beginning of `name` that is a module of ours."""
    while name not in PATHS and "." in name:
        name = name.rpartition(".")[0]
    return name


def imports_library(module: str, library: str) -> bool:
    return any(f"{name}.".startswith(f"{library}.") for name in imports(module))


def functions(module: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@MODULES
def test_imports_go_down(module):
    folder = folder_of(module)
    assert folder in ALLOWED, f"{folder} has no row in the table"
    upward = {
        name for name in own_imports(module) if folder_of(name) not in {folder, *ALLOWED[folder]}
    }
    assert upward == set()


@MODULES
def test_foreign_libraries_stay_in_their_folders(module):
    folder = folder_of(module)
    strayed = {
        library
        for library, folders in ONLY_IN.items()
        if folder not in folders and imports_library(module, library)
    }
    assert strayed == set()


@MODULES
def test_pure_folders_import_no_thread_clock_or_chance(module):
    folder = folder_of(module)
    impure = {
        library
        for library, folders in NOT_IN.items()
        if folder in folders and imports_library(module, library)
    }
    assert impure == set()


def test_no_import_cycle():
    try:
        TopologicalSorter({module: own_imports(module) for module in PATHS}).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("package", [each for each in PACKAGES if each not in INDEXES])
def test_the_parts_of_a_package_are_floors(package):
    """Its modules and folders have an order, in which imports go down."""
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


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_holds_more_than_45_modules(package):
    folder = PATHS[package].parent
    assert len(list(folder.glob("*.py"))) <= 45


@MODULES
def test_no_module_over_600_lines(module):
    assert len(PATHS[module].read_text(encoding="utf-8").splitlines()) <= 600


@pytest.mark.parametrize(
    "module",
    [
        module
        for module, path in PATHS.items()
        if path.name == "__init__.py" and folder_of(module) not in {"tfdist", "api"}
    ],
)
def test_inner_init_is_a_docstring_only(module):
    tree = parse(module)
    assert ast.get_docstring(tree)
    assert len(tree.body) == 1


def test_median_function_is_short():
    lengths = [node.end_lineno - node.lineno + 1 for module in PATHS for node in functions(module)]
    assert statistics.median(lengths) <= 12


TESTS = Path(__file__).parent
# Folders of tests that are about no folder of the package: they measure it, do harm to it, give it
# random input, or run it beside TensorFlow.
NO_MIRROR = {"benchmarks", "faults", "fuzz", "interop"}
TEST_FOLDERS = sorted({path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")})


def test_tests_are_found():
    assert len(TEST_FOLDERS) > 50
    assert NO_MIRROR <= {folder.as_posix() for folder in TEST_FOLDERS}


@pytest.mark.parametrize(
    "folder", [each for each in TEST_FOLDERS if each.as_posix() not in NO_MIRROR], ids=str
)
def test_a_folder_of_tests_is_named_as_one_of_the_package(folder):
    assert (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("folder", TEST_FOLDERS, ids=str)
def test_no_folder_of_tests_holds_more_than_45_files(folder):
    assert sum(path.is_file() for path in (TESTS / folder).iterdir()) <= 45
