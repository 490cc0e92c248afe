"""The file `checkpoint`, which tells a folder's newest checkpoint; and checkpoints as files.

Source: TF 1.15 API documentation, tf.train.latest_checkpoint and those around it; CheckpointState
in checkpoint_state.proto.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from tfdist.errors import OpError
from tfdist.formats.checkpoint.files import index_name
from tfdist.formats.checkpoint.pending_files import pending_files
from tfdist.formats.files import local_path
from tfdist.formats.glob import matching_files
from tfdist.protos import pb

__all__ = [
    "checkpoint_exists", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "latest_checkpoint", "remove_checkpoint", "update_checkpoint_state",
]  # fmt: skip

_LOG = logging.getLogger("tensorflow")
_SHARDS = "-?????-of-?????"
_V2 = 2  # pb.SaverDef.V2


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """Return a CheckpointState.

    Args:
      save_dir: folder of the checkpoints; if it is relative, paths are told relative to it.
      model_checkpoint_path: the newest checkpoint.
      all_model_checkpoint_paths: those that are kept, oldest first; the newest is added if need be.
      all_model_checkpoint_timestamps: seconds, one for each of them.
      last_preserved_timestamp: seconds: when the last one that stays for good was saved.

    Raises:
      ValueError: there are not as many timestamps as paths.
    """
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    stamps = all_model_checkpoint_timestamps
    if stamps and len(stamps) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {list(stamps)})"
        )
    if not os.path.isabs(save_dir):
        paths = [_relative(each, save_dir) for each in paths]
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir)
    return pb.CheckpointState(
        model_checkpoint_path=model_checkpoint_path, all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=stamps, last_preserved_timestamp=last_preserved_timestamp,
    )  # fmt: skip


def _relative(path: str, folder: str) -> str:
    return path if os.path.isabs(path) else os.path.relpath(path, folder or ".")


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Write the file that tells a folder's newest checkpoint, whole or not at all.

    Args:
      save_dir: folder of the checkpoints.
      model_checkpoint_path: the newest one.
      all_model_checkpoint_paths: those that are kept, oldest first.
      latest_filename: of the file; "checkpoint" by default.
      all_model_checkpoint_timestamps: seconds, one for each of them.
      last_preserved_timestamp: seconds: when the last one that stays for good was saved.

    Raises:
      RuntimeError: the newest checkpoint has the name of that file.
      ValueError: there are not as many timestamps as paths.
    """
    write_state(
        save_dir, model_checkpoint_path, all_model_checkpoint_paths or (), latest_filename, False,
        all_model_checkpoint_timestamps, last_preserved_timestamp,
    )  # fmt: skip


def write_state(
    save_dir: str,
    newest: str,
    paths: Iterable[str],
    latest_filename: str | None,
    relative: bool,
    timestamps: Sequence[float] | None = None,
    preserved: float | None = None,
) -> None:
    """Write the file; see `update_checkpoint_state`.

    Args:
      save_dir: folder of the checkpoints.
      newest: the newest one.
      paths: of those that are kept.
      latest_filename: of the file.
      relative: whether absolute paths are told relative to the folder.
      timestamps: of `paths`.
      preserved: when the last one that stays for good was saved.
    """
    state_file = state_filename(save_dir, latest_filename)
    listed = list(paths)
    if relative:
        listed = [_from(each, save_dir) for each in listed]
        newest = _from(newest, save_dir)
        proto = generate_checkpoint_state_proto("/", newest, listed, timestamps, preserved)
    else:
        proto = generate_checkpoint_state_proto(save_dir, newest, listed, timestamps, preserved)
    if state_file == proto.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{newest}' conflicts with path used for checkpoint state. Please use a "
            "different save path."
        )
    with pending_files(state_file) as (file,):
        file.write(pb.to_text(proto).encode())


def _from(path: str, folder: str) -> str:
    """Return a path as it is seen from a folder."""
    return os.path.relpath(path, folder or ".")


def state_filename(save_dir: str, latest_filename: str | None) -> str:
    """Return the path of the file that tells a folder's newest checkpoint."""
    return os.path.join(save_dir, latest_filename or "checkpoint")


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> Any:
    """Return the CheckpointState of a folder, with paths from here; None if there is none.

    Args:
      checkpoint_dir: folder.
      latest_filename: of the file that tells it; "checkpoint" by default.

    Raises:
      ValueError: the file names no checkpoint.
    """
    folder = os.fspath(checkpoint_dir)
    path = state_filename(folder, latest_filename)
    try:
        with open(local_path(path), "rb") as file:
            state = pb.from_text(pb.CheckpointState, file.read())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _LOG.warning("%s: Checkpoint ignored: %s", path, error)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    paths = [os.path.join(folder, each) for each in state.all_model_checkpoint_paths]
    state.all_model_checkpoint_paths[:] = paths
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Return the newest checkpoint of a folder; None if there is none.

    Args:
      checkpoint_dir: folder.
      latest_filename: of the file that tells it; "checkpoint" by default.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path = str(state.model_checkpoint_path)
    if checkpoint_exists(path):
        return path
    _LOG.error("Couldn't match files for checkpoint %s", path)
    return None


# as files


def files_of(checkpoint_prefix: str) -> list[str]:
    """Return the files that tell that a checkpoint is there: an index, or all of the old format."""
    for pattern in (index_name(checkpoint_prefix), checkpoint_prefix + _SHARDS, checkpoint_prefix):
        with suppress(OpError):
            found = [os.fsdecode(each) for each in matching_files(pattern)]
            if found:
                return found
    return []


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Return whether there is a checkpoint of this name.

    Args:
      checkpoint_prefix: what `Saver.save` returned.
    """
    return bool(files_of(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """Return when each of some checkpoints was written, in seconds; those missing are left out.

    Args:
      checkpoint_prefixes: names of checkpoints.
    """
    times = []
    for files in map(files_of, checkpoint_prefixes):
        with suppress(OSError):
            times += [os.path.getmtime(local_path(each)) for each in files[:1]]
    return times


def newest_there(path: str) -> str:
    """Return a hint: which checkpoint the folder says is the newest."""
    newest = latest_checkpoint(os.path.dirname(path) or ".")
    folder = latest_checkpoint(path) if os.path.isdir(path) else None
    if folder is not None:
        return f" is a folder; its newest checkpoint is {folder}"
    return f"; the newest there is {newest}" if newest else ""


def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = _V2, meta_graph_suffix: str = "meta"
) -> None:
    """Remove the files of a checkpoint, those that there are.

    Args:
      checkpoint_prefix: its name.
      checkpoint_format_version: `tf.train.SaverDef.V2` or `V1`.
      meta_graph_suffix: of the file of its MetaGraph.
    """
    _remove(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == _V2:
        _remove(index_name(checkpoint_prefix))  # first, for without it the rest is nothing
        _remove(f"{checkpoint_prefix}.data{_SHARDS}")
    else:
        _remove(checkpoint_prefix)


def _remove(pattern: str) -> None:
    with suppress(OpError):
        for each in matching_files(pattern):
            with suppress(FileNotFoundError):
                os.unlink(each)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """Return the path of the MetaGraph that belongs to a checkpoint.

    Example:
      >>> meta_graph_filename("model.ckpt-5-?????-of-00002")
      'model.ckpt-5.meta'
    """
    basename = re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename)
    return f"{basename}.{meta_graph_suffix}"
