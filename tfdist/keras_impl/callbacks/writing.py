"""tf.keras.callbacks that write: models, tables of values, and events for TensorBoard.

Source: TF 1.15 API documentation, tf.keras.callbacks.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfdist.keras_impl.callbacks.callbacks import Callback, Logs
from tfdist.keras_impl.callbacks.monitoring import direction, watched
from tfdist.protos import pb
from tfdist.training.events.file_writer import FileWriter

__all__ = ["CSVLogger", "ModelCheckpoint", "TensorBoard"]


class ModelCheckpoint(Callback):
    """Writes the model, or its weights, after epochs.

    Args:
      filepath: of the files; `{epoch:02d}` and `{val_loss:.2f}` in it are filled in.
      monitor: name of the value that tells which epoch is best.
      verbose: 1 to tell.
      save_best_only: whether only better epochs are written.
      save_weights_only: whether weights alone are.
      mode: "min" or "max": what is better; "auto" goes by the name.
      save_freq: "epoch", or a number of samples after which it is written.
      **kwargs: `period`, a number of epochs; `load_weights_on_restart`.

    Example:
      >>> keras.callbacks.ModelCheckpoint("weights-{epoch:02d}.h5").filepath
      'weights-{epoch:02d}.h5'
    """

    def __init__(
        self, filepath: Any, monitor: str = "val_loss", verbose: int = 0,
        save_best_only: bool = False, save_weights_only: bool = False, mode: str = "auto",
        save_freq: Any = "epoch", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}; it is 'epoch' or a number")
        self.monitor, self.verbose, self.filepath = monitor, verbose, os.fspath(filepath)
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.save_freq, self.period = save_freq, kwargs.pop("period", 1)
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self._sign = direction(mode, monitor)
        self.best = -self._sign * np.inf
        self.epochs_since_last_save = self._samples = self._epoch = 0

    def on_train_begin(self, logs: Logs = None) -> None:
        if self.load_weights_on_restart and os.path.exists(self.filepath):
            self.model.load_weights(self.filepath)

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self._epoch = epoch

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        if self.save_freq == "epoch":
            return
        self._samples += (logs or {}).get("size", 1)
        if self._samples >= self.save_freq:
            self._save(self._epoch, logs)
            self._samples = 0

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self.epochs_since_last_save = 0
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Logs) -> None:
        path = self.filepath.format(epoch=epoch + 1, **(logs or {}))
        if self.save_best_only:
            current = watched(self.monitor, logs, "Can save best model only,")
            if current is None or not self._is_better(epoch, current, path):
                return
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _is_better(self, epoch: int, current: Any, path: str) -> bool:
        is_better = self._sign * current > self._sign * self.best
        head = f"\nEpoch {epoch + 1:05d}: {self.monitor}"
        if self.verbose > 0 and is_better:
            print(
                f"{head} improved from {self.best:0.5f} to {current:0.5f}, saving model to {path}"
            )
        elif self.verbose > 0:
            print(f"{head} did not improve from {self.best:0.5f}")
        if is_better:
            self.best = current
        return is_better


class CSVLogger(Callback):
    """Writes a table with a line for each epoch.

    Args:
      filename: of the file.
      separator: between columns.
      append: whether lines are added to a file that is there.

    Example:
      >>> keras.callbacks.CSVLogger("training.csv").sep
      ','
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.sep, self.filename, self.append = separator, os.fspath(filename), append
        self.keys: list[str] | None = None
        self.csv_file: Any = None
        self.writer: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        is_new = not (self.append and _has_text(self.filename))
        self.append_header = is_new
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="")
        self.writer, self.keys = None, None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        logs = logs or {}
        if self.writer is None:
            self._start(logs)
        cells = {key: _cell(logs.get(key, "NA")) for key in self.keys or ()}
        self.writer.writerow({"epoch": epoch, **cells})
        self.csv_file.flush()

    def _start(self, logs: Any) -> None:
        keys = sorted(logs)
        if self.model.stop_training:  # an epoch that was broken off has no validation
            keys += [f"val_{key}" for key in keys if f"val_{key}" not in keys]
        self.keys = keys
        self.writer = csv.DictWriter(
            self.csv_file, fieldnames=["epoch", *keys], delimiter=self.sep, lineterminator="\n"
        )
        if self.append_header:
            self.writer.writeheader()

    def on_train_end(self, logs: Logs = None) -> None:
        self.csv_file.close()
        self.writer = None


def _has_text(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _cell(value: Any) -> Any:
    if isinstance(value, Iterable) and not isinstance(value, str) and np.ndim(list(value)) > 0:
        return f'"[{", ".join(map(str, value))}]"'
    return value


class TensorBoard(Callback):
    """Writes losses and metrics as events for TensorBoard, and the graph.

    Args:
      log_dir: folder of the events.
      histogram_freq: after how many epochs the weights' histograms are written; 0 for never.
      batch_size: accepted for TensorFlow's sake.
      write_graph: whether the graph is written.
      write_grads: accepted for TensorFlow's sake.
      write_images: accepted for TensorFlow's sake.
      embeddings_freq: accepted for TensorFlow's sake.
      embeddings_layer_names: accepted for TensorFlow's sake.
      embeddings_metadata: accepted for TensorFlow's sake.
      embeddings_data: accepted for TensorFlow's sake.
      update_freq: "epoch", "batch", or a number of samples.
      profile_batch: accepted for TensorFlow's sake.

    Example:
      >>> keras.callbacks.TensorBoard("logs").log_dir
      'logs'
    """

    def __init__(
        self, log_dir: Any = "./logs", histogram_freq: int = 0, batch_size: int = 32,
        write_graph: bool = True, write_grads: bool = False, write_images: bool = False,
        embeddings_freq: int = 0, embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None, embeddings_data: Any = None, update_freq: Any = "epoch",
        profile_batch: int = 2, **_: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.log_dir, self.histogram_freq = os.fspath(log_dir), histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._seen = self._batches = self._since = 0
        self.writer: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        graph = self.model.inputs[0].graph if self.write_graph else None
        self.writer = FileWriter(self.log_dir, graph)

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        self._seen += logs.get("size", 0)
        if self.update_freq != "epoch" and self._seen - self._since >= self.update_freq:
            self._write(logs, "batch_", self._batches)
            self._since = self._seen
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        step = epoch if self.update_freq == "epoch" else self._seen
        self._write(logs or {}, "epoch_", step)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)

    def _write(self, logs: Any, prefix: str, step: int) -> None:
        summary = pb.Summary()
        for key, value in logs.items():
            if key not in ("batch", "size", "num_steps"):
                summary.value.add(tag=prefix + key, simple_value=float(value))
        self.writer.add_summary(summary, step)
        self.writer.flush()

    def _write_weights(self, step: int) -> None:
        summary = pb.Summary()
        for variable, value in zip(self.model.weights, self.model.get_weights(), strict=True):
            counts, edges = np.histogram(value, 30)
            told = summary.value.add(tag=variable.op.name).histo
            told.min, told.max, told.num = float(value.min()), float(value.max()), value.size
            told.sum, told.sum_squares = float(value.sum()), float(np.square(value).sum())
            told.bucket_limit.extend(edges[1:].tolist())
            told.bucket.extend(counts.tolist())
        self.writer.add_summary(summary, step)

    def on_train_end(self, logs: Logs = None) -> None:
        self.writer.close()
