"""tf.contrib.tpu: estimators that are written for TPUs, on CPUs."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.tpu.config import InputPipelineConfig, RunConfig, TPUConfig
    from tfdist.estimators.tpu.estimator import TPUEstimator
    from tfdist.estimators.tpu.spec import TPUEstimatorSpec
    from tfdist.training.optimizers.contrib.cross_shard import CrossShardOptimizer

__getattr__, __dir__ = lazy(__name__, "tf.contrib.tpu")
