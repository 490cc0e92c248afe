"""The parts of a supervisor: what it is given, what its graph has, or what is made for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.lookup.table_initializers import tables_initializer
from tfdist.ops.summary.summaries import merge_all
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tfdist.training.global_step import get_global_step
from tfdist.training.sessions.scaffold import default_saver

USE_DEFAULT = 0


class SupervisorParts:
    """The parts that operations of the graph are, each of them read-only.

    Args:
      given: by name what was given: `USE_DEFAULT` for what the graph has, or is made.
    """

    _ready_op: Any
    _ready_for_local_init_op: Any
    _init_op: Any
    _local_init_op: Any
    _saver: Any
    _summary_op: Any
    _global_step: Any

    def __init__(self, given: dict[str, Any]) -> None:
        for name, (key, make) in _PARTS.items():
            setattr(self, f"_{name}", _part(given[name], key, make))

    @property
    def ready_op(self) -> Any:
        """Return what names the variables without values."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Return what names the variables that the local ones miss."""
        return self._ready_for_local_init_op

    @property
    def init_op(self) -> Any:
        """Return what initialises the variables."""
        return self._init_op

    @property
    def saver(self) -> Any:
        """Return the Saver."""
        return self._saver

    @property
    def summary_op(self) -> Any:
        """Return what gives all summaries."""
        return self._summary_op

    @property
    def global_step(self) -> Any:
        """Return the global step."""
        return self._global_step


def is_default(given: Any) -> bool:
    return isinstance(given, int) and given == USE_DEFAULT


def _part(given: Any, collection: str, make: Callable[[], Any]) -> Any:
    """Return what is given; by default the first of a collection, or what `make` makes for it."""
    if not is_default(given):
        return given
    found = scopes.get_collection(collection)
    if found:
        return found[0]
    made = make()
    if made is not None and not scopes.get_collection(collection):
        scopes.add_to_collection(collection, made)
    return made


def _local_init_op() -> Any:
    return group(local_variables_initializer(), tables_initializer())


def _saver() -> Any:
    return default_saver() if global_variables() else None


def check_devices(graph: Graph) -> None:
    """Raise ValueError if a variable has no device: replicas would not share it."""
    for op in graph.get_operations():
        if op.type in ("Variable", "VariableV2") and not op.device:
            raise ValueError(
                "When using replicas, all Variables must have their device set: "
                f'name: "{op.name}". Make it inside '
                "`with tf.device(tf.train.replica_device_setter(cluster=...))`."
            )


# Part -> its collection, and what makes it, in the order in which their nodes are made.
_PARTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "ready_op": (GraphKeys.READY_OP, report_uninitialized_variables),
    "ready_for_local_init_op": (GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None),
    "init_op": (GraphKeys.INIT_OP, global_variables_initializer),
    "local_init_op": (GraphKeys.LOCAL_INIT_OP, _local_init_op),
    "saver": (GraphKeys.SAVERS, _saver),
    "summary_op": (GraphKeys.SUMMARY_OP, merge_all),
    "global_step": (GraphKeys.GLOBAL_STEP, get_global_step),
}
