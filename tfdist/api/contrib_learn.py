"""tf.contrib.learn: estimators in their first spelling, `run_n`, the reader of MNIST's files."""

from types import SimpleNamespace

from tfdist.estimators.earlier_experiment import Experiment, run
from tfdist.estimators.earlier_learn import Estimator, ModeKeys, ModelFnOps, RunConfig
from tfdist.estimators.task_config import TaskType
from tfdist.programs import input_data
from tfdist.programs.missing import told
from tfdist.training.run_n import run_n
from tfdist.training.value_hooks import NanLossDuringTrainingError

__all__ = [
    "Estimator",
    "Experiment",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "RunConfig",
    "TaskType",
    "datasets",
    "learn_runner",
    "run_n",
]

datasets = SimpleNamespace(mnist=input_data)
learn_runner = SimpleNamespace(run=run)

# What programs import from the modules inside.
model_fn = SimpleNamespace(ModeKeys=ModeKeys, ModelFnOps=ModelFnOps)
run_config = SimpleNamespace(RunConfig=RunConfig)

__getattr__ = told("tf.contrib.learn")
