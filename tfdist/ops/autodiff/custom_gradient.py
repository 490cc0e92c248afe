"""Functions that say what their gradient is: custom_gradient, and two that are made with it.

What the function adds to the graph stays as it is; its results, its arguments and the variables it
reads then go through one IdentityN, whose gradient is the function's own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from tfdist.base import nest
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autodiff.gradients import RegisterGradient, gradients
from tfdist.ops.framework.indexed_slices import IndexedSlices
from tfdist.ops.variables.variable_scope import get_variable_scope, variable_scope

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]

_numbers = count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for functions that tell their gradient themselves.

    Args:
      f: takes tensors, returns (y, grad): a tensor or a structure of them, and a function from
        the gradients of all tensors in y to those of all arguments. If f reads resource
        variables, grad takes them as the keyword `variables`, and returns (gradients of the
        arguments, list of gradients of the variables).

    Returns:
      A function that returns y.

    Raises:
      TypeError: when it is called: f makes a variable that is no resource, or reads variables and
        grad does not take them.

    Example:
      >>> @custom_gradient
      ... def log1pexp(x):
      ...     e = exp(x)
      ...     return log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))
      >>> x = constant(100.0)
      >>> Session().run(gradients(log1pexp(x), x))
      [np.float32(1.0)]
    """

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "a function with a custom gradient takes no keywords, for their gradients would "
                f"have no place; got {', '.join(kwargs)}: functools.partial or a lambda binds them"
            )
        return _called(f, [convert_to_tensor(each) for each in args])

    return function


_READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")


def _called(f: Callable[..., Any], args: Sequence[Tensor]) -> Any:
    graph = scopes.get_default_graph()
    version = graph.version
    result, gradient = f(*args)
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(result)]
    read = _variables_read(graph.operations_since(version))
    _check(gradient, read)
    for leaf in leaves:
        raw.Identity(leaf)  # not needed, but part of the graphs that TensorFlow makes
    name = f"CustomGradient-{next(_numbers)}"
    RegisterGradient(name)(_rule(gradient, len(leaves), len(args), read))
    with graph.gradient_override_map({"IdentityN": name}):
        passed = raw.IdentityN([*leaves, *args, *read])
    return nest.pack_as(result, list(passed[: len(leaves)]))


def _variables_read(operations: Sequence[Operation]) -> list[Any]:
    """Return the trainable resource variables whose values these operations read.

    Raises:
      TypeError: they make a variable that is no resource.
    """
    for op in operations:
        if op.type == "VariableV2":
            raise TypeError(
                f"the function makes the variable {op.name!r}, which is no resource: all variables "
                "of a function with a custom gradient must be; get_variable(use_resource=True)"
            )
    return variables_read(operations)


def variables_read(operations: Iterable[Operation]) -> list[Any]:
    """Return the trainable resource variables that operations read, in the order they were made."""
    reads = [(op, op.inputs[0]) for op in operations if op.type in _READS]
    # a variable is read once when it is made, which does not count
    handles = [each for op, each in reads if not op.name.startswith(f"{each.op.name}/Read/")]
    variables = scopes.get_collection("trainable_variables")
    return [each for each in variables if any(each._variable is handle for handle in handles)]


def _check(gradient: Callable[..., Any], variables: Sequence[Any]) -> None:
    if not variables:
        return
    parameters = inspect.signature(gradient).parameters
    if "variables" not in parameters and all(
        each.kind is not each.VAR_KEYWORD for each in parameters.values()
    ):
        names = ", ".join(each.name for each in variables)
        raise TypeError(
            f"the function reads variables ({names}), so that its gradient function must take a "
            "keyword argument 'variables', and return (gradients of the arguments, gradients of "
            "the variables)"
        )


def _rule(
    gradient: Callable[..., Any], results: int, arguments: int, variables: Sequence[Any]
) -> Callable[..., Any]:
    """Return the rule of the IdentityN: nothing to the results, the rest as `gradient` says."""

    def rule(op: Operation, *d_outputs: Any) -> list[Any]:
        given = d_outputs[:results]
        found = gradient(*given, variables=list(variables)) if variables else gradient(*given)
        to_arguments, to_variables = found if variables else (found, [])
        parts = _as_list(to_arguments) + list(to_variables)
        if len(parts) != arguments + len(variables):
            raise ValueError(
                f"a custom gradient gave {len(parts)} gradients, for {arguments} arguments and "
                f"{len(variables)} variables"
            )
        return [None] * results + parts

    return rule


def _as_list(found: Any) -> list[Any]:
    is_one = found is None or isinstance(found, IndexedSlices) or not nest.is_nested(found)
    return [found] if is_one else nest.flatten(found)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the values of `f`, whose gradient is that of an identity.

    Args:
      f: takes tensors and returns as many.

    Example: rounding, which has no gradient, is passed by.
      >>> x = constant([1.4, 2.6])
      >>> Session().run(gradients(grad_pass_through(round)(x) * 3.0, x)[0])
      array([3., 3.], dtype=float32)
    """

    @custom_gradient
    def function(*args: Any) -> Any:
        def gradient(*d_results: Any, variables: Any = ()) -> Any:
            passed = d_results[0] if len(d_results) == 1 else list(d_results)
            return (passed, [None] * len(variables)) if variables else passed

        return f(*args), gradient

    return function


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the values of `f` that computes them again for its gradient.

    What f computes on its way needs not be kept until then.

    Args:
      f: takes tensors, returns a tensor or a structure of them; its variables are resources.

    Example:
      >>> x = constant(3.0)
      >>> Session().run(gradients(recompute_grad(lambda x: square(x))(x), x))
      [np.float32(6.0)]
    """

    @custom_gradient
    def function(*args: Any) -> Any:
        scope = get_variable_scope()

        def gradient(*d_results: Any, variables: Any = ()) -> Any:
            with variable_scope(scope, reuse=True), scopes.control_dependencies(d_results):
                again = [raw.Identity(each) for each in args]  # not before it is needed
                results = nest.flatten(f(*again))
            found = gradients(results, [*again, *variables], list(d_results))
            here, there = found[: len(args)], found[len(args) :]
            return (here, there) if variables else here

        return f(*args), gradient

    return function
