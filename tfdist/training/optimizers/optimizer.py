"""Optimizer: from a loss to the operation that changes variables to lower it.

A subclass says how one variable follows its gradient, in `_apply_dense` and the methods beside it.

Source: TF 1.15 API documentation, tf.train.Optimizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfdist.base import dtypes, nest
from tfdist.graph import replicas, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation
from tfdist.ops.array.shape import shape as shape_of
from tfdist.ops.autodiff.gradients import IndexedSlices, gradients
from tfdist.ops.control_flow import identity_group
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.state_ops import is_resource
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.slots import KeepsSlots

GradientAndVariable = tuple[Any, Any]


class Optimizer(KeepsSlots):
    """What all optimizers do; a subclass says how one variable follows its gradient.

    A subclass has `_apply_dense(grad, var)` for reference variables and
    `_resource_apply_dense(grad, var)` for resource variables; `_apply_sparse(grad, var)` and
    `_resource_apply_sparse(grad, var, indices)` if gradients may be IndexedSlices, whose indices
    are then all different. It may have `_create_slots(var_list)`, `_prepare()` for nodes that all
    updates share, and `_finish(update_ops, name_scope)` for what comes after them.

    Args:
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.

    Raises:
      ValueError: there is no name.

    Example:
      >>> class SignDescent(Optimizer):
      ...     def _apply_dense(self, grad, var):
      ...         return var.assign_sub(sign(grad))
      >>> w = Variable(5.0)
      >>> train = SignDescent(False, "SignDescent").minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(w.initializer)
      ...     session.run(train)
      ...     session.run(w)
      np.float32(4.0)
    """

    # A slot makes it the `__base__` of optimizers that have a mixin before it, as GPflow wants.
    __slots__ = ("_name",)
    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        super().__init__()
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
          loss: float tensor, or a function that returns one.
          global_step: Variable that is raised by one after the update.
          var_list: variables to change; all trainable ones by default.
          gate_gradients: GATE_NONE, GATE_OP: the gradients of one op's inputs leave together, or
            GATE_GRAPH: no variable is changed before all gradients are there.
          aggregation_method: how gradients are summed, one of `tf.AggregationMethod`.
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
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
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

        Raises:
          ValueError: `gate_gradients` is none of the three, there are no variables, or loss or a
            variable is of a type that has no gradients.
        """
        loss = _share(self._call_if_callable(loss))
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = scopes.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        found = gradients(
            loss,
            variables,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            stop_gradients=_first_replicas(),
        )
        if gate_gradients == self.GATE_GRAPH:
            found = identity_group.tuple(found)
        pairs = list(zip(found, variables, strict=True))
        self._assert_valid_dtypes(
            [variable for gradient, variable in pairs if gradient is not None]
        )
        return pairs

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
          TypeError: a gradient is no tensor.
          ValueError: there is no gradient at all.
        """
        given = tuple(grads_and_vars)
        if not given:
            raise ValueError("No variables provided.")
        pairs = [(_gradient(g), v) for g, v in given if g is not None]
        if not pairs:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in given]}."
            )
        replica = replicas.merging()
        if replica is not None:
            return self._apply_merged(replica, pairs, global_step, name)
        with scopes.init_scope():
            self._create_slots([variable for _, variable in pairs])
        with scopes.name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(gradient, variable) for gradient, variable in pairs]
            train_op = self._counted(updates, global_step, scope)
        collection = train_op.graph.get_collection_ref(GraphKeys.TRAIN_OP)
        if train_op not in collection:
            collection.append(train_op)
        return train_op

    def _apply_merged(self, replica: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
        """Return one operation for all replicas: it applies the sums of their gradients."""
        variables = [variable for _, variable in pairs]

        def apply(strategy: Any, found: list[Any]) -> Operation:
            sums = [strategy.extended.reduce_to("SUM", each, variables) for each in found]
            return Optimizer.apply_gradients(
                self, zip(sums, variables, strict=True), global_step, name
            )

        return replica.merge_call(apply, ([gradient for gradient, _ in pairs],))  # type: ignore[no-any-return]

    def _update(self, gradient: Any, variable: Any) -> Any:
        """Return what changes one variable, and holds it to its constraint."""
        with (
            scopes.name_scope(f"update_{variable.op.name}"),
            scopes.colocate_with(variable.op),
        ):
            if not isinstance(variable, Variable):
                raise NotImplementedError("Trying to update a Tensor ", variable)
            constraint = variable.constraint
            if isinstance(gradient, IndexedSlices):
                if constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                return self._update_rows(gradient, variable)
            apply = self._resource_apply_dense if is_resource(variable) else self._apply_dense
            update = apply(gradient, variable)
            if constraint is None:
                return update
            with scopes.control_dependencies([update]):
                return variable.assign(constraint(variable))

    def _update_rows(self, gradient: IndexedSlices, variable: Any) -> Any:
        if is_resource(variable):
            return self._resource_apply_sparse_duplicate_indices(
                gradient.values, variable, gradient.indices
            )
        return self._apply_sparse_duplicate_indices(gradient, variable)

    def _counted(self, updates: list[Any], global_step: Any, scope: str) -> Operation:
        """Return the updates as one operation named `scope`, then the step counter's."""
        if global_step is None:
            return _operation(self._finish(updates, scope))
        update = self._finish(updates, "update")
        with scopes.control_dependencies([update]), scopes.colocate_with(global_step.op):
            if is_resource(global_step):
                one = convert_to_tensor(1, global_step.dtype)
                counted = raw.AssignAddVariableOp(global_step.handle, one, name=scope)
                return counted  # type: ignore[no-any-return]
            one = convert_to_tensor(1, global_step.dtype.base_dtype, "value")
            return raw.AssignAdd(global_step, one, name=scope).op  # type: ignore[no-any-return]

    # what a subclass says

    def _valid_dtypes(self) -> set[Any]:
        """Return the types that losses and variables may have."""
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                names = [f"tf.{each.name}" for each in valid]
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: [{', '.join(names)}]."
                )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Make the slots of the variables in `var_list`."""

    def _prepare(self) -> None:
        """Make the nodes that all updates share."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Return what changes a reference variable along a dense gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _apply_dense")

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        """Return what changes a resource variable along a dense gradient."""
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_dense")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return what changes rows of a resource variable; a row may be named more than once."""
        return self._resource_apply_sparse(*_summed_by_row(grad, handle, indices))

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Return what changes rows of a resource variable, each of which is named once."""
        raise NotImplementedError(f"{type(self).__name__} has no _resource_apply_sparse")

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        """Return what changes rows of a reference variable; a row may be named more than once."""
        values, _, indices = _summed_by_row(grad.values, var, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """Return what changes rows of a reference variable, each of which is named once."""
        raise NotImplementedError(f"{type(self).__name__} has no _apply_sparse")

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """Return an operation called `name_scope` that follows all updates."""
        return identity_group.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        """Return what a function gives; anything else as it is."""
        return param() if callable(param) else param


def _share(loss: Any) -> Any:
    """Return what a replica's loss adds to that of all: an estimator's loss is their mean."""
    replica = replicas.merging()
    if replica is None or not replica.strategy._scales_loss:
        return loss
    return loss * (1.0 / replica.num_replicas_in_sync)


def _first_replicas() -> list[Any] | None:
    """Return losses that a replica takes over from the first one, which alone follows them."""
    if replicas.is_first():
        return None
    own = f"{scopes.get_default_graph().get_name_scope()}/".partition("/")[0]
    losses = scopes.get_collection(GraphKeys.REGULARIZATION_LOSSES)
    return [each for each in losses if not each.op.name.startswith(f"{own}/")]


def _gradient(given: Any) -> Any:
    if isinstance(given, IndexedSlices):
        return given
    try:
        return convert_to_tensor(given)
    except (TypeError, ValueError):
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {given}"
        ) from None


def _summed_by_row(values: Any, variable: Any, indices: Any) -> tuple[Any, Any, Any]:
    """Return gradients such that each row is named once: values, `variable`, indices."""
    unique, places = raw.Unique(indices)
    shape: Any = shape_of(unique)
    return raw.UnsortedSegmentSum(values, places, shape[0]), variable, unique


def _operation(value: Any) -> Operation:
    return getattr(value, "op", value)  # type: ignore[no-any-return]
