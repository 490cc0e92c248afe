"""tf.contrib.tpu: estimators that are written for TPUs, on CPUs."""

from tfdist.estimators.tpu_config import InputPipelineConfig, RunConfig, TPUConfig
from tfdist.estimators.tpu_estimator import TPUEstimator
from tfdist.estimators.tpu_spec import TPUEstimatorSpec
from tfdist.programs.missing import told
from tfdist.training.cross_shard_optimizer import CrossShardOptimizer

__getattr__ = told("tf.contrib.tpu")
