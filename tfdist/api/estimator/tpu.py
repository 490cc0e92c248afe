"""tf.estimator.tpu: estimators that are written for TPUs, on CPUs; see tf.contrib.tpu."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
    from tfdist.estimators.tpu.estimator import TPUEstimator
    from tfdist.estimators.tpu.spec import TPUEstimatorSpec

__getattr__, __dir__ = lazy(__name__, "tf.estimator.tpu")
