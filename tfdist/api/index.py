"""Writes the tables by which names and ops are found without importing what has them.

`python -m tfdist.api.index` writes both, with `--check` it compares only. `names.txt` is made from
what the files of namespaces import under TYPE_CHECKING (see `base.namespace`), `ops/index.txt` from
what each module of `ops` registers when it is imported (see `graph.op_registry`).
"""

# mypy: implicit-reexport

from __future__ import annotations

import argparse
import ast
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tfdist import api, ops
from tfdist.base.namespace import NAMES, Place
from tfdist.graph.op_def import REGISTRY
from tfdist.graph.op_registry import INDEX

_ROOT = "tfdist.api.root"  # whose names `tfdist` itself gives


def names_text() -> str:
    """Return what `names.txt` is to hold."""
    return "\n".join(_section(space, names_of(space)) for space in spaces() if names_of(space))


def spaces() -> list[str]:
    """Return the modules of all public namespaces."""
    files = [each.name for each in pkgutil.walk_packages(api.__path__, "tfdist.api.")]
    return ["tfdist", *(each for each in files if each != _ROOT)]


@cache
def names_of(space: str) -> dict[str, Place]:
    """Return where each name stands that the file of a namespace imports under TYPE_CHECKING."""
    found: dict[str, Place] = {}
    for statement in _declared(space):
        module = str(statement.module)
        for alias in statement.names:
            if alias.name == "*":
                found |= {name: _home(module, name) for name in _stars(module)}
            else:
                found[alias.asname or alias.name] = _home(module, alias.name)
    return found


def _declared(space: str) -> Iterator[ast.ImportFrom]:
    for node in ast.parse(_source(space)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (each for each in node.body if isinstance(each, ast.ImportFrom))


def _source(module: str) -> str:
    spec = find_spec(module)  # the file is read and not run: the names are not known yet
    return Path(str(spec and spec.origin)).read_text(encoding="utf-8")


def _stars(module: str) -> list[str]:
    """Return what `from module import *` gives."""
    if module.startswith("tfdist.api."):
        return [name for name in names_of(module) if not name.startswith("_")]
    loaded = import_module(module)
    public = [name for name in vars(loaded) if not name.startswith("_")]
    return list(getattr(loaded, "__all__", public))


def _home(module: str, name: str) -> Place:
    """Return where the value of a name stands, through namespaces that have it from elsewhere."""
    if _is_module(f"{module}.{name}"):
        return f"{module}.{name}", ""
    if module.startswith("tfdist.api.") and name in names_of(module):
        return names_of(module)[name]
    return module, name


def _is_module(name: str) -> bool:
    package = import_module(name.rpartition(".")[0])
    return hasattr(package, "__path__") and find_spec(name) is not None


def _section(space: str, names: Mapping[str, Place]) -> str:
    lines = defaultdict(list)
    for name, (module, there) in names.items():
        lines[module].append(name if there == name else f"{name}={there}")
    return f"{space}\n" + "".join(_line(f"    {module}", lines[module]) for module in sorted(lines))


def _line(start: str, names: Iterable[str]) -> str:
    return f"{start}: {' '.join(sorted(names))}\n"


def ops_text() -> str:
    """Return what `ops/index.txt` is to hold."""
    modules = [each.name for each in pkgutil.walk_packages(ops.__path__, "tfdist.ops.")]
    for module in modules:
        import_module(module)
    homes = defaultdict(list)
    for op_def in REGISTRY.defined():
        homes[op_def.module].append(op_def.name)
    return "".join(_line(module, homes[module]) for module in modules if module in homes)


def stale() -> dict[Path, str]:
    """Return what the tables are to hold that do not hold it."""
    wanted = {INDEX: ops_text(), NAMES: names_text()}
    return {path: text for path, text in wanted.items() if _read(path) != text}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: list[str] | None = None) -> int:
    """Write the tables that are stale, or name them; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tfdist.api.index", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    is_check = parser.parse_args(arguments).check
    found = stale()
    for path, text in found.items():
        print(f"{path} {'is stale' if is_check else 'is written'}")
        if not is_check:
            path.write_text(text, encoding="utf-8")
    return int(is_check and bool(found))


if __name__ == "__main__":
    sys.exit(main())
