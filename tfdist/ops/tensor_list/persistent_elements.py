"""Elements that never change: what adds, takes away or replaces one gives new elements.

They stand in a tree, 32 to a branch. A new tree shares with the old one all but the branches on the
way to the place that differs, so that each step of a loop costs the same few branches however long
the list has become, older lists stay as they were, and memory goes with the last list that needs
it. Nobody writes to a branch that another tree may have, so that threads need no lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

_BITS = 5
_WIDTH = 1 << _BITS
_MASK = _WIDTH - 1

Branch = list[Any]


class Elements:
    """A persistent sequence.

    Example:
      >>> two = Elements.of("ab")
      >>> list(two.with_last("c")), list(two.replaced(0, "x")), list(two)
      (['a', 'b', 'c'], ['x', 'b'], ['a', 'b'])
    """

    __slots__ = ("_root", "_shift", "count")

    def __init__(self, root: Branch, shift: int, count: int) -> None:
        self._root, self._shift, self.count = root, shift, count

    @classmethod
    def of(cls, values: Iterable[Any]) -> Elements:
        """Return `values` as elements."""
        level = list(values)
        count, shift = len(level), 0
        while len(level) > _WIDTH:
            level = [level[i : i + _WIDTH] for i in range(0, len(level), _WIDTH)]
            shift += _BITS
        return cls(level, shift, count)

    def __iter__(self) -> Iterator[Any]:
        level: Iterable[Any] = self._root
        for _ in range(0, self._shift, _BITS):
            level = chain.from_iterable(level)
        return iter(level)

    def at(self, index: int) -> Any:
        """Return the element at `index`, which is in range."""
        branch, shift = self._root, self._shift
        while shift:
            branch = branch[index >> shift & _MASK]
            shift -= _BITS
        return branch[index & _MASK]

    def with_last(self, value: Any) -> Elements:
        """Return these elements and one more."""
        root, shift, count = self._root, self._shift, self.count
        if count == _WIDTH << shift:
            root, shift = [root], shift + _BITS
        return Elements(_put(root, shift, count, value), shift, count + 1)

    def replaced(self, index: int, value: Any) -> Elements:
        """Return these elements with another one at `index`, which is in range."""
        return Elements(_put(self._root, self._shift, index, value), self._shift, self.count)

    def without_last(self) -> Elements:
        """Return these elements without the last; there must be one."""
        root, shift, count = self._root, self._shift, self.count - 1
        root = _cut(root, shift, count)
        if shift and count == 1 << shift:
            root, shift = root[0], shift - _BITS
        return Elements(root, shift, count)


def _put(root: Branch, shift: int, index: int, value: Any) -> Branch:
    """Return a tree with `value` at `index`, which may be one behind its last element."""
    root = branch = root.copy()
    while shift:
        at = index >> shift & _MASK
        inner = branch[at].copy() if at < len(branch) else []
        branch[at : at + 1] = [inner]
        branch = inner
        shift -= _BITS
    at = index & _MASK
    branch[at : at + 1] = [value]
    return root


def _cut(branch: Branch, shift: int, index: int) -> Branch:
    """Return a tree without `index`, its last element."""
    at = index >> shift & _MASK
    kept = branch[:at]
    if shift and (inner := _cut(branch[at], shift - _BITS, index)):
        kept.append(inner)
    return kept
