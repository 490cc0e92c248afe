"""Functions of graphs: a part of a graph that is built once and called by name.

`Defun` makes a function of a Python function and the types of its arguments; a call of it is a
node whose op is the function's name. `tf.function` is in `traced_functions`.

Source: TensorFlow 1.15's tensorflow.python.framework.function, by its behaviour.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.base.dtypes import DType
from tfdist.graph import build, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_def import function_to_proto
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import CallOp, Function, NameAttrList
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.functions.calls import add_call, building, copy_function, node_name, result_of

__all__ = ["Defun"]

# Arguments of Defun besides its own, and the attribute that each becomes.
_ATTRS = {"noinline": "_noinline", "compiled": "_XlaCompile"}
# What a call in a graph says of itself.
_CALL_ATTRS = {"_disable_call_shape_inference": True}


class Defun:
    """Decorator that makes a function of graphs.

    In the body, tensors and the values of variables from outside can be used: they become further
    arguments of each call. Variables made in it are made outside.

    Args:
      *input_types: types of the arguments; if there are none, each call's arguments tell them,
        and for each combination of types there is a function.
      func_name: name of the function; made from the Python function and what it builds if None.
      grad_func: a Defun of the arguments and the gradients of the results, that gives the
        gradients of the arguments.
      python_grad_func: the same as a Python function of a call's operation and the gradients of
        its outputs.
      out_names: names of the results.
      shape_func: a Python function from a call's operation to the shapes of its outputs.
      capture_by_value: whether what is used from outside is copied into the body.
      noinline: accepted, and noted in the function: calls are always taken apart here.
      compiled: the same.

    Example:
      >>> @Defun(float32, float32)
      ... def hypotenuse(x, y):
      ...     return sqrt(x * x + y * y)
      >>> Session().run(hypotenuse(3.0, 4.0))
      np.float32(5.0)
    """

    def __init__(self, *input_types: Any, **options: Any) -> None:
        if any(map(inspect.isroutine, input_types)):
            raise TypeError(
                "Defun takes types of arguments first, @Defun(tf.float32), or none, @Defun(); got "
                f"{input_types}"
            )
        self._input_types = [dtypes.as_dtype(each) for each in input_types]
        self._options = _checked_options(options)

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Return the function that can be called in graphs.

        Raises:
          ValueError: `function` cannot be called with that many arguments.
        """
        if not callable(function):
            raise ValueError(f"function {function} must be callable")
        names = _argument_names(function, len(self._input_types) or None)
        if self._input_types or not names:
            gradient = self._options.get("grad_func")
            if isinstance(gradient, OverloadedFunction):
                raise TypeError(f"grad_func must be a Defun with types, not {gradient!r}")
            return DefinedFunction(function, names, self._input_types, **self._options)
        return OverloadedFunction(function, names, **self._options)


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a Defun; TypeError if one is of another kind than it must be."""
    for key, what, is_right in (
        ("func_name", "a string", lambda value: isinstance(value, str)),
        (
            "grad_func",
            "a Defun",
            lambda value: isinstance(value, DefinedFunction | OverloadedFunction),
        ),
        ("python_grad_func", "a function", callable),
        ("shape_func", "a function", callable),
    ):
        value = options.get(key)
        if value is not None and not is_right(value):
            raise TypeError(f"{key} must be {what}, not {value!r}")
    return options


def _argument_names(function: Callable[..., Any], count: int | None) -> list[str]:
    """Return the names of the arguments; `count` of them if it is given."""
    spec = inspect.getfullargspec(function)
    if spec.varkw or spec.defaults:
        raise ValueError(
            "function with argument defaults or keywords arguments are not supported. "
            f"{function} has defaults {spec.defaults} and keywords {spec.varkw}."
        )
    names = spec.args[inspect.ismethod(function) :]
    if count is None:
        return names
    if count < len(names):
        raise ValueError("The function has more arguments than the number of specified input types")
    if count > len(names) and not spec.varargs:
        raise ValueError(
            "The function has fewer arguments than the number of specified input types."
        )
    return names + [f"{spec.varargs}_{i}" for i in range(count - len(names))]


class OverloadedFunction:
    """A function for each combination of types that it is called with; see `Defun`."""

    def __init__(
        self, function: Callable[..., Any], names: list[str], func_name: str | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        self._function, self._names = function, names
        self._func_name, self._options = func_name, options
        self._overloads: dict[tuple[DType, ...], DefinedFunction] = {}

    def instantiate(self, input_types: Iterable[Any]) -> DefinedFunction:
        """Return the function for arguments of these types."""
        key = tuple([dtypes.as_dtype(each).base_dtype for each in input_types])
        if key not in self._overloads:
            suffix = "".join(_SHORT.get(dtype.name, dtype.name) for dtype in key)
            name = f"{self._func_name}_{suffix}" if self._func_name else None
            made = DefinedFunction(
                self._function, self._names, list(key), func_name=name, **self._options
            )
            if isinstance(made._grad_func, OverloadedFunction):
                outputs = [arg.type for arg in made.definition.signature.output_arg]
                made._grad_func = made._grad_func.instantiate([*key, *outputs])
            self._overloads[key] = made
        return self._overloads[key]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Add a call; see `DefinedFunction`."""
        _check_count(len(self._names), len(args))
        tensors = [convert_to_tensor(each) for each in args]
        return self.instantiate([each.dtype for each in tensors])(*tensors, **options)


def _check_count(wanted: int, given: int) -> None:
    if wanted != given:
        raise ValueError(f"Expected number of arguments: {wanted}, received: {given}")


_SHORT = {
    "float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "bool": "b", "string": "s",
    "complex64": "c64", "complex128": "c128", "variant": "v", "resource": "r",
}  # fmt: skip


class DefinedFunction:
    """A function of graphs with types; see `Defun`."""

    def __init__(
        self,
        function: Callable[..., Any],
        names: list[str],
        input_types: list[DType],
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[..., Any] | None = None,
        capture_by_value: bool = False,
        **attrs: Any,
    ) -> None:
        self._function, self._names, self._input_types = function, names, input_types
        self._func_name, self._out_names = func_name, out_names
        self._grad_func, self._python_grad_func = grad_func, python_grad_func
        self._shape_func, self._by_value = shape_func, capture_by_value
        self._attrs = _node_attrs(attrs)
        self._record: Function | None = None
        self._built: Any = None

    @property
    def name(self) -> str:
        """Return the name of the function, which is built if need be."""
        return self._defined().name

    @property
    def definition(self) -> Any:
        """Return the FunctionDef."""
        return function_to_proto(self._defined())

    @property
    def declared_input_types(self) -> tuple[DType, ...]:
        """Return the types of the arguments, captured ones not among them."""
        return tuple(self._input_types)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """Return what the body takes from outside."""
        self._defined()
        return list(self._built.captures)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """Return (name, op) of the stateful nodes of the body."""
        nodes = self._defined().nodes
        library = self._built.graph.library
        return [(n.name, n.op) for n in nodes if library.signature(n.op).stateful]

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        """Return the gradient that is a Python function."""
        return self._python_grad_func

    @property
    def grad_func_name(self) -> str | None:
        """Return the name of the gradient function, None if there is none."""
        return self._grad_func.name if self._grad_func is not None else None

    def set_grad_func(self, grad_func: Any) -> None:
        """Let `grad_func`, a Defun, give the gradients; ValueError if there is one already."""
        if self._grad_func not in (None, grad_func):
            raise ValueError("Function can only be assigned one gradient function")
        self._grad_func = grad_func

    def add_to_graph(self, graph: Graph) -> None:
        """Let nodes of `graph` call this function."""
        with graph.as_default():
            function = self._defined()
        source = self._built.graph
        copy_function(function, source, graph)
        if self._grad_func is not None:
            self._grad_func.add_to_graph(graph)
            graph._function_gradients[function.name] = self._grad_func.name

    def __call__(self, *args: Any, name: str | None = None, **attrs: Any) -> Any:
        """Add a call to the default graph.

        Args:
          *args: the arguments.
          name: of the node; the function's by default.
          **attrs: `noinline`, noted in the node.

        Returns:
          The result, a tuple of several, or the operation if there are none.

        Raises:
          ValueError: there are too many or too few arguments, their types differ, or an option
            is not known.
        """
        self.add_to_graph(scopes.get_default_graph())
        function = self._defined()
        inputs = self._inputs(args)
        op_def = CallOp(function)
        if self._python_grad_func is not None:
            op_def.gradient_rule = self._python_grad_func
        said = {**_CALL_ATTRS, **_node_attrs(attrs)}
        return self._results(add_call(self._built, op_def, name or function.name, inputs, said))

    def _inputs(self, args: Sequence[Any]) -> list[Tensor]:
        """Return the arguments of a call as tensors of the types that are declared."""
        _check_count(len(self._input_types), len(args))
        inputs = [convert_to_tensor(each) for each in args]
        for i, (wanted, given) in enumerate(zip(self._input_types, inputs, strict=True)):
            if given.dtype.base_dtype is not wanted.base_dtype:
                arg = self._defined().signature.inputs[i]
                raise ValueError(
                    f"Input {arg.name!r} passed {given.dtype.base_dtype.name} expected "
                    f"{wanted.name} while building a call of {self.name!r}"
                )
        return inputs

    def _results(self, op: Operation) -> Any:
        if self._shape_func is not None:
            shapes = list(self._shape_func(op))
            if len(shapes) != len(op.outputs):
                raise ValueError(
                    f"shape_func gave {len(shapes)} shapes for {len(op.outputs)} results of "
                    f"{self.name!r}"
                )
            for tensor, shape in zip(op.outputs, shapes, strict=True):
                tensor.set_shape(shape)
        if len(op.outputs) == 1:
            return op.outputs[0]
        return op.outputs or op

    def _as_function(self) -> NameAttrList:
        self.add_to_graph(scopes.get_default_graph())
        return NameAttrList(self.name)

    def _defined(self) -> Function:
        """Return the function, which is built when it is asked for first."""
        if self._record is None:
            label = node_name(self._func_name or self._function.__name__)
            with building(self, label):
                self._built = self._build(label)
            self._record = self._recorded(label, self._built)
            self._built.graph._bodies[self._record.name] = self._built
        return self._record

    def _recorded(self, label: str, built: Built) -> Function:
        """Return the record of what was built, under a name of its own if none was asked for."""
        attrs = {**_CALL_ATTRS, **self._attrs}
        of_arguments: dict[int, dict[str, Any]] = {i: {} for i in range(len(built.inputs))}
        shown = Shown(label, self._out_names or (), attrs=attrs, argument_attrs=of_arguments)
        record = function_of(built.graph.get_operations(), built.inputs, built.outputs, shown)
        if self._func_name is not None:
            return record
        name = f"{label}_{_digest(record)}"
        return record._replace(signature=record.signature._replace(name=name))

    def _build(self, label: str) -> Built:
        graph = FunctionGraph(label, scopes.get_default_graph())
        if self._by_value:
            graph.capture = lambda name, tensor: _copied(graph, tensor)
        with graph.as_default():
            pairs = zip(self._names, self._input_types, strict=True)
            given = [raw.Placeholder(dtype=dtype, shape=None, name=name) for name, dtype in pairs]
            results = _flat(self._function(*given), label)
            outputs = [result_of(graph, each) for each in results]
        captured = [each for each in graph.captures.values() if each.op.type == "Placeholder"]
        if self._by_value:
            captured, graph.captures = [], {}
        if self._out_names and len(self._out_names) != len(outputs):
            raise ValueError(
                f"out_names has {len(self._out_names)} names for {len(outputs)} results"
            )
        return Built(graph, [*given, *captured], outputs, tuple(graph.captures))


def _node_attrs(options: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that options of a Defun, or of a call, become."""
    unknown = sorted(options.keys() - _ATTRS.keys())
    if unknown:
        raise ValueError(f"Unknown keyword arguments: {unknown}")
    return {_ATTRS[key]: bool(value) for key, value in options.items()}


def _flat(given: Any, label: str) -> list[Any]:
    """Return what a body returned as a list."""
    if given is None or isinstance(given, Operation):
        return []
    results = list(given) if isinstance(given, list | tuple) else [given]
    if any(each is None for each in results):
        raise ValueError(f"function {label!r} can not return None in a tuple")
    return results


def _digest(record: Function) -> str:
    """Return a few letters that tell functions of one name but different bodies apart."""
    data = function_to_proto(record).SerializeToString(deterministic=True)
    return hashlib.sha1(data).hexdigest()[:11]


def _copied(graph: FunctionGraph, tensor: Tensor) -> Tensor:
    """Return a copy of `tensor` in the body, made with all that it needs."""
    op = tensor.op
    if op.op_def.is_stateful or op.type == "Placeholder":
        raise ValueError(f"Cannot capture {op.name!r} ({op.type}) by value: it has no fixed one")
    inputs = tuple([graph.inside(graph._name_stack, each) for each in op.inputs])
    name = graph.unique_name(op.name)
    made = build.add_node(graph, op.op_def, name, inputs, dict(op._attrs))
    return made.outputs[tensor.value_index]
