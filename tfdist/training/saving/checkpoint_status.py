"""What `Checkpoint.restore` returns: which objects it has found, and the restoring itself.

In a graph nothing is restored before a session runs it, so objects that are made later, such as an
optimizer's slots, are found as well: each method looks anew.

Source: TF 1.15 API documentation, tf.train.Checkpoint.restore.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tfdist.graph.stacks import session_for
from tfdist.ops.variables.variable import Variable
from tfdist.training.saving.checkpoint_utils import CheckpointReader
from tfdist.training.saving.checkpointed_tables import (
    graph_of,
    has_tensors,
    is_table,
    saved_by_keys,
)
from tfdist.training.saving.saver import Saver
from tfdist.training.saving.trackable import ObjectGraph, PythonState, objects_of, state_name

_LOG = logging.getLogger("tensorflow")


class CheckpointLoadStatus:
    """The result of `Checkpoint.restore` for an object-based checkpoint.

    Args:
      root: the object whose graph is restored.
      path: of the checkpoint.
      reader: of its tensors.
      stored: its TrackableObjectGraph.
    """

    def __init__(self, root: Any, path: str, reader: CheckpointReader, stored: Any) -> None:
        self._root, self._path, self._reader, self._stored = root, path, reader, stored
        self._is_restored: set[int] = set()  # Python states, by identity
        self._savers: dict[tuple[str, ...], Saver] = {}
        self._take_states(self._bound())

    def _bound(self) -> dict[int, Any]:
        """Return the objects that are in the checkpoint, by their numbers there."""
        graph = objects_of(self._root)
        found: dict[int, Any] = {}
        left = [(0, 0)]
        while left:
            stored, own = left.pop()
            if stored in found:
                self._tell_twice(found[stored], graph.nodes[own].value)
                continue
            found[stored] = graph.nodes[own].value
            children = graph.nodes[own].children
            for child in self._stored.nodes[stored].children:
                if child.local_name in children:
                    left.append((child.node_id, children[child.local_name]))
        return found | self._bound_slots(found)

    def _bound_slots(self, found: dict[int, Any]) -> dict[int, Any]:
        slots = {}
        for number, optimizer in found.items():
            for each in self._stored.nodes[number].slot_variables:
                variable = found.get(each.original_variable_node_id)
                if variable is not None:
                    slot = optimizer.get_slot(variable, each.slot_name)
                    if slot is not None:
                        slots[each.slot_variable_node_id] = slot
        return slots

    def _tell_twice(self, first: Any, second: Any) -> None:
        if first is not second:
            _LOG.warning(
                "Inconsistent references when loading the checkpoint into this object graph. "
                "Either the Trackable object references in the Python program have changed in an "
                "incompatible way, or the checkpoint was generated in an incompatible program. "
                "Two checkpoint references resolved to different objects (%s and %s).",
                first, second,
            )  # fmt: skip

    def _take_states(self, bound: dict[int, Any]) -> None:
        """Give objects of Python their states, each once."""
        for number, value in bound.items():
            if isinstance(value, PythonState) and id(value) not in self._is_restored:
                self._is_restored.add(id(value))
                for attribute in self._stored.nodes[number].attributes:
                    value.deserialize(_scalar(self._reader.get_tensor(attribute.checkpoint_key)))

    def _variables(self, bound: dict[int, Any]) -> dict[str, Any]:
        """Return the variables and tables that are in the checkpoint, by their keys there."""
        return {
            attribute.checkpoint_key: value
            for number, value in sorted(bound.items())
            if has_tensors(value)
            for attribute in self._stored.nodes[number].attributes
            if attribute.name == state_name(value)
        }

    # what must be so

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Return this, if all in the checkpoint is in the program, and the other way round.

        Raises:
          AssertionError: it is not.
        """
        self.assert_existing_objects_matched()
        bound = self._bound()
        for number, node in enumerate(self._stored.nodes):
            if number not in bound:
                raise AssertionError(
                    f"Unresolved object in checkpoint {self._name_of(number)}: {node}"
                )
        return self

    def _name_of(self, number: int) -> str:
        for index, node in enumerate(self._stored.nodes):
            for child in node.children:
                if child.node_id == number:
                    return f"{self._name_of(index) if index else '(root)'}.{child.local_name}"
        return "(root)"

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Return this, if all that is in the program is in the checkpoint.

        Raises:
          AssertionError: it is not.
        """
        bound = {id(each) for each in self._bound().values()}
        missing = [
            value for *_, value in objects_of(self._root).tensors() if id(value) not in bound
        ]
        if missing:
            raise AssertionError(
                "Some Python objects were not bound to checkpointed values, likely due to changes "
                f"in the Python program: {missing}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Return this, if anything of the program but its root is in the checkpoint.

        Raises:
          AssertionError: nothing is.
        """
        if len(self._bound()) <= 1:
            raise AssertionError(
                "Nothing except the root object matched a checkpointed value. Typically this means "
                f"that the checkpoint does not match the Python program: {self._path}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Return this; nothing is told of what is not used in any case."""
        return self

    # what restores

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore what is in the checkpoint.

        Args:
          session: the default session by default.
        """
        bound = self._bound()
        self._take_states(bound)
        variables = self._variables(bound)
        if variables:
            session = session_for(session, graph_of(next(iter(variables.values()))))
            self._saver_of(variables).restore(session, self._path)

    def _saver_of(self, variables: dict[str, Any]) -> Saver:
        keys = tuple(variables)
        if keys not in self._savers:
            with graph_of(variables[keys[0]]).as_default():
                self._savers[keys] = Saver(saved_by_keys(variables))
        return self._savers[keys]

    def initialize_or_restore(self, session: Any = None) -> None:
        """Restore what is in the checkpoint, and initialize the other variables.

        Args:
          session: the default session by default.
        """
        self.run_restore_ops(session)
        restored = {id(each) for each in self._variables(self._bound()).values()}
        initialize(objects_of(self._root), session, restored)


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def initialize(graph: ObjectGraph, session: Any, but: Iterable[int] = ()) -> None:
    """Run the initializers of the variables of a graph.

    Args:
      graph: of objects.
      session: the default session by default.
      but: identities of variables that have a value.
    """
    left = [node.value for node in graph.nodes if isinstance(node.value, Variable)]
    left = [each for each in left if id(each) not in but]
    if left:
        session_for(session, left[0].graph).run([each.initializer for each in left])


class InitializationOnlyStatus:
    """The result of `Checkpoint.restore(None)`: variables are initialized only."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def assert_consumed(self) -> None:
        """Fail: nothing is restored."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self) -> InitializationOnlyStatus:
        """Return this."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Fail: nothing is restored."""
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to "
            "Saver.restore)."
        )

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initialize all variables; `session` is the default session by default."""
        initialize(objects_of(self._root), session)


class NameBasedSaverStatus:
    """The result of `Checkpoint.restore` for a checkpoint of `tf.train.Saver`: names count.

    Args:
      root: the object whose variables are restored.
      path: of the checkpoint.
      reader: of its tensors.
    """

    def __init__(self, root: Any, path: str, reader: CheckpointReader) -> None:
        self._root, self._path, self._reader = root, path, reader

    def _named(self) -> dict[str, Any]:
        """Return the variables and tables, by the name that is in the checkpoint for sure."""
        counter = getattr(self._root, "_save_counter", None)
        found = [node.value for node in objects_of(self._root).nodes]
        found = [each for each in found if has_tensors(each) and each is not counter]
        return {f"{e.name}-keys" if is_table(e) else e.op.name: e for e in found}

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Return this, if all variables are in the checkpoint, and the other way round.

        Raises:
          AssertionError: they are not.
        """
        self.assert_existing_objects_matched()
        names = set(self._named())
        names |= {name.removesuffix("-keys") + "-values" for name in names}
        unused = sorted(set(self._reader.get_variable_to_shape_map()) - names)
        if unused:
            raise AssertionError(f"Some values in the checkpoint are not used: {unused}")
        return self

    def assert_existing_objects_matched(self) -> NameBasedSaverStatus:
        """Return this, if all variables are in the checkpoint.

        Raises:
          AssertionError: one is not.
        """
        for name, each in self._named().items():
            if not self._reader.has_tensor(name):
                raise AssertionError(f"Object not restored: {each!r}")
        return self

    def assert_nontrivial_match(self) -> NameBasedSaverStatus:
        """Return this, if any variable is in the checkpoint.

        Raises:
          AssertionError: none is.
        """
        if not any(map(self._reader.has_tensor, self._named())):
            raise AssertionError(f"No variable's name is in the checkpoint {self._path}")
        return self

    def expect_partial(self) -> NameBasedSaverStatus:
        """Return this."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Restore variables and tables, by their names; `session` is the default one by default.

        Raises:
          NotFoundError: one of them is not in the checkpoint.
        """
        found = list(self._named().values())
        if found:
            session = session_for(session, graph_of(found[0]))
            with graph_of(found[0]).as_default():
                keys = [each.name if is_table(each) else each.op.name for each in found]
                saved = saved_by_keys(dict(zip(keys, found, strict=True)))
                Saver(saved).restore(session, self._path)

    initialize_or_restore = run_restore_ops
