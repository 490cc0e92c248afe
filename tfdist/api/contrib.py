"""tf.contrib: what of it is here."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

from tfdist.api import contrib_data as data
from tfdist.ops.staging import MapStagingArea, StagingArea
from tfdist.programs.missing import told
from tfdist.training.checkpoint_utils import checkpoints_iterator, wait_for_new_checkpoint
from tfdist.training.device_strategies import (
    GreedyLoadBalancingStrategy,
    RandomStrategy,
    byte_size_load_fn,
)
from tfdist.training.run_n import run_n

learn = SimpleNamespace(run_n=run_n)
staging = SimpleNamespace(MapStagingArea=MapStagingArea, StagingArea=StagingArea)
training = SimpleNamespace(
    GreedyLoadBalancingStrategy=GreedyLoadBalancingStrategy,
    RandomStrategy=RandomStrategy,
    byte_size_load_fn=byte_size_load_fn,
    checkpoints_iterator=checkpoints_iterator,
    wait_for_new_checkpoint=wait_for_new_checkpoint,
)

# Namespaces that are loaded when first asked for.
ON_DEMAND = {
    "framework": "tfdist.api.contrib_framework",
    "layers": "tfdist.api.contrib_layers",
    "losses": "tfdist.api.contrib_losses",
    "metrics": "tfdist.api.contrib_metrics",
    "slim": "tfdist.api.contrib_slim",
}

_missing = told("tf.contrib")


def __getattr__(name: str) -> Any:
    """Return a namespace that is loaded when first asked for."""
    if name not in ON_DEMAND:
        return _missing(name)
    found = globals()[name] = import_module(ON_DEMAND[name])
    return found
