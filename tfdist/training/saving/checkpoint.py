"""Checkpoint: objects and their variables to a file and back, by how they refer to each other.

Source: TF 1.15 API documentation, tf.train.Checkpoint.
"""

from __future__ import annotations

import os
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.graph.stacks import session_for
from tfdist.ops.array.constants import placeholder
from tfdist.ops.io.saveable_object import SaveableObject, SaveSpec
from tfdist.ops.variables.variable import Variable
from tfdist.training.saving.checkpoint_management import write_state
from tfdist.training.saving.checkpoint_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
)
from tfdist.training.saving.checkpoint_utils import load_checkpoint
from tfdist.training.saving.checkpointed_tables import graph_of, has_tensors, saved_by_keys
from tfdist.training.saving.object_graphs import OBJECT_GRAPH, stored_graph
from tfdist.training.saving.saver import Saver
from tfdist.training.saving.trackable import Trackable, is_trackable, objects_of

__all__ = ["Checkpoint"]


class Checkpoint(Trackable):
    """Keeps objects in files: variables, layers, optimizers, tables, other Checkpoints, by name.

    What an object refers to is found anew for each file: attributes, lists and dicts of objects.

    Args:
      **kwargs: the objects, which are attributes of the Checkpoint from then on.

    Raises:
      ValueError: one of them has nothing to keep.

    Example:
      >>> import tempfile
      >>> v = Variable(1.0, name="v")
      >>> checkpoint = train.Checkpoint(v=v)
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     path = checkpoint.save(f"{tempfile.mkdtemp()}/model")
      ...     session.run(v.assign(2.0))
      ...     checkpoint.restore(path).assert_consumed().run_restore_ops()
      ...     float(session.run(v))
      np.float32(2.0)
      1.0
    """

    def __init__(self, **kwargs: Any) -> None:
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError(
                    "`Checkpoint` was expecting a trackable object (an object derived from "
                    f"`TrackableBase`), got {value}. Variables, layers, optimizers, "
                    "tables, other Checkpoints and tf.train.experimental.PythonState are; lists "
                    "and dicts of these can be set as attributes afterwards."
                )
            setattr(self, name, value)
        self._own = _Nodes()

    @property
    def save_counter(self) -> Any:
        """Return the variable that counts what `save` has written."""
        return self._made_counter()

    def _made_counter(self) -> Any:
        if "save_counter" not in vars(self):
            with scopes.init_scope(), scopes.device("/cpu:0"):
                self.__dict__["save_counter"] = Variable(
                    0, trainable=False, name="save_counter", dtype=dtypes.int64, use_resource=True
                )
        return self.__dict__["save_counter"]

    @property
    def _save_counter(self) -> Any:
        return vars(self).get("save_counter")

    def write(self, file_prefix: str, session: Any = None) -> str:
        """Write the objects to a file; returns its path, `file_prefix`.

        Nothing is counted, and the file `checkpoint` beside it does not tell of it.

        Args:
          file_prefix: the path.
          session: that has the values; the default session by default.
        """
        graph = objects_of(self)
        keys = {key: value for _, _, key, value in graph.tensors()}
        default = next((graph_of(each) for each in keys.values() if has_tensors(each)), None)
        session = session_for(session, default or scopes.get_default_graph())
        os.makedirs(os.path.dirname(file_prefix) or ".", exist_ok=True)
        self._own.write(session, file_prefix, keys, graph.to_proto().SerializeToString())
        return file_prefix

    def save(self, file_prefix: str, session: Any = None) -> str:
        """Write the objects to a file with the next number; returns its path.

        The file `checkpoint` in its folder, which `tf.train.latest_checkpoint` reads, tells of it.

        Args:
          file_prefix: the path, to which the number is added.
          session: that has the values; the default session by default.
        """
        path = self.write(f"{file_prefix}-{self._counted(session)}", session)
        write_state(os.path.dirname(path), path, [path], None, True)
        return path

    def _counted(self, session: Any) -> int:
        """Count a file; returns its number."""
        is_new = self._save_counter is None
        counter = self._made_counter()
        session = session_for(session, counter.graph)
        if is_new:
            session.run(counter.initializer)
        return int(session.run(self._own.counted(counter)))

    def restore(self, save_path: str | None) -> Any:
        """Return how the objects are restored from a file; nothing is restored before it is run.

        Args:
          save_path: what `save` or `write` returned, or `tf.train.latest_checkpoint`; None to
            initialize variables only. The file may be one of `tf.train.Saver`, too.

        Returns:
          A status: its `run_restore_ops` and `initialize_or_restore` restore, the latter gives the
          other variables their initial values; `assert_consumed` checks that all is found.

        Raises:
          NotFoundError: there is no such file.
        """
        if save_path is None:
            return InitializationOnlyStatus(self)
        reader = load_checkpoint(save_path)
        stored = stored_graph(reader)
        if stored is None:
            return NameBasedSaverStatus(self, save_path, reader)
        if any(each.local_name == "save_counter" for each in stored.nodes[0].children):
            self._made_counter()
        return CheckpointLoadStatus(self, save_path, reader, stored)


class _Nodes:
    """The nodes that a Checkpoint writes with: made once for the same set of variables."""

    def __init__(self) -> None:
        self._savers: dict[tuple[int, ...], tuple[Saver, dict[str, Any]]] = {}
        self._count: Any = None

    def counted(self, counter: Any) -> Any:
        """Return what counts a file, and gives its number."""
        if self._count is None:
            with counter.graph.as_default(), scopes.colocate_with(counter.op):
                self._count = raw.Identity(counter.assign_add(1, read_value=True))
        return self._count

    def write(self, session: Any, path: str, keys: dict[str, Any], told: bytes) -> None:
        """Write objects by their keys, and the graph of objects, as `told`."""
        identity = tuple(map(id, keys.values())) + tuple(map(hash, keys))
        if identity not in self._savers:
            with session.graph.as_default():
                self._savers[identity] = _saver(keys)
        saver, fed = self._savers[identity]
        names = saver.saver_def
        feeds = {fed[key]: _state(value) for key, value in keys.items() if key in fed}
        feeds |= {fed[OBJECT_GRAPH]: told, names.filename_tensor_name: path}
        session.run(names.save_tensor_name, feeds)


def _saver(keys: dict[str, Any]) -> tuple[Saver, dict[str, Any]]:
    """Return a saver, and the placeholders of what is no variable, by key."""
    fed = {}
    with scopes.device("/cpu:0"):
        for key, value in [*keys.items(), (OBJECT_GRAPH, None)]:
            if not has_tensors(value):
                fed[key] = placeholder(dtypes.string, [], name="checkpointed_state")
        wanted = saved_by_keys({key: each for key, each in keys.items() if has_tensors(each)})
    wanted |= {key: _Told(each, key) for key, each in fed.items()}
    return Saver(wanted, max_to_keep=None), fed


class _Told(SaveableObject):
    """A string that is fed."""

    def __init__(self, tensor: Any, key: str) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", key)], key)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Do nothing: who restores reads strings itself."""
        return raw.NoOp()


def _state(value: Any) -> bytes:
    told = value.serialize()
    return told.encode() if isinstance(told, str) else told
