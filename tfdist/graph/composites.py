"""Composites: symbols that are several tensors each, and are fetched and fed part by part.

The module of a kind enters it here: so a session knows those only that a program has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfdist.base.aliases import TensorLike, TensorValue
from tfdist.graph.operation import Tensor


class Composite(NamedTuple):
    """How one kind of symbol is fetched and fed.

    Attributes:
      value: makes what is fetched of the values of its parts.
      fields: names of its parts, in the order in which they are fetched and fed.
    """

    value: Callable[..., TensorValue]
    fields: Sequence[str]

    def parts(self, symbol: TensorLike) -> list[Tensor]:
        """Return the tensors of `symbol`, None for one that it does not have."""
        return [getattr(symbol, field) for field in self.fields]


COMPOSITES: dict[type, Composite] = {}
