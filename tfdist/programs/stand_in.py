"""Answers `import tensorflow`, for programs that are to run unchanged.

`install` puts a finder before all others, which makes the modules of `programs.modules`. A program
that starts others by `python program.py` hands it on through the environment (`inherited`): in the
folder that it puts on PYTHONPATH a module `tensorflow` stands that installs it there.
"""

from __future__ import annotations

import dis
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from tfdist.base.namespace import lists
from tfdist.programs.inner_ops import RawNames
from tfdist.programs.inner_versions import Versions
from tfdist.programs.missing import Missing, missing, namespace, namespaces, public
from tfdist.programs.modules import (
    BESIDES,
    BOARD,
    ESTIMATOR,
    HOMES,
    IMPORTED,
    INNER,
    MESSAGES,
    PACKAGES,
    RAW,
    RAW_TOO,
    ROOT,
    VERSION,
    first_space,
    is_inner,
    public_path,
)

SHIM = Path(__file__).parent / "path"
NUMPY = "TFDIST_NUMPY"  # in the environment; "1": programs have the ways of NumPy 1


class _Module(ModuleType):
    """A module of TensorFlow, whose names are those of others.

    Args:
      name: its path.
      sources: where names are looked for, the first one first.
    """

    def __init__(self, name: str, sources: Sequence[Any]) -> None:
        super().__init__(name, f"{name}, as tfdist has it.")
        self.__path__: list[str] = []  # it may have modules inside
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # what `import *` gives
            return [each for each in dir(self) if not each.startswith("_")]
        inner = f"{self.__name__}.{name}"
        if inner in INNER or inner in BESIDES:  # a public namespace of that name has less
            return importlib.import_module(inner)
        for source in sorted(self._sources, key=lambda source: not _lists(source, name)):
            try:
                return getattr(source, name)
            except AttributeError:
                continue
        if not name.startswith("__"):
            path = f"{self.__name__}.{name}"
            if path in HOMES or path in PACKAGES:
                return importlib.import_module(path)
            if name in IMPORTED and self.__name__.startswith("tensorflow.python."):
                return importlib.import_module(IMPORTED[name])
            raise AttributeError(Missing(path), name=name, obj=self)
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return sorted({name for source in self._sources for name in dir(source)})


class _Whole:
    """A namespace whose names come before those of others."""

    def __init__(self, space: Any) -> None:
        self._space = space

    def __getattr__(self, name: str) -> Any:
        if not lists(self._space, name):
            raise AttributeError(name)
        return getattr(self._space, name)

    def __dir__(self) -> list[str]:
        return dir(self._space)


def _lists(source: Any, name: str) -> bool:
    """Return whether a namespace has a name for certain; what a miss is told costs much."""
    if isinstance(source, RawNames | _Whole):  # of generated modules it is the first to be asked
        return True
    return not isinstance(source, Versions) and lists(source, name)


class _Finder:
    """Finds the modules of TensorFlow (`importlib.abc.MetaPathFinder` and `Loader`)."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load a module of TensorFlow; None for others."""
        if not _is_answered(name.partition(".")[0]):
            return None
        sources = _sources(name)
        if sources is None:
            # `from` would swallow a narrower one, which `__import__` of any names has to.
            kind = ImportError if _is_statement() else ModuleNotFoundError
            raise kind(missing(name, is_module=True), name=name)
        return ModuleSpec(name, self, is_package=True, loader_state=sources)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a new module."""
        return _Module(spec.name, spec.loader_state)

    def exec_module(self, module: ModuleType) -> None:
        """Give `tensorflow` its version; other modules are ready."""
        if module.__name__ == ROOT:
            module.__dict__.update(__version__=VERSION, VERSION=VERSION)


_FINDER = _Finder()
_IMPORT = dis.opmap["IMPORT_NAME"]


def _is_statement() -> bool:
    """Return whether a statement imports, and no call of a function."""
    frame: FrameType | None = sys._getframe(1)
    while frame and (frame.f_code.co_filename == __file__ or "frozen" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == _IMPORT


def _is_answered(root: str) -> bool:
    """Return whether modules of a package are ours: TensorFlow's, and TensorBoard's if it lacks.

    An installed TensorBoard is left alone: it does more than what is here.
    """
    return root in (ROOT, ESTIMATOR) or (root == BOARD and PathFinder.find_spec(root) is None)


def install(numpy1: bool = False) -> None:
    """Let `import tensorflow` give tfdist, in this process from now on.

    Args:
      numpy1: whether programs have the names and ways that NumPy 1 and Python 3.7 had. Modules
        that are imported from now on may also write `float(array)` of one element.

    Raises:
      RuntimeError: TensorFlow itself was imported before.

    Example:
      >>> install()
      >>> from tensorflow.python.client import timeline
      >>> uninstall()
    """
    found = sys.modules.get(ROOT)
    if found is not None and not isinstance(found, _Module) and not _is_shim(found):
        raise RuntimeError(
            f"TensorFlow {getattr(found, '__version__', '')} was imported before tfdist.install(): "
            "call that first, in a fresh kernel or process"
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)  # type: ignore[arg-type]
    if numpy1:
        _install_numpy1()


def _install_numpy1() -> None:
    from tfdist.programs import numpy1, python37
    from tfdist.programs.rewritten import Finder

    numpy1.bring_back()
    python37.bring_back()
    if not installed_numpy1():
        sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]


def installed_numpy1() -> bool:
    """Return whether programs have NumPy 1's ways."""
    rewritten = sys.modules.get("tfdist.programs.rewritten")
    return rewritten is not None and any(
        isinstance(each, rewritten.Finder) for each in sys.meta_path
    )


def uninstall() -> None:
    """Let `import tensorflow` give what is installed again."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)  # type: ignore[arg-type]
    for name in [
        name for name in sys.modules if name.partition(".")[0] in (ROOT, BOARD, ESTIMATOR)
    ]:
        if isinstance(sys.modules[name], _Module):
            del sys.modules[name]


def take_place() -> None:
    """Install, and replace the module `tensorflow` that is being imported (see `inherited`)."""
    install(numpy1=os.environ.get(NUMPY) == "1")
    del sys.modules[ROOT]
    importlib.import_module(ROOT)


def inherited() -> dict[str, str]:
    """Return what the environment of a process must hold for its `import tensorflow` to be ours."""
    rest = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    path = {"PYTHONPATH": os.pathsep.join(dict.fromkeys([str(SHIM), *rest]))}
    return path | {NUMPY: "1"} if installed_numpy1() else path


def _is_shim(module: ModuleType) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(str(SHIM))


def _sources(name: str) -> Sequence[Any] | None:
    """Return where the names of a module are looked for, None if there is no such module."""
    besides: list[Any] = [importlib.import_module(each) for each in BESIDES.get(name, ())]
    if name in HOMES:
        return [*besides, importlib.import_module(HOMES[name])]
    if name.startswith(MESSAGES):
        return [importlib.import_module("tfdist.protos.pb")]
    if name in (BOARD, ESTIMATOR):
        return []
    if name.startswith(f"{ESTIMATOR}."):  # its modules stand where TensorFlow had them before
        return _sources(name.replace(ESTIMATOR, ROOT, 1))
    space = namespace(public_path(name))
    if name in PACKAGES:
        return [public()] if name == "tensorflow.python" else [space] if space else []
    if space is not None:
        return [*besides, space]
    first = [RawNames()] if name.startswith(RAW) else []
    last = [RawNames()] if name.startswith(RAW_TOO) else []
    own = first_space(name)
    if own is not None:
        besides = [_Whole(namespace(own)), *besides]
    if not is_inner(name):
        return None
    return [*besides, *first, *namespaces(), *last, *([Versions()] if last else [])]
