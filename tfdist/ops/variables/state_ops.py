"""Variables as ops: the reference kind, which hands the variable itself to what changes it.

The public functions take both kinds. Changes of rows are in `scatter`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import shapes
from tfdist.base.shapes import Shape
from tfdist.base.tensor_shape import TensorShape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import replicas
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Tensor
from tfdist.ops.framework.cache_blocking import in_parts
from tfdist.ops.framework.compiled_loops import Elementwise, one_pass

__all__ = ["assign", "assign_add", "assign_sub", "is_variable_initialized"]

_VARIABLE = (
    "() -> ref: Ref(dtype) [shape: shape; dtype: type; container: string = ''; "
    "shared_name: string = ''] !"
)
VARIABLE_V2 = OpDef(f"VariableV2{_VARIABLE}").not_differentiable()
VARIABLE = OpDef(f"Variable{_VARIABLE}").not_differentiable()  # of TensorFlow 0.x


@VARIABLE_V2.shape
def variable_v2_shape(*, shape: TensorShape) -> Shape:
    return shape.as_tuple()


@VARIABLE.shape
def variable_shape(*, shape: TensorShape) -> Shape:
    return shape.as_tuple() or None  # a scalar's shape stood for one that is not known


@VARIABLE_V2.kernel
@VARIABLE.kernel
def variable_kernel(ctx: Any, *, container: bytes, shared_name: bytes, shape: TensorShape) -> Any:
    found = ctx.known()
    if found is not None:
        return found
    name = shared_name.decode() if shared_name else ctx.node_name
    variable = ctx.resource("variable", container, name, lambda Variable: Variable(name))
    variable.shape = shape.as_tuple()
    return variable


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
    if validate_shape:
        old = ref.look()
        if old is None and not shapes.compatible(ref.shape, np.shape(value)):
            raise _of_other_shape(ref, value, ref.shape)
        if old is not None and np.shape(old) != np.shape(value):
            raise _of_other_shape(ref, value, np.shape(old))
    ref.assign(value)
    return ref


def _of_other_shape(ref: Any, value: Any, shape: Any) -> InvalidArgumentError:
    left, right = (f"[{','.join(map(str, each))}]" for each in (shape, np.shape(value)))
    return InvalidArgumentError(
        f"Assign requires shapes of both tensors to match. lhs shape= {left} rhs shape= {right}: "
        f"variable {ref.name!r} has another shape than the value; validate_shape=False allows it"
    )


def _update(name: str, function: Any) -> OpDef:
    """Define an op that sets a variable to `function(old, value, out)`."""
    op_def = OpDef(
        f"{name}(ref: Ref(T), value: T) -> output_ref: Ref(T) [T: type {{numeric}}; "
        "use_locking: bool = False]"
    ).not_differentiable()

    def update_shape(ref: Shape, value: Shape) -> Shape:
        return shapes.merge(ref, value, "variable and value")

    def update_kernel(ref: Any, value: Any) -> Any:
        def changed(old: Any, out: Any) -> Any:
            _require_shape(ref, old, value)
            return function(old, value, out)

        ref.update(changed)
        return ref

    op_def.shape(update_shape)
    op_def.kernel(update_kernel)
    return op_def


def _require_shape(ref: Any, old: Any, value: Any) -> None:
    if np.shape(old) != np.shape(value):
        raise InvalidArgumentError(
            f"variable {ref.name!r} has shape {np.shape(old)}, but the value to change it by has "
            f"{np.shape(value)}"
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
    return np.bool_(ref.look() is not None)


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
    require_scalar_rate(alpha)

    def changed(old: Any, out: Any) -> Any:
        _require_shape(var, old, delta)
        return descended(var.share, old, out, alpha, delta)

    var.update(changed)
    return var


def require_scalar_rate(alpha: Any) -> None:
    """Raise InvalidArgumentError if the rate of a descent has a rank."""
    if np.ndim(alpha):
        raise InvalidArgumentError(f"alpha is not a scalar: {shapes.brackets(np.shape(alpha))}")


def descended(share: Any, old: Any, out: Any, alpha: Any, delta: Any) -> Any:
    """Return `old` less `alpha` times `delta`, in `out` if there is one, as for `update`."""
    if out is None:
        step = alpha * delta
        return np.subtract(old, step, out=step if type(step) is np.ndarray else None)
    descent = Elementwise(_descent, (alpha,))
    fast = one_pass(descent, 1, out, share)
    if fast is not None:
        fast(out, delta)
    else:
        in_parts(lambda parts: descent(*parts), out, delta, share=share)
    return out


def _descent(var: Any, delta: Any, alpha: Any) -> tuple[Any]:
    var -= delta * alpha
    return (var,)


def is_resource(variable: Any) -> bool:
    """Return whether `variable` is a resource variable, which ops reach by its handle."""
    return hasattr(variable, "_as_operation")


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Return an op that sets the variable `ref` to `value`, and gives the variable.

    Args:
      ref: a Variable, or a slice of one.
      value: same dtype; the same shape unless `validate_shape` is False.
      validate_shape: whether the shapes must agree; True by default.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the node.

    Example:
      >>> v = Variable(1.0)
      >>> Session().run(assign(v, 5.0))
      np.float32(5.0)
    """
    if (merged := replicas.updated(ref, value, assign)) is not None:
        return merged
    is_slice = isinstance(ref, Tensor) and hasattr(ref, "assign")
    if is_slice or is_resource(ref):
        return ref.assign(value, name=name)
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
        if (merged := replicas.updated(ref, value, function)) is not None:
            return merged
        if is_resource(ref):
            return getattr(ref, f"assign_{verb}")(value)  # TensorFlow drops the name, too
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
    if is_resource(variable):
        return variable.is_initialized()
    return IS_VARIABLE_INITIALIZED(variable)
