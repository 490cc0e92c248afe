"""Ops that call functions, and those that only branches and bodies use.

The first ones do not run as such: a master puts the bodies in the place of the calls
(`plan.functions.inline`). `ToBool` is what an `If` sees in a value that is no bool. `FakeParam` and
`OptionalNone` stand in one branch for a value that only the other branch makes, and that nobody
looks at. At the end stands what makes calls of functions that were built here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from tfdist.base import devices, lazy
from tfdist.base.dtypes import DType
from tfdist.base.shapes import Shape
from tfdist.errors import InvalidArgumentError
from tfdist.graph import build, scopes, variants
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_graph import Built, FunctionGraph
from tfdist.graph.functions import Function, functions_in
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import OpDef
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.variants import Content, Form

_LISTS = "Tin: list(type) >=0; Tout: list(type) >=0"
_CONFIG = "config: string = ''; config_proto: string = ''; executor_type: string = ''"
_CALL = f"[{_LISTS}; f: func; {_CONFIG}]"
_IF = f"Tcond: type; {_LISTS}; then_branch: func; else_branch: func"
_CASE = f"[{_LISTS}; branches: list(func) >=1; output_shapes: list(shape) = []]"
_WHILE = "T: list(type) >=0; cond: func; body: func"
_ROUNDS = "output_shapes: list(shape) = []; parallel_iterations: int = 10"

CALL = OpDef(f"PartitionedCall(args: Tin) -> output: Tout {_CALL}")
STATEFUL_CALL = OpDef(f"StatefulPartitionedCall(args: Tin) -> output: Tout {_CALL} !")
REMOTE_CALL = OpDef(
    "RemoteCall(target: string, args: Tin) -> output: Tout "
    "[Tin: list(type) >=1; Tout: list(type) >=1; f: func] !"
).not_differentiable()
SYMBOLIC_GRADIENT = OpDef(
    "SymbolicGradient(input: Tin) -> output: Tout "
    "[Tin: list(type) >=1; Tout: list(type) >=1; f: func]"
)
IF = OpDef(
    f"If(cond: Tcond, input: Tin) -> output: Tout [{_IF}; output_shapes: list(shape) = []] !"
)
STATELESS_IF = OpDef(
    f"StatelessIf(cond: Tcond, input: Tin) -> output: Tout [{_IF}; output_shapes: list(shape) = []]"
)
EARLY_IF = OpDef(f"_If(cond: Tcond, input: Tin) -> output: Tout [{_IF}] !")
CASE = OpDef(f"Case(branch_index: int32, input: Tin) -> output: Tout {_CASE} !")
STATELESS_CASE = OpDef(f"StatelessCase(branch_index: int32, input: Tin) -> output: Tout {_CASE}")
WHILE = OpDef(f"While(input: T) -> output: T [{_WHILE}; {_ROUNDS}] !")
STATELESS_WHILE = OpDef(f"StatelessWhile(input: T) -> output: T [{_WHILE}; {_ROUNDS}]")
EARLY_WHILE = OpDef(f"_While(input: T) -> output: T [{_WHILE}] !")

# Gradients are functions of the graph themselves; what makes those stands above this file.
_GRADIENTS = {
    "call_gradient": (CALL, STATEFUL_CALL),
    "case_gradient": (CASE, STATELESS_CASE),
    "if_gradient": (IF, STATELESS_IF),
    "second_gradient": (SYMBOLIC_GRADIENT,),
    "while_gradient": (WHILE, STATELESS_WHILE),
}
for _name, _ops in _GRADIENTS.items():
    for _op in _ops:
        _op.gradient(lazy.function("tfdist.ops.autodiff.function_gradients", _name))


@STATEFUL_CALL.shape
@CALL.shape
def call_shape(args: list[Shape], *, Tout: list[DType]) -> list[Shape]:
    return [None] * len(Tout)


@STATELESS_IF.shape
@IF.shape
def if_shape(
    cond: Shape, input: list[Shape], *, Tout: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, Tout)


@STATELESS_CASE.shape
@CASE.shape
def case_shape(
    branch_index: Shape, input: list[Shape], *, Tout: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, Tout)


@STATELESS_WHILE.shape
@WHILE.shape
def while_shape(input: list[Shape], *, T: list[DType], output_shapes: list[Any]) -> list[Shape]:
    """Return what is told, else that rounds leave shapes as they are, as TensorFlow takes it."""
    return _told(output_shapes, T) if output_shapes else input


def _told(output_shapes: list[Any], types: list[DType]) -> list[Shape]:
    if len(output_shapes) != len(types):
        return [None] * len(types)
    return [shape.as_tuple() for shape in output_shapes]


REMOTE_TARGET = OpDef("_RemoteTarget(target: string) -> () !").not_differentiable()


@REMOTE_TARGET.kernel
def remote_target_kernel(ctx: Any, target: Any) -> None:
    """Raise InvalidArgumentError unless `target` names the device that the node runs on."""
    told = (target if isinstance(target, bytes) else target.item()).decode()
    if devices.merge(ctx.device, told) != ctx.device:
        raise InvalidArgumentError(
            f"a function is to run on {told!r}, but its call is on {ctx.device}: a constant must "
            "name another device"
        )


TO_BOOL = OpDef("ToBool(input: T) -> output: bool [T: type]").not_differentiable()


@TO_BOOL.shape
def to_bool_shape(input: Shape) -> Shape:
    return ()


@TO_BOOL.kernel
def to_bool_kernel(input: Any) -> Any:
    """Return whether a scalar is not zero (not empty, if a string), or a tensor has elements."""
    if type(input) is bytes:
        return np.bool_(input != b"")
    return np.bool_(np.size(input) > 0 if np.ndim(input) else bool(input))


FAKE_PARAM = OpDef("FakeParam() -> output: dtype [dtype: type; shape: shape]").not_differentiable()


@FAKE_PARAM.shape
def fake_param_shape(*, shape: Any) -> Shape:
    known: Shape = shape.as_tuple()
    return known


@FAKE_PARAM.kernel
def fake_param_kernel(*, dtype: DType, shape: Any) -> Any:
    """Return a tensor of that type and shape without a value of its own."""
    if not dtype.is_numpy_compatible:
        return None
    dims = [dim or 0 for dim in shape.as_tuple() or ()]
    blank: Any = b"" if dtype.name == "string" else 0
    return np.full(dims, blank, dtype.as_numpy_dtype)


class Optional:
    """The value of an optional.

    Attributes:
      components: tensors, or None.
      shape: of the variant tensor, a scalar.
    """

    __slots__ = ("components",)

    shape = ()

    def __init__(self, components: list[Any] | None) -> None:
        self.components = components

    def zeros_like(self) -> Optional:
        """Raise InvalidArgumentError: there are no zeros of it."""
        raise InvalidArgumentError(f"Input handle is not a list. Saw: {self!r}")

    def __repr__(self) -> str:
        what = "None" if self.components is None else f"{len(self.components)} values"
        return f"<Optional of {what}>"


_IS_THERE = (b"\x00", b"\x01")  # what a message says of an optional without and with a value
_VALUES = "output_types: list(type) >=1; output_shapes: list(shape) >=1"

OPTIONAL_FROM_VALUE = OpDef(
    "OptionalFromValue(components: Toutput_types) -> optional: variant "
    "[Toutput_types: list(type) >=1]"
).not_differentiable()
OPTIONAL_NONE = OpDef("OptionalNone() -> optional: variant").not_differentiable()
OPTIONAL_HAS_VALUE = OpDef(
    "OptionalHasValue(optional: variant) -> has_value: bool"
).not_differentiable()
OPTIONAL_GET_VALUE = OpDef(
    f"OptionalGetValue(optional: variant) -> components: output_types [{_VALUES}]"
).not_differentiable()


@OPTIONAL_FROM_VALUE.shape
def optional_from_value_shape(components: list[Shape]) -> Shape:
    return ()


@OPTIONAL_NONE.shape
def optional_none_shape() -> Shape:
    return ()


@OPTIONAL_HAS_VALUE.shape
def optional_has_value_shape(optional: Shape) -> Shape:
    return ()


@OPTIONAL_GET_VALUE.shape
def optional_get_value_shape(
    optional: Shape, *, output_types: list[DType], output_shapes: list[Any]
) -> list[Shape]:
    return _told(output_shapes, output_types)


def _content_of(optional: Optional) -> Content:
    return Content(_IS_THERE[optional.components is not None], optional.components or ())


def _optional_of(content: Content) -> Optional:
    return Optional(list(content.tensors) if content.metadata == _IS_THERE[True] else None)


variants.register(Optional, Form("tensorflow::data::Optional", _content_of, _optional_of))


@OPTIONAL_FROM_VALUE.kernel
def optional_from_value_kernel(components: list[Any]) -> Optional:
    return Optional(components)


@OPTIONAL_NONE.kernel
def optional_none_kernel() -> Optional:
    return Optional(None)


@OPTIONAL_HAS_VALUE.kernel
def optional_has_value_kernel(optional: Optional) -> Any:
    return np.bool_(optional.components is not None)


@OPTIONAL_GET_VALUE.kernel
def optional_get_value_kernel(optional: Optional) -> list[Any]:
    """Return the tensors; InvalidArgumentError if there are none."""
    if optional.components is None:
        raise InvalidArgumentError("The given optional does not have a value.")
    return optional.components


# nodes that call what was built here

# What is being built: keys that tell functions apart, and their names, the outermost first.
_BUILDING: ContextVar[tuple[tuple[Any, str], ...]] = ContextVar("building", default=())


@contextmanager
def building(key: Any, name: str) -> Iterator[None]:
    """Note that a function is being built.

    Raises:
      ValueError: it is being built already, and asks for itself: that would never end.
    """
    chain = _BUILDING.get()
    keys = [each for each, _ in chain]
    if key in keys:
        names = [each for _, each in chain[keys.index(key) :]]
        raise ValueError(
            f"function {name!r} calls itself: {' -> '.join([*names, name])}. In a graph, calls do "
            "not end by a value that only a step knows; tf.while_loop repeats until one tells"
        )
    token = _BUILDING.set((*chain, (key, name)))
    try:
        yield
    finally:
        _BUILDING.reset(token)


def add_call(
    built: Built, op_def: OpDef, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> Operation:
    """Add a node that calls a function to the default graph.

    Args:
      built: the function; what it takes from outside is added to the inputs.
      op_def: of the node.
      name: of the node, made unique.
      inputs: the arguments.
      attrs: of the node.

    Raises:
      ValueError: what it takes from outside is of another graph.
    """
    graph = scopes.get_default_graph()
    for captured in built.captures:
        if captured.graph.outermost is not graph.outermost:
            raise ValueError(
                f"function {built.graph.name!r} takes {captured!r} of the graph in which it was "
                "defined, and cannot be called in another one"
            )
    inputs = (*inputs, *built.captures)
    with graph.control_dependencies(built.graph.control_captures):
        return build.add_node(graph, op_def, graph.unique_name(name), inputs, attrs)


def result_of(graph: FunctionGraph, value: Any) -> Tensor:
    """Return a value that the Python function behind `graph` gave, as a tensor there.

    Raises:
      TypeError: it is nothing that a tensor can be made of.
    """
    try:
        return graph.inside("", convert_to_tensor(value))
    except TypeError as error:
        raise TypeError(
            f"function {graph.name!r} must return tensors, or values that become some: {error}"
        ) from None


def node_name(text: str) -> str:
    """Return the name of a Python function as one that nodes can have: "<lambda>" is "lambda"."""
    return re.sub("[^A-Za-z0-9_.]", "_", text).lstrip("_") or "function"


def copy_function(function: Function, source: Graph, target: Graph) -> None:
    """Let nodes of `target` call `function`, and what it calls, as those of `source` do."""
    if function.name in target._functions and source is target:
        return
    target.add_function(function, source._function_gradients.get(function.name))
    if function.name in source._bodies:
        target._bodies.setdefault(function.name, source._bodies[function.name])
    called = [each.name for node in function.nodes for value in node.attrs.values()
              for each in functions_in(value)]  # fmt: skip
    called += [node.op for node in function.nodes]
    called += [source._function_gradients.get(function.name, "")]
    for name in called:
        if name in source._functions and name not in target._functions:
            copy_function(source._functions[name], source, target)
