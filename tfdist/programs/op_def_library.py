"""`OpDefLibrary` and the registry of ops as messages, for programs that add nodes by an op's name.

Source: TF 1.15, tensorflow.python.framework.op_def_library and op_def_registry.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import REGISTRY, lookup
from tfdist.graph.op_list import op_to_proto
from tfdist.protos import pb

__all__ = ["OpDefLibrary", "apply_op", "get_registered_ops", "register_op_list"]


def get_registered_ops() -> dict[str, Any]:
    """Return the OpDef messages of all ops by name."""
    return {name: op_to_proto(name) for name in REGISTRY}


def register_op_list(op_list: Any) -> None:
    """Check that all ops of an OpList are here; NotFoundError if one is not."""
    for op in op_list.op:
        lookup(op.name)


class OpDefLibrary:
    """The ops that are here, under the name of a library that programs fill.

    Example:
      >>> OpDefLibrary().apply_op("Add", x=constant(1), y=2, name="sum").op.name
      'sum'
    """

    def add_op(self, op_def: Any) -> None:
        """Check that an OpDef's op is here; NotFoundError if it is not.

        Raises:
          TypeError: it is no OpDef.
        """
        if not isinstance(op_def, pb.OpDef) and type(op_def).__name__ != "OpDef":
            raise TypeError(f"{op_def!r} is {type(op_def).__name__}, not an op_def_pb2.OpDef")
        lookup(op_def.name)

    def add_op_list(self, op_list: Any) -> None:
        """Check that all ops of an OpList are here; NotFoundError if one is not."""
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Add a node; inputs and attributes are given by name.

        Raises:
          RuntimeError: there is no such op.
          TypeError: an input or attribute is missing, unknown, or of the wrong type.
          ValueError: one does not fit otherwise.
        """
        if op_type_name not in REGISTRY:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        return lookup(op_type_name)(name=name, **keywords)


apply_op = OpDefLibrary().apply_op
