"""tf.contrib.learn: estimators in their first spelling, `run_n`, the reader of MNIST's files."""

# mypy: implicit-reexport

from tfdist.estimators.contrib_learn import datasets as legacy_datasets
from tfdist.estimators.contrib_learn import texts as preprocessing
from tfdist.estimators.contrib_learn.canned import *
from tfdist.estimators.contrib_learn.canned import __all__ as _canned
from tfdist.estimators.contrib_learn.experiment import Experiment, run
from tfdist.estimators.contrib_learn.learn import (
    Estimator,
    ModeKeys,
    ModelFnOps,
    NotFittedError,
    RunConfig,
    SKCompat,
)
from tfdist.estimators.task_config import TaskType
from tfdist.programs import input_data
from tfdist.programs.missing import space, told
from tfdist.training.sessions.run_n import run_n
from tfdist.training.sessions.value_hooks import NanLossDuringTrainingError

__all__ = [
    *_canned,
    "Estimator",
    "Experiment",
    "ModeKeys",
    "ModelFnOps",
    "NanLossDuringTrainingError",
    "NotFittedError",
    "RunConfig",
    "SKCompat",
    "TaskType",
    "datasets",
    "learn_runner",
    "preprocessing",
    "run_n",
]

datasets = space(
    "tf.contrib.learn.datasets",
    base=legacy_datasets,
    load_boston=legacy_datasets.load_boston,
    load_dataset=legacy_datasets.load_dataset,
    load_iris=legacy_datasets.load_iris,
    mnist=input_data,
)
learn_runner = space("tf.contrib.learn.learn_runner", run=run)

# What programs import from the modules inside.
model_fn = space("tf.contrib.learn.model_fn", ModeKeys=ModeKeys, ModelFnOps=ModelFnOps)
run_config = space("tf.contrib.learn.run_config", RunConfig=RunConfig)

__getattr__ = told("tf.contrib.learn")
