"""Exporters: SavedModels after evaluations: of the last, of each, or of the best.

Source: TF 1.15 API documentation, tf.estimator.LatestExporter, FinalExporter and BestExporter.
"""

from __future__ import annotations

import glob
import logging
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.estimators.specs import Exporter
from tfdist.formats.events import summary_iterator

__all__ = ["BestExporter", "FinalExporter", "LatestExporter"]

_LOG = logging.getLogger("tensorflow")


class _Saving(Exporter):
    """What all exporters have in common: how a SavedModel is written.

    Args:
      name: of the folder.
      serving_input_receiver_fn: makes a `ServingInputReceiver`.
      assets_extra: further files: paths inside the model's folder -> files.
      as_text: whether the model's file is text.
      exports_to_keep: how many stay; None for all.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        exports_to_keep: int | None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name, self._receiver_fn = name, serving_input_receiver_fn
        self._assets, self._as_text, self._keep = assets_extra, as_text, exports_to_keep

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return self._name

    def _save(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        """Write a SavedModel, and remove old ones; returns its path."""
        made = estimator.export_savedmodel(
            export_path, self._receiver_fn, self._assets, self._as_text, checkpoint_path
        )
        if self._keep is not None:
            found = [each for each in os.listdir(export_path) if each.isdigit()]
            for old in sorted(found, key=int)[: -self._keep]:
                shutil.rmtree(os.path.join(export_path, old), ignore_errors=True)
        return made


class LatestExporter(_Saving):
    """Writes a SavedModel after each evaluation.

    Args:
      name: of the folder.
      serving_input_receiver_fn: makes a `ServingInputReceiver`.
      assets_extra: further files: paths inside the model's folder -> files.
      as_text: whether the model's file is text.
      exports_to_keep: how many stay; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive.

    Example:
      >>> estimator.LatestExporter("latest", lambda: None).name
      'latest'
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:  # fmt: skip
        """Write a SavedModel; returns its path."""
        return self._save(estimator, export_path, checkpoint_path)


class FinalExporter(_Saving):
    """Writes a SavedModel when training has ended.

    Args:
      name: as the rest: see `LatestExporter`.

    Example:
      >>> estimator.FinalExporter("final", lambda: None).name
      'final'
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:  # fmt: skip
        """Write a SavedModel at the end; returns its path, None before."""
        if not is_the_final_export:
            return None
        _LOG.info("Performing the final export in the end of training.")
        return self._save(estimator, export_path, checkpoint_path)


def _loss_smaller(best_eval_result: Mapping[str, Any], current_eval_result: Any) -> bool:
    """Say whether a loss is smaller than the best one.

    Raises:
      ValueError: one result has no loss.
    """
    for name, result in (("best", best_eval_result), ("current", current_eval_result)):
        if not result or "loss" not in result:
            raise ValueError(
                f"{name}_eval_result cannot be empty or no loss is found in it: {result}"
            )
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_Saving):
    """Writes a SavedModel after evaluations that are better than all before.

    What was best before the program began is read from the summaries of evaluations.

    Args:
      name: of the folder.
      serving_input_receiver_fn: makes a `ServingInputReceiver`.
      event_file_pattern: of files of summaries, below the estimator's folder; None for none.
      compare_fn: function of (best_eval_result, current_eval_result): whether that is better; by
        default whether the loss is smaller.
      assets_extra: further files: paths inside the model's folder -> files.
      as_text: whether the model's file is text.
      exports_to_keep: how many stay; None for all.

    Raises:
      ValueError: `exports_to_keep` is not positive, or there is nothing to compare with.

    Example:
      >>> estimator.BestExporter(serving_input_receiver_fn=lambda: None).name
      'best_exporter'
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        self._is_better, self._pattern = compare_fn, event_file_pattern
        self._best: Any = None
        self._has_read = False

    def export(
        self, estimator: Any, export_path: str, checkpoint_path: str, eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:  # fmt: skip
        """Write a SavedModel if it is the best; returns its path, None otherwise."""
        if not self._has_read and self._pattern:
            self._best = self._best_of(os.path.join(estimator.model_dir, self._pattern))
        self._has_read = True
        if self._best is not None and not self._is_better(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return None
        _LOG.info("Performing best model export.")
        self._best = eval_result
        return self._save(estimator, export_path, checkpoint_path)

    def _best_of(self, pattern: str) -> Any:
        """Return the best evaluation that files of summaries tell of, but for the last one.

        The last one is that which this exporter is called for.
        """
        found: list[dict[str, Any]] = []
        for path in sorted(glob.glob(pattern)):
            found += [each for event in summary_iterator(path) if (each := _numbers(event))]
        best = None
        for each in found[:-1]:
            if best is None or self._is_better(best_eval_result=best, current_eval_result=each):
                best = each
        return best


def _numbers(event: Any) -> dict[str, Any]:
    """Return the numbers of an event's summary by tag."""
    if not event.HasField("summary"):
        return {}
    values = event.summary.value
    return {each.tag: each.simple_value for each in values if each.HasField("simple_value")}
