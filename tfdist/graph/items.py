"""What the generators of pipelines yield besides elements; see `ops.dataset.dataset_value`."""

from __future__ import annotations

from typing import NamedTuple


class Mark:
    """A value that is only itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


TICK = Mark("TICK")  # a moment to look whether to go on
END = Mark("END")  # there are no more items
GIVEN_UP = Mark("GIVEN_UP")  # the outcome of a wait that nobody waits for any more


class _Failure(NamedTuple):
    error: BaseException


class Failure(_Failure):
    """An element that cannot be had, and why; its class is not `tuple`, so that all hand it on."""

    __slots__ = ()
