"""tf.estimator.experimental: hooks that stop training early, or evaluate meanwhile."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.early_stopping import (
        make_early_stopping_hook,
        make_stop_at_checkpoint_step_hook,
        stop_if_higher_hook,
        stop_if_lower_hook,
        stop_if_no_decrease_hook,
        stop_if_no_increase_hook,
    )
    from tfdist.estimators.evaluator_hook import InMemoryEvaluatorHook

__getattr__, __dir__ = lazy(__name__, "tf.estimator.experimental")
