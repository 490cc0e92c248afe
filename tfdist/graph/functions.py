"""Functions of a graph: bodies with a signature, which nodes call by name.

A `Function` is what a FunctionDef message says, as a plain record. In it an input of a node is
spelled as there: an argument ("x"), or an output of a node by its op's name for it ("mul:z:0").
`body_of` settles this for one call: attributes that the caller gives are put in, and inputs become
(node, output index), with ("", i) for the i-th argument.

Source: TF 1.15 API, tensorflow/core/framework/function.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tfdist.base import lazy
from tfdist.base.aliases import AttrValue
from tfdist.base.dtypes import DType
from tfdist.errors import InvalidArgumentError, NotFoundError
from tfdist.graph.op_def import OpDef, lookup
from tfdist.graph.records import Node
from tfdist.graph.signatures import Arg, Signature, walk_args

Endpoint = tuple[str, int]

MOST_TENSORS = 1 << 20  # that a node takes or gives: its lists of types are made
WHOLE = -1  # the index in an input that means all tensors of a list
ARGUMENT = ""  # the node that an input of a body names to say: the argument of that index


class NameAttrList(NamedTuple):
    """A function as the value of an attribute.

    Attributes:
      name: of the function.
      attrs: values for the attributes of its signature, where it has any.
    """

    name: str
    attrs: Mapping[str, Any] = {}


class Given(NamedTuple):
    """The value of an attribute inside a function that its caller gives: the attribute `name`."""

    name: str


class Function(NamedTuple):
    """A function.

    Attributes:
      signature: its name, arguments and results, and the attributes that a caller gives.
      nodes: of its body; an input is ("x", i), ("node:output", i), or with index WHOLE a list.
      results: for each output of the signature, what is returned, spelled as an input is.
      control_results: for each control output of the signature, the node that it is.
      attrs: of the function itself, such as `_noinline`.
      argument_attrs: attributes of arguments, by their index.
    """

    signature: Signature
    nodes: tuple[Node, ...]
    results: Mapping[str, Endpoint]
    control_results: Mapping[str, str] = {}
    attrs: Mapping[str, Any] = {}
    argument_attrs: Mapping[int, Mapping[str, Any]] = {}

    @property
    def name(self) -> str:
        """Return the name by which nodes call it."""
        return self.signature.name


class Library(NamedTuple):
    """The functions of a graph.

    Attributes:
      functions: by name.
      gradients: for each function that has one, the name of its gradient function, which takes
        its arguments and the gradients of its results, and gives those of its arguments.
    """

    functions: Mapping[str, Function] = {}
    gradients: Mapping[str, str] = {}

    def merged(self, other: Library) -> Library:
        """Return both; what this one has already stays as it is."""
        if not other.functions and not other.gradients:
            return self
        return Library({**other.functions, **self.functions}, {**other.gradients, **self.gradients})

    def find(self, name: str) -> Function:
        """Return the function `name`; InvalidArgumentError if it is not there."""
        try:
            return self.functions[name]
        except KeyError:
            known = ", ".join(sorted(self.functions)[:8]) or "none"
            raise InvalidArgumentError(
                f"function {name!r} is not in the graph's library, which has {known}"
            ) from None

    def signature(self, op: str) -> Signature:
        """Return the signature of an op, or of the function that a node calls as its op."""
        found = self.functions.get(op)
        return lookup(op).signature if found is None else found.signature


NO_FUNCTIONS = Library()


@lazy.supplied_by("tfdist.ops.autodiff.function_gradients", "gradient_rule")
class CallOp(OpDef):
    """The op of nodes that call a function by having its name as their op.

    It belongs to a graph, not to the registry.
    """

    gradient_rule: Any

    def __init__(self, function: Function) -> None:
        self.function = function
        self.text = self.name = function.name
        self.keeps_inputs = False
        self.takes_threads = ""
        self.shape_rule = None
        self.kernels = {}
        self.differentiable = True
        self.signature = function.signature


def calls_functions(op_def: OpDef) -> bool:
    """Return whether nodes of `op_def` call functions."""
    if isinstance(op_def, CallOp):
        return True
    return any(attr.type.endswith(("func", "func)")) for attr in op_def.signature.attrs.values())


# Makes the gradient function of a function that has none; gives its name, and the library with it.
make_gradient: Callable[[NameAttrList, Library], tuple[str, Library]] = lazy.function(
    "tfdist.ops.autodiff.function_gradients", "make_gradient"
)


class Body(NamedTuple):
    """A function as one call of it sees it.

    Attributes:
      inputs: types of the arguments.
      outputs: types of the results.
      nodes: with inputs from each other, or from an argument i as ("", i); a control input from
        an argument is ":i".
      results: where each result comes from.
      control_results: nodes that run whether or not a result needs them.
    """

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    nodes: tuple[Node, ...]
    results: tuple[Endpoint, ...]
    control_results: tuple[str, ...]


def body_of(function: Function, attrs: Mapping[str, AttrValue], library: Library) -> Body:
    """Return what a call of `function` with `attrs` runs.

    Args:
      function: which one.
      attrs: values for the attributes of its signature.
      library: knows the functions that it calls.

    Raises:
      InvalidArgumentError: the body does not fit together, or an attribute is missing.
      NotFoundError: an op of the body is not known here.
    """
    values = {name: attr.default for name, attr in function.signature.attrs.items()}
    try:
        return _Settler(function, {**values, **attrs}, library).body()
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"function {function.name!r} does not fit: {error}") from None
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"function {function.name!r}: {error.message}") from None


class _Settler:
    """Settles the body of a function for one call."""

    def __init__(
        self, function: Function, values: Mapping[str, AttrValue], library: Library
    ) -> None:
        self._function, self._values, self._library = function, values, library
        self._places: dict[str, list[Endpoint]] = {}

    def body(self) -> Body:
        """Return the body; errors of any kind tell that it does not fit together."""
        signature = self._function.signature
        inputs = self._place(signature.inputs, self._values, ARGUMENT, "")
        nodes = [self._with_attrs(node) for node in self._function.nodes]
        self._names = {node.name for node in nodes}
        if len(self._names) != len(nodes):
            raise InvalidArgumentError("two of its nodes have one name")
        for node in nodes:
            outputs = self._library.signature(node.op).outputs
            self._place(outputs, node.attrs, node.name, f"{node.name}:")
        results = [each for arg in signature.outputs for each in self._result(arg)]
        return Body(
            inputs,
            tuple([dtype for _, dtype in walk_args(signature.outputs, self._values)]),
            tuple([self._with_inputs(node) for node in nodes]),
            tuple(results),
            tuple([self._control(name) for name in self._function.control_results.values()]),
        )

    def _place(
        self, args: Iterable[Arg], attrs: Mapping[str, AttrValue], node: str, prefix: str
    ) -> tuple[DType, ...]:
        """Note where tensors of `args` are found, by what they are called in inputs."""
        types: list[DType] = []
        for arg in args:
            _check_described(arg, attrs)
            found = arg.dtypes(attrs)
            self._places[prefix + arg.name] = [(node, len(types) + i) for i in range(len(found))]
            types += found
        return tuple(types)

    def _with_attrs(self, node: Node) -> Node:
        attrs = {key: settled(value, self._values) for key, value in node.attrs.items()}
        for attr in self._library.signature(node.op).attrs.values():
            if attr.has_default:
                attrs.setdefault(attr.name, attr.default)
            elif attr.name not in attrs:
                raise NotFoundError(f"node {node.name!r} ({node.op}) lacks {attr.name!r}")
        return node._replace(attrs=attrs)

    def _with_inputs(self, node: Node) -> Node:
        inputs = tuple([each for endpoint in node.inputs for each in self._resolved(*endpoint)])
        return node._replace(inputs=inputs, control=tuple(map(self._control, node.control)))

    def _resolved(self, text: str, index: int) -> list[Endpoint]:
        places = self._places.get(text)
        if places is None:
            raise InvalidArgumentError(f"nothing in it is called {text!r}")
        if index == WHOLE:
            return places
        if not 0 <= index < len(places):
            raise InvalidArgumentError(f"{text!r} has {len(places)} tensors, {index} is asked for")
        return [places[index]]

    def _control(self, name: str) -> str:
        if name in self._names:
            return name
        return f":{self._resolved(name, 0)[0][1]}"

    def _result(self, arg: Arg) -> list[Endpoint]:
        if arg.name not in self._function.results:
            raise InvalidArgumentError(f"nothing is returned for its output {arg.name!r}")
        found = self._resolved(*self._function.results[arg.name])
        if len(found) != arg.count(self._values):
            raise InvalidArgumentError(f"{len(found)} tensors are returned for {arg.name!r}")
        return found


def _check_described(arg: Arg, attrs: Mapping[str, AttrValue]) -> None:
    """Raise TypeError unless the attributes that describe an input or output do so."""
    if arg.type_list:
        _check_describes(arg, arg.type_list, _is_type_list(attrs.get(arg.type_list)), "types")
    elif isinstance(arg.type, str):
        _check_describes(arg, arg.type, isinstance(attrs.get(arg.type), DType), "a type")
    if arg.number:
        number = attrs.get(arg.number)
        fits = isinstance(number, int) and 0 <= number <= MOST_TENSORS
        _check_describes(arg, arg.number, fits, "a number of tensors")


def _is_type_list(value: AttrValue) -> bool:
    return isinstance(value, list) and all([isinstance(each, DType) for each in value])


def _check_describes(arg: Arg, attribute: str, fits: bool, wanted: str) -> None:
    if not fits:
        raise TypeError(
            f"{arg.name!r} is described by the attribute {attribute!r}, which is not {wanted}"
        )


def is_same(first: AttrValue, second: AttrValue) -> bool:
    """Return whether two functions, or parts of them, say the same."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return type(first) is type(second) and bool(
            first.dtype == second.dtype and first.shape == second.shape and (first == second).all()
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(is_same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and type(first) is type(second):
        return len(first) == len(second) and all(map(is_same, first, second))
    return bool(first == second)


def settled(value: AttrValue, values: Mapping[str, AttrValue]) -> AttrValue:
    """Return an attribute's value with what the caller gives put in.

    Raises:
      InvalidArgumentError: the caller does not give it.
    """
    match value:
        case Given(name):
            if values.get(name) is None:
                raise InvalidArgumentError(f"its attribute {name!r} is not given")
            return values[name]
        case NameAttrList(name, attrs):
            return NameAttrList(name, {key: settled(each, values) for key, each in attrs.items()})
        case list():
            return [settled(each, values) for each in value]
    return value


def functions_in(value: AttrValue) -> Iterator[NameAttrList]:
    """Yield the functions that an attribute's value names."""
    if isinstance(value, NameAttrList):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from functions_in(each)


def as_name_attr_list(value: AttrValue) -> NameAttrList:
    """Return the function that `value` is or names; TypeError if it is none.

    Args:
      value: a name, a NameAttrList, or an object that can be called in graphs, such as a Defun,
        which then puts its function into the default graph.
    """
    if isinstance(value, NameAttrList):
        return value
    if isinstance(value, str | bytes):
        return NameAttrList(value.decode() if isinstance(value, bytes) else value)
    if hasattr(value, "_as_function"):
        return value._as_function()  # type: ignore[no-any-return]
    raise TypeError(f"expected a function or its name, got {value!r}")
