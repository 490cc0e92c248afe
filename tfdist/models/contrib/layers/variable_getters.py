"""How tf.contrib's layers name their variables, and which collections these and outputs go to.

They are made by tf.layers under other names: `kernel` is called `weights` here, `bias` `biases`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfdist.graph import scopes
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.utils import collect_named_outputs
from tfdist.ops.variables.partitioned_variables import PartitionedVariable

RENAMED = {"bias": "biases", "kernel": "weights"}


def variable_getter(rename: Mapping[str, str] = RENAMED) -> Callable[..., Any]:
    """Return a custom getter of `get_variable` that renames, and adds to MODEL_VARIABLES."""

    def custom(getter: Any, name: str, **given: Any) -> Any:
        scope, slash, short = name.rpartition("/")
        options = {
            key: given[key]
            for key in ("shape", "dtype", "initializer", "regularizer", "trainable",
                        "collections", "caching_device", "partitioner", "use_resource")
            if key in given
        }  # fmt: skip
        own = {key: value for key, value in given.items() if key not in options}

        def known(label: str, **made: Any) -> Any:
            return getter(name=label, **made, **own)

        return model_variable(
            scope + slash + rename.get(short, short), custom_getter=known, **options
        )

    return custom


def add_variable(variable: Any, collections: Any, name: str) -> None:
    """Add a variable to collections: a list for all variables, or a dict from names to lists."""
    if variable is None or not collections:
        return
    wanted = collections.get(name) if isinstance(collections, dict) else collections
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for key in [wanted] if isinstance(wanted, str) else wanted or []:
        for part in parts:
            scopes.add_to_collection(key, part)


def finished(
    outputs: Any,
    normalizer_fn: Any,
    normalizer_params: Any,
    activation_fn: Any,
    collections: Any,
    scope: Any,
) -> Any:
    """Return outputs after normalizer and activation, added to collections as those of a scope."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(collections, scope.name, outputs)
