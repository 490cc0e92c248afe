"""Optimizers: from a loss to the operation that changes variables to lower it.

Source: TF 1.15 API documentation, tf.train.Optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.control import group
from tfdist.ops.gradients import IndexedSlices, gradients
from tfdist.ops.state import is_resource
from tfdist.ops.variables import GraphKeys

GradientAndVariable = tuple[Any, Any]


class Optimizer:
    """What all optimizers do; a subclass says how one variable follows its gradient.

    Args:
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("an optimizer needs a name")
        self._use_locking = use_locking
        self._name = name

    def get_name(self) -> str:
        """Return the optimizer's name."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """Return an operation that changes variables to lower `loss`, once.

        Args:
          loss: float tensor.
          global_step: Variable that is raised by one after the update.
          var_list: variables to change; all trainable ones by default.
          gate_gradients: accepted for TensorFlow's sake.
          aggregation_method: accepted for TensorFlow's sake.
          colocate_gradients_with_ops: whether a gradient is computed where its op is.
          name: of the operation.
          grad_loss: gradient of the loss; ones by default.

        Raises:
          ValueError: no variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        if not any(gradient is not None for gradient, _ in pairs):
            names = [variable.name for _, variable in pairs]
            raise ValueError(
                f"no gradients: loss {loss!r} depends on none of the variables {names}"
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[GradientAndVariable]:
        """Return (gradient, variable) for each variable; None for one that loss ignores.

        See `minimize` for the arguments.
        """
        if var_list is None:
            var_list = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = list(var_list) if isinstance(var_list, list | tuple) else [var_list]
        if not variables:
            raise ValueError("no variables to optimize: the graph has no trainable ones")
        found = gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            aggregation_method=aggregation_method,
        )
        return list(zip(found, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Operation:
        """Return an operation that changes each variable along its gradient, once.

        Args:
          grads_and_vars: what `compute_gradients` returned, perhaps changed.
          global_step: Variable that is raised by one after the update.
          name: of the operation.

        Raises:
          ValueError: there is no gradient at all.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("no gradients given for any variable")
        with scopes.name_scope(name or self._name) as scope:
            self._prepare()
            updates = [self._update(gradient, variable) for gradient, variable in pairs]
            final = scope.removesuffix("/")
            train_op = self._counted(updates, global_step, final)
        graph = train_op.graph
        if train_op not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def _update(self, gradient: Any, variable: Any) -> Operation:
        with (
            scopes.colocate_with(variable.op),
            scopes.name_scope(f"update_{variable.op.name}"),
        ):
            if isinstance(gradient, IndexedSlices):
                return self._apply_sparse(gradient, variable)
            return self._apply_dense(gradient, variable)

    def _counted(self, updates: list[Operation], global_step: Any, final: str) -> Operation:
        """Return the updates as one operation named `final`, then the step counter's."""
        if global_step is None:
            return group(*updates, name=f"{final}/")  # type: ignore[no-any-return]
        update = group(*updates, name="update")
        with scopes.control_dependencies([update]), scopes.colocate_with(global_step.op):
            if is_resource(global_step):
                one = convert_to_tensor(1, global_step.dtype)
                counted = raw.AssignAddVariableOp(global_step.handle, one, name=f"{final}/")
                return counted  # type: ignore[no-any-return]
            one = convert_to_tensor(1, global_step.dtype.base_dtype, "value")
            return raw.AssignAdd(global_step, one, name=f"{final}/").op  # type: ignore[no-any-return]

    def _prepare(self) -> None:
        """Make the nodes that all updates share."""

    def _apply_dense(self, gradient: Any, variable: Any) -> Operation:
        raise NotImplementedError

    def _apply_sparse(self, gradient: Any, variable: Any) -> Operation:
        raise NotImplementedError


class GradientDescentOptimizer(Optimizer):
    """Changes a variable by its gradient times the learning rate.

    Args:
      learning_rate: number or float tensor.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Example:
      >>> w = Variable(5.0)
      >>> train = GradientDescentOptimizer(0.5).minimize((w - 3.0) ** 2, var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(train)
      ...     session.run(w)
      np.float32(3.0)
    """

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._rate: Any = None

    def _prepare(self) -> None:
        rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
        self._rate = convert_to_tensor(rate, name="learning_rate")

    def _rate_for(self, variable: Any) -> Any:
        wanted = variable.dtype.base_dtype
        return self._rate if self._rate.dtype is wanted else raw.Cast(self._rate, DstT=wanted)

    def _apply_dense(self, gradient: Any, variable: Any) -> Operation:
        rate = self._rate_for(variable)
        if is_resource(variable):
            return raw.ResourceApplyGradientDescent(  # type: ignore[no-any-return]
                variable.handle, rate, gradient, use_locking=self._use_locking
            )
        updated = raw.ApplyGradientDescent(variable, rate, gradient, use_locking=self._use_locking)
        return updated.op  # type: ignore[no-any-return]

    def _apply_sparse(self, gradient: Any, variable: Any) -> Operation:
        if is_resource(variable):
            rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
            delta = raw.Mul(raw.Neg(gradient.values), rate, name="mul")
            return raw.ResourceScatterAdd(  # type: ignore[no-any-return]
                variable.handle, gradient.indices, delta
            )
        delta = raw.Mul(gradient.values, self._rate_for(variable), name="mul")
        return raw.ScatterSub(  # type: ignore[no-any-return]
            variable, gradient.indices, delta, use_locking=self._use_locking
        ).op
