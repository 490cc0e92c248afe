"""tf.contrib.predictor: models as Python functions."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.training.saved_model.predictor import from_estimator, from_saved_model

__getattr__, __dir__ = lazy(__name__, "tf.contrib.predictor")
