"""Adagrad that a regularization may use without changing the sums of squares.

Source: TF 1.15 API documentation, tf.contrib.opt.RegAdagradOptimizer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tfdist.training.optimizers.adaptive import AdagradOptimizer

__all__ = ["RegAdagradOptimizer"]


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad, whose slots some steps leave as they are.

    The arguments are those of `tf.train.AdagradOptimizer`.

    Example:
      >>> w = Variable(5.0)
      >>> optimizer = contrib.opt.RegAdagradOptimizer(0.5, 9.0)
      >>> with optimizer.avoid_updating_slots():
      ...     shrink = optimizer.minimize(3.0 * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([shrink])
      ...     session.run([w, optimizer.get_slot(w, "accumulator")])
      [None]
      [np.float32(4.5), np.float32(9.0)]
    """

    _FLAGS: ClassVar[dict[str, str]] = {
        **AdagradOptimizer._FLAGS, "update_slots": "_should_update_slots",
    }  # fmt: skip

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Let steps that are built inside leave the sums of squares as they are."""
        old, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = old
