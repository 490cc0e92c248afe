"""Variables as ops: the reference kind, which hands the variable itself to what changes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape, TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef

__all__ = ["assign", "assign_add", "assign_sub", "is_variable_initialized", "scatter_add",
           "scatter_sub", "scatter_update"]  # fmt: skip

VARIABLE_V2 = OpDef(
    "VariableV2() -> ref: Ref(dtype) [shape: shape; dtype: type; container: string = ''; "
    "shared_name: string = ''] !"
).not_differentiable()


@VARIABLE_V2.shape
def variable_shape(*, shape: TensorShape) -> Shape:
    return shape.as_tuple()


@VARIABLE_V2.kernel
def variable_kernel(ctx: Any, *, container: bytes, shared_name: bytes) -> Any:
    name = shared_name.decode() if shared_name else ctx.node_name
    return ctx.resource("variable", container, name, lambda Variable: Variable(name))


def _is_known_to_fit(value: Any, old: Any) -> bool:
    return old is None or np.shape(old) == np.shape(value)


ASSIGN = OpDef(
    "Assign(ref: Ref(T), value: T) -> output_ref: Ref(T) [T: type; validate_shape: bool = True; "
    "use_locking: bool = True]",
    keeps_inputs=True,
).not_differentiable()


@ASSIGN.shape
def assign_shape(ref: Shape, value: Shape, *, validate_shape: bool) -> Shape:
    return shapes.merge(ref, value, "variable and value") if validate_shape else value


@ASSIGN.kernel
def assign_kernel(ref: Any, value: Any, *, validate_shape: bool) -> Any:
    if validate_shape and not _is_known_to_fit(value, ref.value):
        raise InvalidArgumentError(
            f"cannot assign a value of shape {np.shape(value)} to variable {ref.name!r} of shape "
            f"{np.shape(ref.value)}; validate_shape=False allows it"
        )
    ref.assign(value)
    return ref


def _update(name: str, function: Any) -> OpDef:
    """Define an op that sets a variable to `function(old, value)`."""
    op_def = OpDef(
        f"{name}(ref: Ref(T), value: T) -> output_ref: Ref(T) [T: type {{numeric}}; "
        "use_locking: bool = False]"
    ).not_differentiable()

    def update_shape(ref: Shape, value: Shape) -> Shape:
        return shapes.merge(ref, value, "variable and value")

    def update_kernel(ref: Any, value: Any) -> Any:
        _require_shape(ref, value)
        ref.update(lambda old: function(old, value))
        return ref

    op_def.shape(update_shape)
    op_def.kernel(update_kernel)
    return op_def


def _require_shape(ref: Any, value: Any) -> None:
    if not _is_known_to_fit(value, ref.value):
        raise InvalidArgumentError(
            f"variable {ref.name!r} has shape {np.shape(ref.value)}, but the value to change it by "
            f"has {np.shape(value)}"
        )


ASSIGN_ADD = _update("AssignAdd", np.add)
ASSIGN_SUB = _update("AssignSub", np.subtract)

IS_VARIABLE_INITIALIZED = OpDef(
    "IsVariableInitialized(ref: Ref(dtype)) -> is_initialized: bool [dtype: type]"
).not_differentiable()


@IS_VARIABLE_INITIALIZED.shape
def is_variable_initialized_shape(ref: Shape) -> Shape:
    return ()


@IS_VARIABLE_INITIALIZED.kernel
def is_variable_initialized_kernel(ref: Any) -> Any:
    return np.bool_(ref.value is not None)


APPLY_GRADIENT_DESCENT = OpDef(
    "ApplyGradientDescent(var: Ref(T), alpha: T, delta: T) -> out: Ref(T) [T: type {numeric}; "
    "use_locking: bool = False]"
).not_differentiable()


@APPLY_GRADIENT_DESCENT.shape
def apply_gradient_descent_shape(var: Shape, alpha: Shape, delta: Shape) -> Shape:
    shapes.require_rank(alpha, "alpha", 0)
    return shapes.merge(var, delta, "variable and gradient")


@APPLY_GRADIENT_DESCENT.kernel
def apply_gradient_descent_kernel(var: Any, alpha: Any, delta: Any) -> Any:
    _require_shape(var, delta)
    var.update(lambda old: _descended(old, alpha * delta))
    return var


def _descended(old: Any, step: Any) -> Any:
    """Return `old` less `step`, in the memory of `step`, which nobody else has seen."""
    return np.subtract(old, step, out=step) if type(step) is np.ndarray else old - step


def _scatter(name: str, function: Any, locks: bool = False) -> OpDef:
    """Define an op that changes the rows of a variable that `indices` names."""
    op_def = OpDef(
        f"{name}(ref: Ref(T), indices: Tindices, updates: T) -> output_ref: Ref(T) "
        f"[T: type; Tindices: type {{index}}; use_locking: bool = {locks}]"
    ).not_differentiable()

    def scatter_shape(ref: Shape, indices: Shape, updates: Shape) -> Shape:
        return ref

    def scatter_kernel(ref: Any, indices: Any, updates: Any) -> Any:
        def changed(old: Any) -> Any:
            _require_rows(ref, indices, len(old))
            new = np.array(old)
            function(new, indices, updates)
            return new

        ref.update(changed)
        return ref

    op_def.shape(scatter_shape)
    op_def.kernel(scatter_kernel)
    return op_def


def _require_rows(ref: Any, indices: Any, rows: int) -> None:
    if np.size(indices) and not (np.min(indices) >= 0 and np.max(indices) < rows):
        raise InvalidArgumentError(
            f"indices must be in [0, {rows}), the rows of variable {ref.name!r}, but are {indices}"
        )


SCATTER_ADD = _scatter("ScatterAdd", np.add.at)
SCATTER_SUB = _scatter("ScatterSub", np.subtract.at)
SCATTER_UPDATE = _scatter("ScatterUpdate", np.ndarray.__setitem__, locks=True)


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Return an op that sets the variable `ref` to `value`, and gives the variable.

    Args:
      ref: a Variable.
      value: same dtype; the same shape unless `validate_shape` is False.
      validate_shape: whether the shapes must agree; True by default.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the node.

    Example:
      >>> v = Variable(1.0)
      >>> Session().run(assign(v, 5.0))
      np.float32(5.0)
    """
    return ASSIGN(
        ref,
        value,
        validate_shape=validate_shape is not False,
        use_locking=use_locking is not False,
        name=name,
    )


def _updater(op_def: OpDef, verb: str) -> Any:
    def function(
        ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
    ) -> Any:
        return op_def(ref, value, use_locking=bool(use_locking), name=name)

    function.__name__ = function.__qualname__ = f"assign_{verb}"
    function.__doc__ = f"""Return an op that {verb}s `value` to or from the variable `ref`.

    Args:
      ref: a Variable that is initialised when the op runs.
      value: same dtype and shape.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the node.

    Raises:
      FailedPreconditionError: when it runs and `ref` is not initialised.
    """
    return function


assign_add = _updater(ASSIGN_ADD, "add")
assign_sub = _updater(ASSIGN_SUB, "sub")


def is_variable_initialized(variable: Any) -> Any:
    """Return a bool tensor: whether `variable` has a value."""
    return IS_VARIABLE_INITIALIZED(variable)


def _scatterer(op_def: OpDef, name: str) -> Any:
    def function(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None
    ) -> Any:
        return op_def(ref, indices, updates, use_locking=use_locking, name=name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return an op that changes rows of the variable `ref` ({op_def.name}).

    Args:
      ref: a Variable [rows, ...].
      indices: int [n], rows to change; one that stands twice is changed twice.
      updates: same dtype as `ref`, [n, ...].
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the node.
    """
    return function


scatter_add = _scatterer(SCATTER_ADD, "scatter_add")
scatter_sub = _scatterer(SCATTER_SUB, "scatter_sub")
scatter_update = _scatterer(SCATTER_UPDATE, "scatter_update")
