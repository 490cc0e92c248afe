"""Saver: variables to a checkpoint and back.

Source: TF 1.15 API documentation, tf.train.Saver.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Sequence
from typing import Any

from tfdist.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tfdist.graph import scopes
from tfdist.ops.variables.collections import GraphKeys, global_variables
from tfdist.protos import pb
from tfdist.session.base_session import BaseSession
from tfdist.training.global_step import global_step as value_of_step
from tfdist.training.saving import checkpoint_management as management
from tfdist.training.saving.checkpoint_retention import KeptCheckpoints
from tfdist.training.saving.collection_defs import register_class
from tfdist.training.saving.meta_graph import export_meta_graph
from tfdist.training.saving.object_graphs import by_keys
from tfdist.training.saving.saver_builder import V1, V2, BulkSaverBuilder

__all__ = ["Saver"]

_LOG = logging.getLogger("tensorflow")
_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
_CHANGED = (
    "Restoring from checkpoint failed. This is most likely due to {} Please ensure that you have "
    "not altered the graph expected based on the checkpoint. Original error:\n\n{}"
)
_NAME = "a Variable name or other graph key that is missing from the checkpoint."
_SHAPE = "a mismatch between the current graph and the graph from the checkpoint."
_UNSEEN = (
    "Restoring from checkpoint failed. {} is there for this process, but {}, which reads it, does "
    "not find all its files: tasks read and write checkpoints themselves. Use a folder that all of "
    "them see, and its absolute path. Original error:\n\n{}"
)


class Saver:
    """Writes variables to checkpoints, keeps the last ones, and reads them.

    Args:
      var_list: what is saved: variables and saveable objects as a list, or a dict by the names in
        the checkpoint; by default all global variables and SAVEABLE_OBJECTS.
      reshape: whether a checkpoint's tensors may have other shapes of as many elements.
      sharded: whether each device writes its own variables into a file of its own.
      max_to_keep: how many checkpoints are kept; None or 0 for all.
      keep_checkpoint_every_n_hours: of those that would be removed, one in this time stays.
      name: of the scope of the nodes; "save" by default.
      restore_sequentially: accepted for TensorFlow's sake: reading is one after the other.
      saver_def: names of nodes that are there, instead of new nodes.
      builder: makes the nodes; a `BulkSaverBuilder` by default.
      defer_build: whether the nodes are made later, by `build`.
      allow_empty: whether there may be nothing to save.
      write_version: the format: `tf.train.SaverDef.V2`, or V1 of the first releases.
      pad_step_number: whether steps in names have eight digits.
      save_relative_paths: whether the file `checkpoint` has paths relative to its folder, so that
        the folder can be moved.
      filename: name of the checkpoint when the nodes run by themselves.

    Raises:
      TypeError: something cannot be saved.
      ValueError: there is nothing to save, or two things have one name.

    Example:
      >>> import tempfile
      >>> folder = tempfile.mkdtemp()
      >>> v = Variable(1.0, name="v")
      >>> saver = train.Saver()
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     path = saver.save(session, f"{folder}/model", global_step=5)
      ...     session.run(v.assign(2.0))
      ...     saver.restore(session, path)
      ...     print(path.removeprefix(folder), session.run(v))
      np.float32(2.0)
      /model-5 1.0
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: Any = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list, self._name, self._builder = var_list, name, builder
        self._options = {
            "reshape": reshape, "sharded": sharded, "max_to_keep": max_to_keep or 0,
            "keep_checkpoint_every_n_hours": keep_checkpoint_every_n_hours, "name": name,
            "restore_sequentially": restore_sequentially, "filename": filename,
        }  # fmt: skip
        self._allow_empty, self._is_built, self._is_empty = allow_empty, False, False
        self._write_version, self._pad_step_number = write_version, pad_step_number
        self._save_relative_paths = save_relative_paths
        self._kept = KeptCheckpoints()
        self.saver_def: Any = None
        if saver_def is not None:
            self._take(_checked(saver_def), name)
        elif not defer_build:
            self.build()

    def build(self) -> None:
        """Make the nodes, if `defer_build` has left it for later."""
        if self._is_built:
            return
        wanted = self._var_list
        if wanted is None:
            wanted = global_variables() + scopes.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        if not wanted and isinstance(wanted, list | tuple | dict | set):
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_built = self._is_empty = True
            return
        builder = self._builder or BulkSaverBuilder(self._write_version)
        self._take(builder.build(wanted, **self._options), None)

    def _take(self, saver_def: Any, scope: str | None) -> None:
        self.saver_def = pb.SaverDef()
        self.saver_def.CopyFrom(saver_def)
        for field in _NAMES if scope else ():
            setattr(self.saver_def, field, f"{scope}/{getattr(self.saver_def, field)}")
        self._write_version = self.saver_def.version
        self._kept.next_time = time.time() + self._seconds_between()
        self._is_built = True

    def _seconds_between(self) -> float:
        return float(self.saver_def.keep_checkpoint_every_n_hours) * 3600

    # saving

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Write a checkpoint, and remove those that are too many.

        It has its name when all of it is on the disk: what has the name before stays until then.

        Args:
          sess: a Session whose variables are initialised.
          save_path: beginning of the checkpoint's name, with its folder.
          global_step: a number, or what has one in the session; it is added to the name.
          latest_filename: of the file that tells the newest checkpoint; "checkpoint" by default.
          meta_graph_suffix: of the file of the MetaGraph.
          write_meta_graph: whether the graph is written, too.
          write_state: whether the file that tells the newest checkpoint is written.
          strip_default_attrs: see `export_meta_graph`.
          save_debug_info: accepted for TensorFlow's sake.

        Returns:
          The name of the checkpoint, for `restore`; None if there is nothing to save.

        Raises:
          RuntimeError: `build` was not called.
          TypeError: `sess` is no Session.
          ValueError: a name cannot be used, or the folder does not exist.
          FailedPreconditionError: a variable is not initialised.
        """
        self._require_built()
        latest = latest_filename or "checkpoint"
        file = self._checkpoint_file(sess, save_path, global_step, latest)
        path = self._write(sess, file) if not self._is_empty else None
        if path is not None and write_state:
            self._kept.add(path, self.saver_def.max_to_keep, time.time())
            management.write_state(
                os.path.dirname(save_path), path, self.last_checkpoints, latest,
                self._save_relative_paths,
            )  # fmt: skip
            for superfluous in self._kept.superfluous(self._seconds_between()):
                management.remove_checkpoint(superfluous, self._write_version, meta_graph_suffix)
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(
                    management.meta_graph_filename(file, meta_graph_suffix),
                    strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
                )  # fmt: skip
        return path

    def _require_built(self) -> None:
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")

    def _checkpoint_file(self, sess: Any, save_path: Any, step: Any, latest: str) -> str:
        """Return the name of a new checkpoint; errors if there is something wrong with it."""
        if os.path.split(latest)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        name = os.path.basename(os.fspath(save_path))
        if not isinstance(sess, BaseSession):
            raise TypeError(f"'sess' must be a Session; {sess}")
        if step is not None:
            number = step if hasattr(step, "__index__") else value_of_step(sess, step)
            return f"{save_path}-{number:08d}" if self._pad_step_number else f"{save_path}-{number}"
        if not name:
            raise ValueError(f"no path specified: {save_path!r} has no name after its folder")
        if name == latest and not self._is_sharded:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest}' and '{save_path}'"
            )
        return os.fspath(save_path)

    @property
    def _is_sharded(self) -> bool:
        return self.saver_def is not None and self.saver_def.sharded

    def _write(self, sess: Any, file: str) -> str:
        if self._write_version == V1:
            _LOG.warning(
                "this saver writes the format of the first releases; V2 is the present one"
            )
        try:
            names = self.saver_def.save_tensor_name, self.saver_def.filename_tensor_name
            return os.fsdecode(sess.run(names[0], {names[1]: file}))
        except (FailedPreconditionError, NotFoundError) as error:
            folder = os.path.dirname(file)
            if not os.path.isdir(folder or "."):
                raise ValueError(
                    f"Parent directory of {file} doesn't exist, can't save."
                ) from error
            raise

    def export_meta_graph(
        self,
        filename: Any = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """Return the default graph with this saver as a MetaGraphDef, and write it to a file.

        See `tf.train.export_meta_graph` for the arguments.
        """
        return export_meta_graph(
            filename, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text,
            export_scope=export_scope, clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
        )  # fmt: skip

    # restoring

    def restore(self, sess: Any, save_path: str | None) -> None:
        """Give the variables what a checkpoint says; they need not be initialised.

        Args:
          sess: a Session.
          save_path: what `save` returned, or `tf.train.latest_checkpoint(folder)`.

        Raises:
          ValueError: there is no such checkpoint.
          NotFoundError: a variable is not in it.
          InvalidArgumentError: a variable has another type or shape in it.
          DataLossError: it is damaged.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fsdecode(save_path)
        if not management.checkpoint_exists(path):
            hint = management.newest_there(path)
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}{hint}")
        self._require_built()
        _LOG.info("Restoring parameters from %s", path)
        names = self.saver_def.restore_op_name, self.saver_def.filename_tensor_name
        try:
            sess.run(names[0], {names[1]: path})
        except NotFoundError as error:
            is_there = "not found in checkpoint" in error.message  # else its files are not
            found = by_keys(self._var_list, sess.graph, path) if is_there else None
            if found:
                with sess.graph.as_default():
                    return Saver(found).restore(sess, path)
            raise (_changed(error, _NAME) if is_there else _unseen(error, path)) from error
        except InvalidArgumentError as error:
            raise _changed(error, _SHAPE) from error

    # what is kept

    @property
    def last_checkpoints(self) -> list[str]:
        """Return the checkpoints that are kept, oldest first."""
        return [path for path, _ in self._kept.checkpoints]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Say which checkpoints there are, oldest first; they are never removed."""
        assert isinstance(last_checkpoints, list), last_checkpoints
        self._kept.checkpoints = [(path, math.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: Sequence[tuple[str, float]]
    ) -> None:
        """Say which checkpoints there are, oldest first, and when each was saved, in seconds."""
        assert isinstance(last_checkpoints_with_time, list), last_checkpoints_with_time
        self._kept.checkpoints = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Keep what another process has saved, those that are still there, as if it were ours."""
        there = [each for each in checkpoint_paths if management.checkpoint_exists(each)]
        times = management.get_checkpoint_mtimes(there)
        self._kept.checkpoints = list(zip(there, times, strict=True))

    # as a message

    def as_saver_def(self) -> Any:
        """Return its SaverDef; None if nothing is built."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return its SaverDef; None if it is not in the scope `export_scope`, which is cut off."""
        if not export_scope or self.saver_def is None:
            return self.saver_def
        prefix = f"{export_scope}/"
        if not all(getattr(self.saver_def, field).startswith(prefix) for field in _NAMES):
            return None
        proto = pb.SaverDef()
        proto.CopyFrom(self.saver_def)
        for field in _NAMES:
            setattr(proto, field, getattr(proto, field).removeprefix(prefix))
        return proto

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """Return a saver of nodes that are there, which a SaverDef names.

        Args:
          saver_def: a SaverDef.
          import_scope: put before its names.
        """
        return Saver(saver_def=saver_def, name=import_scope)


def _checked(saver_def: Any) -> Any:
    """Return a SaverDef as ours; ValueError if it is none, or names no nodes."""
    if getattr(getattr(saver_def, "DESCRIPTOR", None), "name", "") != "SaverDef":
        raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
    for field in ("save_tensor_name", "restore_op_name"):
        if not getattr(saver_def, field):
            raise ValueError(f"saver_def must specify the {field}: {saver_def}")
    return pb.reparse(saver_def)


def _changed(error: Any, what: str) -> Exception:
    """Return the error that tells what is likely to be behind one of restoring."""
    return _said(error, _CHANGED.format(what, error.message))


def _unseen(error: Any, path: str) -> Exception:
    """Return the error of a checkpoint that is not where it is read."""
    return _said(error, _UNSEEN.format(path, error.device or "the task", error.message))


def _said(error: Any, text: str) -> Exception:
    changed = type(error)(error.node_def, error.op, text)
    changed.device = error.device
    return changed  # type: ignore[no-any-return]


register_class(GraphKeys.SAVERS, "SaverDef", Saver)
