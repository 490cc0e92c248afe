"""`tf.function`: a Python function that is traced into a function of graphs.

What it builds for one kind of arguments, a trace, becomes a function; a call is a node that calls
it. In a trace, what does something to state runs in the order in which it was built, and always.

Source: TF 1.15 API documentation, tf.function.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist.base import nest
from tfdist.base.dtypes import resource, variant
from tfdist.graph import scopes
from tfdist.graph.contexts import enclosing
from tfdist.graph.function_def import function_to_proto
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import Function, NameAttrList
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.autograph.converting import converted
from tfdist.ops.control_flow.cond import Branch
from tfdist.ops.control_flow.loop_context import Loop
from tfdist.ops.framework.stateful_order import acts
from tfdist.ops.functions import calls
from tfdist.ops.functions.calls import add_call, building, copy_function, result_of
from tfdist.ops.functions.traced_arguments import Binder, Given, as_specified, label_of

__all__ = ["function"]

_NUMBERS = itertools.count(1)  # functions of one process have different names


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: Any = None,
) -> Any:
    """Let calls of a Python function be nodes that call a function of graphs.

    The Python function runs once for each kind of arguments: tensors by type and shape, other
    values by themselves. Tensors and values of variables from outside become further arguments.

    Its `if`, `while` and `for` over tensors become nodes (see `tf.autograph`); without `autograph`
    they would have to be decided while the function is traced.

    Args:
      func: the Python function; without it a decorator is returned.
      input_signature: a TensorSpec for each argument; there is one trace for all calls then.
      autograph: whether tensors may decide in it.
      experimental_autograph_options: accepted.
      experimental_relax_shapes: whether shapes do not tell kinds of arguments apart.
      experimental_compile: accepted.

    Raises:
      TypeError: `input_signature` holds something else.

    Example:
      >>> @function
      ... def hypotenuse(x, y):
      ...     return sqrt(x * x + y * y)
      >>> Session().run(hypotenuse(constant(3.0), constant(4.0)))
      np.float32(5.0)
    """
    if func is None:
        return functools.partial(
            function,
            input_signature=input_signature,
            autograph=autograph,
            experimental_relax_shapes=experimental_relax_shapes,
        )
    return TracedFunction(func, input_signature, experimental_relax_shapes, autograph)


class TracedFunction:
    """A Python function whose calls are nodes; see `function`."""

    def __init__(
        self,
        func: Callable[..., Any],
        input_signature: Any = None,
        relaxed: bool = False,
        autograph: bool = False,
    ) -> None:
        self.python_function = func
        self._autograph = autograph
        self._binder = Binder(func, input_signature)
        self._relaxed = relaxed
        functools.update_wrapper(self, func)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return what is called as a method of `instance`."""
        if instance is None:
            return self
        method: Any = functools.partial(self, instance)
        method.get_concrete_function = functools.partial(self.get_concrete_function, instance)
        return method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a call to the default graph.

        Returns:
          What the Python function returns, with tensors of the default graph; the operation if
          it returns None.
        """
        given = self._binder.bind(args, kwargs)
        return self._trace(given).call(given.tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the function for arguments like these; a TensorSpec stands for a tensor."""
        if not args and not kwargs:
            args = self._binder.input_signature or ()
        return self._trace(self._binder.bind(args, kwargs))

    def _trace(self, given: Given) -> ConcreteFunction:
        traces = scopes.get_default_graph()._traces.setdefault(self, {})
        key = given.key(self._relaxed)
        if key not in traces:
            func = self.python_function
            with building((self, key), label_of(func)):
                built = converted(func) if self._autograph else func
                traces[key] = _traced(built, given.relaxed() if self._relaxed else given)
        return traces[key]  # type: ignore[no-any-return]


class ConcreteFunction:
    """One trace of a Python function: a function of graphs.

    Attributes:
      graph: of its body.
      inputs: what stands for the arguments there, and for what is captured.
      outputs: the results there.
      structured_outputs: what the Python function returned, with those.
      structured_input_signature: positional and named arguments, with TensorSpecs.
    """

    def __init__(self, record: Function, built: Built, results: Any, given: Given) -> None:
        self._record, self._built, self._given = record, built, given
        self._count = sum(each is not None for each in nest.flatten(results))
        self.graph, self.inputs = built.graph, built.inputs
        self.outputs = built.outputs[: self._count]
        self.structured_outputs = results
        told = [leaf if spec is None else spec
                for leaf, spec in zip(given.leaves, given.specs, strict=True)]  # fmt: skip
        args, kwargs = nest.pack_as(given.structure, told)
        self.structured_input_signature = (tuple(args), kwargs)

    @property
    def name(self) -> bytes:
        """Return the name of the function."""
        return self._record.name.encode()

    @property
    def captured_inputs(self) -> list[Tensor]:
        """Return what the body takes from outside."""
        return list(self._built.captures)

    @property
    def function_def(self) -> Any:
        """Return the FunctionDef."""
        return function_to_proto(self._record)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a call to the default graph, with a tensor for each argument that is one.

        Args:
          *args: the first of them.
          **kwargs: the others, by the names of their TensorSpecs.

        Raises:
          TypeError: there are too many or too few.
        """
        wanted = [spec for spec in self._given.specs if spec is not None]
        names = [str(spec.name) for spec in wanted]
        rest = names[len(args) :]
        if len(args) > len(names) or sorted(kwargs) != sorted(rest):
            raise TypeError(
                f"{self._record.name} takes a tensor for each of {names}; got {len(args)} without "
                f"a name, and {sorted(kwargs)}"
            )
        values = [*args, *(kwargs[name] for name in rest)]
        return self.call([as_specified(*pair) for pair in zip(values, wanted, strict=True)])

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """Add a call to the default graph; see `TracedFunction`."""
        copy_function(self._record, self.graph, scopes.get_default_graph())
        op_def = calls.STATEFUL_CALL if self._record.signature.stateful else calls.CALL
        attrs = {attr.name: attr.default for attr in op_def.signature.attrs.values()}
        attrs["Tin"] = [tensor.dtype.base_dtype for tensor in self.inputs]
        attrs["Tout"] = [tensor.dtype.base_dtype for tensor in self._built.outputs]
        attrs["f"] = NameAttrList(self._record.name)
        op = add_call(self._built, op_def, op_def.name, tensors, attrs)
        for made, inside in zip(op.outputs, self._built.outputs, strict=True):
            made.set_shape(inside.shape)
        if self.structured_outputs is None:
            return op
        made_ones = iter(op.outputs)
        return nest.map_leaves(
            lambda leaf: None if leaf is None else next(made_ones), self.structured_outputs
        )

    def _as_function(self) -> NameAttrList:
        copy_function(self._record, self.graph, scopes.get_default_graph())
        return NameAttrList(self._record.name)


# tracing


def _traced(func: Callable[..., Any], given: Given) -> ConcreteFunction:
    label = label_of(func)
    graph = FunctionGraph(label, scopes.get_default_graph(), named_by_tensor=True)
    with graph.as_default():
        inside = [leaf if spec is None
                  else raw.Placeholder(dtype=spec.dtype, shape=spec.shape, name=spec.name)
                  for leaf, spec in zip(given.leaves, given.specs, strict=True)]  # fmt: skip
        args, kwargs = nest.pack_as(given.structure, inside)
        returned = func(*args, **kwargs)
        results, awaited = _results(graph, returned)
    inputs = [each for each, spec in zip(inside, given.specs, strict=True) if spec is not None]
    outputs = [each for each in results if each is not None]
    hidden = [each for each in _drawn(graph) if each not in inputs]
    built = Built(graph, [*inputs, *graph.captures.values()], [*outputs, *hidden],
                  tuple(graph.captures))  # fmt: skip
    is_nothing = returned is None or isinstance(returned, Operation)
    packed = None if is_nothing else nest.pack_as(returned, results)
    return ConcreteFunction(_recorded(label, built, awaited, given), built, packed, given)


def _results(graph: FunctionGraph, returned: Any) -> tuple[list[Tensor | None], list[Operation]]:
    """Return what the Python function gave as tensors, and what must have run before them."""
    leaves = nest.flatten(returned)
    tensors = [_result(graph, each) for each in leaves]
    awaited = ordered(graph, leaves)
    with graph.control_dependencies(awaited):
        return [None if each is None else raw.Identity(each) for each in tensors], awaited


def _result(graph: FunctionGraph, value: Any) -> Tensor | None:
    """Return a value that the Python function gave as a tensor of `graph`."""
    if value is None or isinstance(value, Operation):
        return None
    return result_of(graph, value)


def _recorded(label: str, built: Built, awaited: Sequence[Operation], given: Given) -> Function:
    names = [str(spec.name).encode() for spec in given.specs if spec is not None]
    shown = Shown(
        f"__inference_{label}_{next(_NUMBERS)}",
        control_outputs=awaited,
        argument_attrs={i: {"_user_specified_name": name} for i, name in enumerate(names)},
    )
    record = function_of(built.graph.get_operations(), built.inputs, built.outputs, shown)
    built.graph._bodies[record.name] = built
    return record


def ordered(graph: FunctionGraph, returned: Iterable[Any]) -> list[Operation]:
    """Let stateful operations run one after the other; returns all that must have run."""
    awaited: dict[Operation, None] = {}
    last: Operation | None = None
    for op in graph.get_operations():
        if not acts(op):
            continue
        if op._context is None:
            if last is not None:
                op._add_control_input(last)
            last = op
        done = _done(op)
        if done is not None:
            awaited[done] = None
    awaited.update({each: None for each in returned if isinstance(each, Operation)})
    return list(awaited)


def _done(op: Operation) -> Operation | None:
    """Return what runs when `op` has, outside of branches and loops."""
    outermost = list(enclosing(op._context))[-1:]
    match outermost:
        case []:
            return op
        case [Branch(merges=[first, *_])]:
            return first.op
        case [Loop(variables=[first, *_])]:
            return first.exit.op
    return None


def _drawn(graph: FunctionGraph) -> list[Tensor]:
    """Return values that are not the same when they are computed again: gradients need them."""
    return [
        tensor
        for op in graph.get_operations()
        if op.op_def.is_stateful and op._context is None
        for tensor in op.outputs
        if not tensor.dtype.is_ref and tensor.dtype not in (resource, variant)
    ]
