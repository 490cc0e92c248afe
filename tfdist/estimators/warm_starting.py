"""WarmStartSettings: what a model begins with, when another one was trained before.

Source: TF 1.15 API documentation, tf.estimator.WarmStartSettings; messages by experiment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfdist.training.saving.warm_starting import VocabInfo, warm_start

__all__ = ["WarmStartSettings"]


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, VocabInfo]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Settings):
    """Which variables of a model begin with what a checkpoint says.

    Args:
      ckpt_to_initialize_from: what `Saver.save` returned, or a folder.
      vars_to_warm_start: a regular expression of names, or a list of such or of variables.
      var_name_to_vocab_info: `VocabInfo`s, by name of the variable.
      var_name_to_prev_var_name: names in the checkpoint of variables that had another name.

    Raises:
      ValueError: there is no checkpoint named.

    Example:
      >>> estimator.WarmStartSettings("folder/model.ckpt-9").vars_to_warm_start
      '.*'
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        """Return settings, checked."""
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls, ckpt_to_initialize_from, vars_to_warm_start,
            var_name_to_vocab_info or {}, var_name_to_prev_var_name or {},
        )  # fmt: skip


def warm_start_settings(given: Any) -> WarmStartSettings | None:
    """Return settings from what an estimator is given: settings, a path, or None.

    Raises:
      ValueError: it is none of these.
    """
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if isinstance(given, str | bytes | os.PathLike):
        return WarmStartSettings(os.fsdecode(given))
    raise ValueError(
        f"warm_start_from must be a string or a WarmStartSettings, instead got {type(given)}"
    )


def start_warm(settings: WarmStartSettings) -> None:
    """Let the variables of the default graph begin with what the settings say."""
    warm_start(
        settings.ckpt_to_initialize_from,
        settings.vars_to_warm_start,
        settings.var_name_to_vocab_info,
        settings.var_name_to_prev_var_name,
    )


def start_warm_without(checkpoint: str | None, settings: WarmStartSettings | None) -> None:
    """Let a model that has not been trained yet begin so, to be evaluated or asked."""
    if settings and not checkpoint:
        start_warm(settings)
