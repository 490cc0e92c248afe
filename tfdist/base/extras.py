"""The optional dependencies: which extra of tfdist brings a library, and what for.

A server needs none of them. What asks for one that is absent gets `MissingExtra`: one line, with
the command that mends it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import NamedTuple


class Library(NamedTuple):
    """An optional dependency.

    Attributes:
      extra: of tfdist, that brings it.
      use: what it is for, as a plural: "pictures need matplotlib".
      module: that it is imported as, if that is not its own name.
    """

    extra: str
    use: str
    module: str = ""


# Distribution -> what is known of it. pyproject.toml names the same ones, which a test compares.
OPTIONAL = {
    "matplotlib": Library("notebook", "pictures"),
    "ipykernel": Library("notebook", "notebooks"),
    "ipywidgets": Library("notebook", "live panels"),
    "anywidget": Library("notebook", "step players"),
    "tqdm": Library("notebook", "bars of progress"),
    "h5py": Library("hdf5", "HDF5 files"),
    "cryptography": Library("tls", "new certificates"),
    "asyncssh": Library("ssh", "clusters over ssh"),
    "kubernetes": Library("kubernetes", "resolvers of pods"),
    "pyyaml": Library("kubernetes", "manifests", "yaml"),
    "numba": Library("numba", "loops as machine code"),
    "scipy": Library("sparse", "quick products with sparse matrices"),
    "distributed": Library("dask", "clusters and datasets on Dask"),
}


class MissingExtra(ModuleNotFoundError):
    """What was asked for needs a library that is not installed; the message says what to do."""


def require(library: str) -> None:
    """Return if an optional library can be imported.

    Raises:
      MissingExtra: it cannot.
    """
    if not is_there(library):
        raise MissingExtra(missing_line(library), name=library)


def is_there(library: str) -> bool:
    """Return whether an optional library can be imported."""
    known = OPTIONAL.get(library)
    try:
        return find_spec((known and known.module) or library) is not None
    except (ImportError, ValueError):  # hidden from this process
        return False


def missing_line(library: str) -> str:
    """Return what an absent library is needed for, and how to install it.

    Example:
      >>> missing_line("h5py")
      "HDF5 files need h5py, which is not installed: pip install 'tfdist[hdf5]'"
    """
    known = OPTIONAL[library]
    return (
        f"{known.use} need {library}, which is not installed: pip install 'tfdist[{known.extra}]'"
    )


def missing_of(extra: str) -> list[str]:
    """Return the libraries of an extra that are not there."""
    return [name for name, each in OPTIONAL.items() if each.extra == extra and not is_there(name)]


def installed(name: str) -> str:
    """Return the version of a library, "" if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
