"""Scaffold: the operations around a model that initialise, check, save and summarise it.

Source: TF 1.15 API documentation, tf.train.Scaffold.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Self

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.boolean_mask import boolean_mask
from tfdist.ops.array.concat import concat
from tfdist.ops.control_flow.identity_group import group, no_op
from tfdist.ops.lookup.table_initializers import tables_initializer
from tfdist.ops.math.comparison import logical_not
from tfdist.ops.summary.summaries import merge_all
from tfdist.ops.variables.collections import (
    GraphKeys,
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tfdist.training.saving.saver import Saver

__all__ = ["Scaffold"]

_LOG = logging.getLogger("tensorflow")


class Scaffold:
    """The parts that a monitored session needs besides the model.

    A part that is not given is taken from its collection of the graph, or made, and added to that,
    by `finalize`.

    Args:
      init_op: initialises the variables.
      init_feed_dict: fed to `init_op`.
      init_fn: called as `init_fn(scaffold, session)` after `init_op`.
      ready_op: gives the names of variables that have no value yet.
      ready_for_local_init_op: the same, of what `local_init_op` needs.
      local_init_op: initialises local variables and tables, in every session.
      summary_op: gives all summaries, merged.
      saver: Saver of the checkpoints.
      copy_from_scaffold: a Scaffold, whose parts are taken where none are given.

    Raises:
      TypeError: `copy_from_scaffold` is none.

    Example:
      >>> v = Variable(1.0)
      >>> scaffold = Scaffold(init_op=assign(v, 8.0))
      >>> creator = ChiefSessionCreator(scaffold)
      >>> with MonitoredSession(creator) as session:
      ...     session.run(v)
      np.float32(8.0)
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(name: str, value: Any) -> Any:
            return value if value is not None else getattr(copy_from_scaffold, f"_{name}", None)

        self._init_op = given("init_op", init_op)
        self._init_feed_dict = given("init_feed_dict", init_feed_dict)
        self._ready_op = given("ready_op", ready_op)
        self._ready_for_local_init_op = given("ready_for_local_init_op", ready_for_local_init_op)
        self._local_init_op = given("local_init_op", local_init_op)
        self._summary_op = given("summary_op", summary_op)
        self._saver = given("saver", saver)
        self._user_init_fn = given("user_init_fn", init_fn)

    @property
    def init_op(self) -> Any:
        """Return what initialises the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """Return what is fed to `init_op`."""
        return self._init_feed_dict

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """Return what is called with a session after `init_op`."""
        function = self._user_init_fn
        return (lambda session: function(self, session)) if function else None

    @property
    def ready_op(self) -> Any:
        """Return what names the variables without values."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """Return what names the variables that `local_init_op` misses."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Return what initialises local variables and tables."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """Return what gives all summaries; None if there are none."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """Return the Saver."""
        return self._saver

    def finalize(self) -> Self:
        """Take or make the parts that are missing, and let nobody add to the graph any more."""
        for name, make in _PARTS.items():
            if getattr(self, f"_{name}") is None:
                part = Scaffold.get_or_default(name, getattr(GraphKeys, name.upper()), make)
                setattr(self, f"_{name}", part)
        if self._saver is None:
            self._saver = default_saver()
        if isinstance(self._saver, Saver):
            self._saver.build()
        scopes.get_default_graph().finalize()
        _LOG.info("Graph was finalized.")
        return self

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """Return what stands in a collection; what `default_constructor` makes, if nothing does.

        Raises:
          RuntimeError: there are several to choose from.
        """
        found = scopes.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                "one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            scopes.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """Return what initialises local variables, tables and local resources."""
        return group(
            local_variables_initializer(),
            tables_initializer(),
            _initialize(scopes.get_collection(GraphKeys.LOCAL_RESOURCES)),
        )


def default_saver() -> Any:
    """Return the saver of the default graph; a new one, kept in the graph, if there is none.

    Raises:
      RuntimeError: there are several to choose from.
    """

    def make() -> Any:
        return Saver(sharded=True, allow_empty=True)

    return Scaffold.get_or_default("saver", GraphKeys.SAVERS, make)


def _initialize(resources: Iterable[Any]) -> Operation:
    """Return an operation that makes resources: tuples of handle, maker, and "is it made?"."""
    makers = [resource.create for resource in resources]
    return group(*makers, name="init") if makers else no_op(name="init")


def _init_op() -> Operation:
    resources = scopes.get_collection(GraphKeys.RESOURCES)
    return group(global_variables_initializer(), _initialize(resources))


def _ready_op() -> Tensor:
    resources = _collected(GraphKeys.RESOURCES, GraphKeys.LOCAL_RESOURCES)
    return concat([report_uninitialized_variables(), _uninitialized(resources)], 0)


def _ready_for_local_init_op() -> Tensor:
    variables = report_uninitialized_variables(global_variables())
    return concat([variables, _uninitialized(_collected(GraphKeys.RESOURCES))], 0)


def _collected(*keys: str) -> list[Any]:
    return [each for key in keys for each in scopes.get_collection(key)]


def _uninitialized(resources: list[Any]) -> Tensor:
    """Return the names of resources that are not made yet."""
    with scopes.name_scope("report_uninitialized_resources"):
        if not resources:
            return convert_to_tensor([], dtypes.string)
        names = convert_to_tensor([resource.handle.name for resource in resources])
        made = convert_to_tensor([resource.is_initialized for resource in resources])
        return boolean_mask(names, logical_not(made))


# Part -> what makes it, in the order in which their nodes are made.
_PARTS: dict[str, Callable[[], Any]] = {
    "init_op": _init_op,
    "ready_op": _ready_op,
    "ready_for_local_init_op": _ready_for_local_init_op,
    "local_init_op": Scaffold.default_local_init_op,
    "summary_op": merge_all,
}
