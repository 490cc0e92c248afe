"""Which exports are kept: filters of lists of `Path`s, and their combinations.

Source: TF 1.15 API documentation, tensorflow.contrib.session_bundle.gc.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tfdist.errors import NotFoundError


class Path(NamedTuple):
    """A folder and the version of the export in it.

    Example:
      >>> from tfdist.training.session_bundle.gc import Path
      >>> Path("exports/00000007", 7).export_version
      7
    """

    path: Any
    export_version: Any


Filter = Callable[[Iterable[Path]], list[Path]]


def _version(path: Path) -> Any:
    return path.export_version


def largest_export_versions(n: int) -> Filter:
    """Return a filter that keeps the `n` largest versions.

    Example:
      >>> from tfdist.training.session_bundle.gc import Path, largest_export_versions
      >>> largest_export_versions(1)([Path("a", 2), Path("b", 1)])
      [Path(path='a', export_version=2)]
    """
    return lambda paths: sorted(paths, key=_version)[-n:] if n > 0 else []


def one_of_every_n_export_versions(n: int) -> Filter:
    """Return a filter that keeps the largest version of each of [0, n], (n, 2n], (2n, 3n], ...

    Example:
      >>> from tfdist.training.session_bundle.gc import Path, one_of_every_n_export_versions
      >>> kept = one_of_every_n_export_versions(3)([Path("", each) for each in (1, 2, 3, 4)])
      >>> [each.export_version for each in kept]
      [3, 4]
    """

    def keep(paths: Iterable[Path]) -> list[Path]:
        largest = {}
        for path in sorted(paths, key=_version):
            largest[max(0, (path.export_version - 1) // n)] = path
        return [largest[interval] for interval in sorted(largest)]

    return keep


def mod_export_version(n: int) -> Filter:
    """Return a filter that keeps versions that `n` divides.

    Example:
      >>> from tfdist.training.session_bundle.gc import Path, mod_export_version
      >>> [each.export_version for each in mod_export_version(2)([Path("", 3), Path("", 4)])]
      [4]
    """
    return lambda paths: sorted((p for p in paths if p.export_version % n == 0), key=_version)


def union(lf: Filter, rf: Filter) -> Filter:
    """Return a filter that keeps what one of two keeps.

    Example:
      >>> from tfdist.training.session_bundle.gc import Path, mod_export_version, union
      >>> both = union(mod_export_version(2), mod_export_version(3))
      >>> [each.export_version for each in both([Path("", each) for each in (1, 2, 3)])]
      [2, 3]
    """
    return lambda paths: sorted({*lf(paths := list(paths)), *rf(paths)}, key=_version)


def negation(f: Filter) -> Filter:
    """Return a filter that keeps what another one does not.

    Example:
      >>> from tfdist.training.session_bundle.gc import Path, mod_export_version, negation
      >>> [each.export_version for each in negation(mod_export_version(2))([Path("", 3)])]
      [3]
    """
    return lambda paths: sorted(set(paths := list(paths)) - set(f(paths)), key=_version)


def get_paths(base_dir: Any, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Return the entries of a folder that a parser knows, in order.

    Args:
      base_dir: of the exports.
      parser: function of a Path without version that returns it with one, or None to leave it out.

    Raises:
      NotFoundError: there is no such folder.

    Example:
      >>> from tfdist.training.session_bundle.gc import get_paths
      >>> get_paths(".", lambda path: None)
      []
    """
    folder = os.fsdecode(base_dir)
    if not os.path.isdir(folder):
        raise NotFoundError(f"Could not find directory {folder}")
    found = [parser(Path(os.path.join(folder, name), None)) for name in sorted(os.listdir(folder))]
    return sorted(path for path in found if path is not None)
