"""What all optimizers around another one have in common: most is that one's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

if TYPE_CHECKING:
    from tfdist.training.optimizers.optimizer import Optimizer as _Optimizer
else:
    _Optimizer = object


class WrappingOptimizer(_Optimizer):
    """What has another optimizer do the work: gradients, slots and variables are that one's.

    A mixin; see `StepOptimizer`.

    Args:
      opt: Optimizer inside.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
    """

    def __init__(self, opt: Optimizer, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[GradientAndVariable]:
        """Return what the optimizer inside returns; see `tf.train.Optimizer.compute_gradients`."""
        return self._opt.compute_gradients(loss, *args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the optimizer inside; see `tf.train.Optimizer.get_slot`."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """Return the variables of the optimizer inside."""
        return self._opt.variables()
