"""Fetches: from whatever structure the user names to flat tensors, and back.

A structure is a Tensor, a SparseTensor, IndexedSlices, an Operation, a Variable, a name, or a list,
tuple, namedtuple or dict of structures. What is rebuilt has the same form, with values for tensors
and None for operations.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tfdist.base.aliases import Structure, TensorValue
from tfdist.base.dtypes import variant
from tfdist.graph.composites import COMPOSITES, Composite
from tfdist.graph.graph import Graph
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.stacks import DefaultSession
from tfdist.session.conversions import Conversion, conversion_of
from tfdist.session.tensor_handles import TensorHandle

Rebuild = Callable[[list[Any]], Any]


class Fetches:
    """A parsed structure.

    Attributes:
      endpoints: (node, output) of the tensors in it, each once.
      targets: names of the operations in it, each once.
      rebuild: function from the tensors' values to the structure of values.
    """

    def __init__(
        self, graph: Graph, structure: Structure, session: DefaultSession | None = None
    ) -> None:
        self._graph = graph
        self._session = session and weakref.ref(session)  # whose fetches these are
        self._places: dict[tuple[str, int], int] = {}
        self._targets: dict[str, None] = {}
        self.rebuild: Rebuild = self._parse(structure)
        self.endpoints = tuple(self._places)
        self.targets = tuple(self._targets)

    def _parse(self, element: Structure) -> Rebuild:
        if isinstance(element, Mapping):
            return self._mapping(element)
        if isinstance(element, list | tuple):
            return self._sequence(element)
        composite = COMPOSITES.get(type(element))
        if composite is not None:
            return self._composite(composite, element)
        conversion = conversion_of(element)
        if conversion is not None:
            return self._converted(conversion, element)
        found = self._find(element)
        if isinstance(found, Operation):
            self._targets[found.name] = None
            return lambda values: None
        return self._tensor(found)

    def _tensor(self, tensor: Tensor) -> Rebuild:
        endpoint = (tensor.op.name, tensor.value_index)
        place = self._places.setdefault(endpoint, len(self._places))
        session = self._session
        if session and tensor.op.type == "GetSessionHandle":
            dtype = tensor.op.inputs[0].dtype.base_dtype
            return lambda values: TensorHandle(values[place].decode(), dtype, session())
        if tensor.dtype.base_dtype.is_quantized:  # whose numbers are plain outside of graphs
            name = tensor.dtype.base_dtype.name
            return lambda values: values[place][name]
        return lambda values: values[place]

    def _mapping(self, element: Mapping[Structure, Structure]) -> Rebuild:
        parts = {key: self._parse(value) for key, value in element.items()}

        def rebuild(values: list[TensorValue]) -> Structure:
            # a copy keeps what a subclass of dict has besides its items
            made = copy.copy(element) if isinstance(element, dict) else {}
            made.update((key, part(values)) for key, part in parts.items())
            return made

        return rebuild

    def _sequence(self, element: Structure) -> Rebuild:
        parts = [self._parse(each) for each in element]
        if hasattr(element, "_fields"):  # a namedtuple
            kind = type(element)
            return lambda values: kind(*[part(values) for part in parts])
        if isinstance(element, tuple):
            return lambda values: tuple([part(values) for part in parts])
        return lambda values: [part(values) for part in parts]

    def _composite(self, composite: Composite, element: Structure) -> Rebuild:
        parts = [
            _nothing if part is None else self._parse(part) for part in composite.parts(element)
        ]
        return lambda values: composite.value(*[part(values) for part in parts])

    def _converted(self, conversion: Conversion, element: Structure) -> Rebuild:
        fetches, value = conversion.fetch(element)
        parts = [self._parse(each) for each in fetches]
        return lambda values: value([part(values) for part in parts])

    def _find(self, element: Structure) -> Tensor | Operation:
        try:
            found: Tensor | Operation = self._graph.as_graph_element(element)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {element!r} has invalid type {type(element)}: {error}"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {element!r} cannot be interpreted as a Tensor: {error.args[0]}"
            ) from None
        if not self._graph.is_fetchable(found) or _is_opaque(found):
            raise ValueError(f"{found.name!r} may not be fetched{_reason(found)}")
        return found


def _nothing(values: list[TensorValue]) -> None:
    """Rebuild a part that is not there."""


def _is_opaque(found: Tensor | Operation) -> bool:
    return isinstance(found, Tensor) and found.dtype.base_dtype is variant


def _reason(found: Tensor | Operation) -> str:
    """Return why something may not be fetched, as far as the graph tells."""
    op = found.op if isinstance(found, Tensor) else found
    if _is_opaque(found):
        return (
            ": it is a variant, such as a list of tensors, which NumPy has no form for; fetch what "
            "an op such as TensorListStack or OptionalGetValue makes of it"
        )
    if op._context is None:
        return ""
    return (
        ": it is inside of a branch or a loop, and may have no value, or many; fetch what the "
        "tf.cond or tf.while_loop returned"
    )


def structure_key(element: Structure) -> Hashable:
    """Return a key that two structures share only if they fetch the same things in one form."""
    kind = type(element)
    if kind is list or kind is tuple:
        return (kind, *[structure_key(each) for each in element])
    if isinstance(element, Mapping):
        return (kind, *[(key, structure_key(each)) for key, each in element.items()])
    if isinstance(element, tuple):
        return (kind, *[structure_key(each) for each in element])
    return element  # type: ignore[no-any-return]
