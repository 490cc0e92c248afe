"""`OpDefLibrary` and the registry of ops as messages, for programs that add nodes by an op's name.

Source: TF 1.15, tensorflow.python.framework.op_def_library and op_def_registry.
"""

from __future__ import annotations

from typing import Any

from tfdist.graph.op_def import REGISTRY, lookup
from tfdist.graph.op_list import op_to_proto
from tfdist.protos import pb

__all__ = ["OpDefLibrary", "apply_op", "get_registered_ops", "register_op_list"]


_OTHERS: dict[str, Any] = {}  # messages that programs registered


def get_registered_ops() -> dict[str, Any]:
    """Return the OpDef messages of all ops by name."""
    return {**_OTHERS, **{name: op_to_proto(name) for name in REGISTRY}}


def register_op_list(op_list: Any) -> None:
    """Take note of the messages of an OpList, of ops that are here or not.

    Raises:
      ValueError: another message of that name is known.
    """
    for op_def in op_list.op:
        known = _OTHERS.get(op_def.name)
        if known is not None and known != op_def:
            raise ValueError(
                f"Registered op_def for {op_def.name} ({known}) not equal to op_def to register "
                f"({op_def})"
            )
        _OTHERS[op_def.name] = op_def


class OpDefLibrary:
    """The ops that are here, under the name of a library that programs fill.

    Example:
      >>> OpDefLibrary().apply_op("Add", x=constant(1), y=2, name="sum").op.name
      'sum'
    """

    def __init__(self) -> None:
        self._added: set[str] = set()

    def add_op(self, op_def: Any) -> None:
        """Take an OpDef; nodes can be made of it only if its op is here too.

        Raises:
          TypeError: it is no OpDef.
          ValueError: it has no name.
          RuntimeError: this library has it already.
        """
        if not isinstance(op_def, pb.OpDef) and type(op_def).__name__ != "OpDef":
            raise TypeError(f"{op_def!r} is {type(op_def).__name__}, not an op_def_pb2.OpDef")
        if not op_def.name:
            raise ValueError(f"{op_def} missing name.")
        if op_def.name in self._added:
            raise RuntimeError(f"Op name {op_def.name} registered twice.")
        self._added.add(op_def.name)

    def add_op_list(self, op_list: Any) -> None:
        """Take all ops of an OpList, as `add_op`."""
        for op_def in op_list.op:
            self.add_op(op_def)

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        """Add a node; inputs and attributes are given by name.

        Raises:
          RuntimeError: there is no such op.
          TypeError: an input or attribute is missing, unknown, or of the wrong type.
          ValueError: one does not fit otherwise; or the op was added, but is not here.
        """
        if op_type_name not in REGISTRY and op_type_name not in self._added:
            raise RuntimeError(f"Unrecognized Op name {op_type_name}")
        if op_type_name not in REGISTRY:
            raise ValueError(
                f"Op type not registered {op_type_name!r} among the {len(REGISTRY)} ops of this "
                "process: its OpDef was added, which makes no op; compose its nodes of other ops"
            )
        return lookup(op_type_name)(name=name, **keywords)


apply_op = OpDefLibrary().apply_op
