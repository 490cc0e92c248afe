"""tfdist: TensorFlow 1.x's distributed runtime, alive again in Python, and visible.

    import tfdist as tf

gives the names of TensorFlow 1.x; `%load_ext tfdist` gives a notebook its magics.
"""

import sys as _sys
from builtins import bool as _bool
from importlib import import_module as _import_module
from typing import Any as _Any

from tfdist.api import compat as _compat
from tfdist.api.root import *  # noqa: F403
from tfdist.programs.missing import told as _told

__version__ = "0.1.0"

_compat.v1 = _sys.modules[__name__]  # type: ignore[attr-defined]  # tf.compat.v1 is tf


# Namespaces that are loaded when first asked for.
_LATER = {
    "app": "tfdist.programs.app",
    "flags": "tfdist.programs.flags",
    "gfile": "tfdist.programs.gfile",
    "logging": "tfdist.programs.logs",
}

# Names that would hide Python's own, or load much.
_NAMES_LATER = {
    "get_logger": ("tfdist.programs.logs", "get_logger"),
    "print": ("tfdist.ops.printing", "print_v2"),
}


# Messages that stand beside the functions.
_MESSAGES = (
    "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions",
    "HistogramProto", "LogMessage", "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions",
    "RunMetadata", "RunOptions", "SessionLog", "Summary", "SummaryMetadata", "TensorInfo",
)  # fmt: skip

# What a program asks TensorFlow's module of itself.
_OF_ITSELF = {
    "__compiler_version__": "COMPILER_VERSION", "__cxx11_abi_flag__": "CXX11_ABI_FLAG",
    "__git_version__": "GIT_VERSION", "__monolithic_build__": "MONOLITHIC_BUILD",
}  # fmt: skip

_missing = _told("tf")


def __getattr__(name: str) -> _Any:
    """Return what is loaded when first asked for: a message class, as `tf.ConfigProto`, or more."""
    if name in _LATER:
        return _import_module(_LATER[name])
    if name in _OF_ITSELF:
        return globals()[_OF_ITSELF[name]]
    if name in _NAMES_LATER:
        module, own_name = _NAMES_LATER[name]
        return getattr(_import_module(module), own_name)
    from tfdist.protos import pb

    found = getattr(pb, name, None)
    return _missing(name) if found is None else found


def __dir__() -> list[str]:
    """Return all names, those that are loaded later too."""
    return sorted({*globals(), *_LATER, *_NAMES_LATER, *_MESSAGES})


def install(numpy1: _bool = False) -> None:
    """Let `import tensorflow` give tfdist from now on; see `programs.stand_in`."""
    from tfdist.programs.stand_in import install

    install(numpy1)


def why(target: _Any = None, step: int | None = None) -> _Any:
    """Return what every step in flight waits for, and why; see `plots.why.why`."""
    from tfdist.plots.why import why

    return why(target, step)


def census(target: _Any = None, holdings: _Any = False) -> _Any:
    """Return what tasks hold, do and have sent; see `plots.census.census`."""
    from tfdist.plots.census import census

    return census(target, holdings)


def load_ipython_extension(shell: object) -> None:
    """Give an IPython shell the magics `%cluster`, `%trace`, `%placement`."""
    from tfdist.jupyter.extension import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take the magics away; clusters go on."""
    from tfdist.jupyter.extension import unload_ipython_extension

    unload_ipython_extension(shell)
