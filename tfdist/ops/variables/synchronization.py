"""How the copies of a variable on several devices stand to each other: two enumerations.

One process has one copy of each variable here; a variable keeps what it was told for those who ask
it, and one that is in step only where it is read is not trained.

Source: TF 1.15 API documentation, tf.VariableSynchronization, tf.VariableAggregation.
"""

from __future__ import annotations

import enum
from typing import Any

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """When the copies of a variable are brought in step.

    Attributes:
      AUTO: as the distribution strategy decides.
      NONE: never: there is one copy.
      ON_WRITE: whenever one of them is written.
      ON_READ: whenever the variable is read; such a variable is not trained by default.

    Example:
      >>> Variable(1.0, synchronization=VariableSynchronization.ON_READ).trainable
      False
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How updates of the copies of a variable become one.

    Attributes:
      NONE: not at all.
      SUM: their sum.
      MEAN: their mean.
      ONLY_FIRST_REPLICA: that of the first copy; ONLY_FIRST_TOWER in earlier versions.

    Example:
      >>> Variable(1.0, aggregation=VariableAggregation.MEAN).aggregation
      <VariableAggregation.MEAN: 2>
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def of_replicas(
    synchronization: Any, aggregation: Any, trainable: bool | None, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """Return all three as a variable has them, for members, their numbers, and None.

    Raises:
      ValueError: one is not a member.
    """
    when = _member(VariableSynchronization, synchronization, "synchronization", name)
    how = _member(VariableAggregation, aggregation, "aggregation", name)
    is_trained = when is not VariableSynchronization.ON_READ if trainable is None else trainable
    return when, how, bool(is_trained)


def _member(kind: Any, given: Any, what: str, name: str | None) -> Any:
    try:
        return kind(0 if given is None else given)
    except ValueError:
        choices = ", ".join(member.name for member in kind)
        raise ValueError(
            f"Invalid variable {what} mode: {given} for variable: {name}; "
            f"tf.{kind.__name__} has {choices}"
        ) from None
