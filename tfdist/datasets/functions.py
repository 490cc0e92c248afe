"""Python functions that pipelines apply to elements, traced into functions of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tfdist.datasets import structure as structures
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import NameAttrList
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.ops.autograph.converting import converted
from tfdist.ops.functions.defun import copy_function
from tfdist.ops.functions.traced_functions import ordered
from tfdist.ops.sparse.sparse_tensor import SparseTensor

_NUMBERS = itertools.count(1)  # functions of one process have different names


class TracedFunction:
    """A Python function of an element.

    Attributes:
      function: its name in the graph.
      structure: of its results.
      captured: the tensors that it takes from outside: its last arguments.

    Args:
      func: the Python function, which may decide by tensors (`ops.autograph`). A tuple comes to it
        as several arguments.
      label: what applies it, such as "Dataset.map()".
      given: the structure of its argument.

    Raises:
      TypeError: it returns what can be no element.
    """

    def __init__(self, func: Callable[..., Any], label: str, given: Any) -> None:
        if not callable(func):
            raise ValueError("Argument must be callable")
        self._func, self._label = converted(func), label
        outer = scopes.get_default_graph()
        name = f"{_plain(label)}_{_name_of(func)}"
        graph = FunctionGraph(name, outer, named_by_tensor=True)
        specs = structures.flatten(given)
        with graph.as_default():
            inside = [_argument(spec, i) for i, spec in enumerate(specs)]
            results = self._results(given, inside)
            awaited = ordered(graph, ())
            with graph.control_dependencies(awaited):
                outputs = [raw.Identity(graph.inside("", each)) for each in results]
        self.captured = tuple(graph.captures)
        built = Built(graph, [*inside, *graph.captures.values()], outputs, self.captured)
        shown = Shown(
            f"__inference_{name}_{next(_NUMBERS)}",
            control_outputs=awaited,
            argument_attrs={
                i: {"_user_specified_name": f"args_{i}".encode()} for i in range(len(specs))
            },
        )
        record = function_of(graph.get_operations(), built.inputs, built.outputs, shown)
        graph._bodies[record.name] = built
        copy_function(record, graph, outer)
        self.function = NameAttrList(record.name)

    def _results(self, given: Any, inside: list[Tensor]) -> list[Tensor]:
        """Call the Python function; returns its results as tensors, and notes their structure."""
        element = structures.packed(given, inside)
        returned = self._func(*element) if type(element) is tuple else self._func(element)
        if isinstance(returned, list):
            returned = tuple(returned)
        found = structures.map_leaves(self._leaf, returned)
        self.structure = structures.map_leaves(structures.spec_of, found)
        return structures.tensors_of(found)

    def _leaf(self, value: Any) -> Any:
        if hasattr(value, "_variant_tensor") or isinstance(value, SparseTensor):
            return value
        try:
            return convert_to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"Unsupported return value from function passed to {self._label}: {value}."
            ) from None


def _argument(spec: Any, number: int) -> Tensor:
    [dtype], [shape] = structures.flat_attrs(spec).values()
    made: Tensor = raw.Placeholder(dtype=dtype, shape=shape, name=f"args_{number}")
    return made


def _plain(label: str) -> str:
    return label.removesuffix("()").replace(".", "_")


def _name_of(func: Callable[..., Any]) -> str:
    name = getattr(func, "__name__", None) or type(func).__name__
    return str(name)
