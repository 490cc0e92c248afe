"""Adam and its lazy kin that take the powers of beta from the global step: no variables for them.

Source: TF 1.15 API documentation, tf.contrib.opt.AdamGSOptimizer, LazyAdamGSOptimizer.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.control_flow import identity_group
from tfdist.ops.control_flow.identity_group import identity
from tfdist.training.optimizers.adam import AdamOptimizer
from tfdist.training.optimizers.contrib.adam_variants import LazyAdamOptimizer

__all__ = ["AdamGSOptimizer", "LazyAdamGSOptimizer"]


class AdamGSOptimizer(AdamOptimizer):
    """Adam, for many workers: powers of beta are those of the global step, which is shared anyway.

    The other arguments are those of `tf.train.AdamOptimizer`.

    Args:
      global_step: Variable or tensor: steps done before this one.

    Example:
      >>> w, step = Variable(5.0), train.create_global_step()
      >>> descend = contrib.opt.AdamGSOptimizer(step, 0.5).minimize(w * w, step, [w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([descend])
      ...     session.run(w)
      [None]
      np.float32(4.5)
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._global_step = global_step
        self._step_now: Any = None

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        return raw.Pow(self._beta1_t, self._step_now), raw.Pow(self._beta2_t, self._step_now)

    def _create_slots(self, var_list: Any) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        step: Any = identity(self._global_step)
        self._step_now = cast(step + 1, self._beta1_t.dtype.base_dtype)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return identity_group.group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer, LazyAdamOptimizer):
    """Adam, in which a sparse gradient leaves all rows but its own as they are, and their means.

    See `AdamGSOptimizer` for the arguments.

    Example:
      >>> rows, step = Variable([[5.0], [5.0]]), train.create_global_step()
      >>> optimizer = contrib.opt.LazyAdamGSOptimizer(step, 0.5)
      >>> descend = optimizer.minimize(gather(rows, [1]), step, [rows])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run([descend])
      ...     session.run(rows)
      [None]
      array([[5. ],
             [4.5]], dtype=float32)
    """
