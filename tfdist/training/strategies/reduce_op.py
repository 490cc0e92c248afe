"""ReduceOp: how values of several replicas become one.

Source: TF 1.15 API documentation, tf.distribute.ReduceOp.
"""

from __future__ import annotations

import enum

__all__ = ["ReduceOp"]


class ReduceOp(enum.Enum):
    """How values of several replicas become one.

    Attributes:
      SUM: their sum.
      MEAN: their mean.

    Example:
      >>> distribute.ReduceOp.SUM
      <ReduceOp.SUM: 'SUM'>
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def _missing_(cls, value: object) -> ReduceOp | None:
        """Take a `tf.VariableAggregation`, or a name in lower case, as well."""
        name = getattr(value, "name", value)
        return cls.__members__.get(str(name).upper())
