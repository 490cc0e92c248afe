"""tf.estimator: models as functions, trained and evaluated on one task or many."""

from importlib import import_module
from typing import Any

from tfdist.programs.missing import space, told

_PACKAGE = "tfdist.estimators"

# Module -> the names that it gives; loaded when first asked for: many programs train without it.
_GIVEN = {
    "additions": ("add_metrics", "classifier_parse_example_spec", "regressor_parse_example_spec"),
    "canned_deep": (
        "DNNClassifier",
        "DNNLinearCombinedClassifier",
        "DNNLinearCombinedRegressor",
        "DNNRegressor",
    ),
    "canned_linear": (
        "BaselineClassifier",
        "BaselineRegressor",
        "LinearClassifier",
        "LinearRegressor",
    ),
    "estimator": ("Estimator",),
    "estimator_spec": ("EstimatorSpec", "ModeKeys"),
    "exporters": ("BestExporter", "FinalExporter", "LatestExporter"),
    "run_config": ("RunConfig",),
    "specs": ("EvalSpec", "Exporter", "TrainSpec"),
    "train_and_evaluate": ("train_and_evaluate",),
    "warm_starting": ("WarmStartSettings",),
}
ON_DEMAND = {name: f"{_PACKAGE}.{module}" for module, names in _GIVEN.items() for name in names}

# What tf.train gives as well.
_FROM_TRAIN = (
    "CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook", "FinalOpsHook",
    "GlobalStepWaiterHook", "LoggingTensorHook", "NanLossDuringTrainingError", "NanTensorHook",
    "ProfilerHook", "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
)  # fmt: skip
ON_DEMAND.update(dict.fromkeys(_FROM_TRAIN, "tfdist.api.train"))
ON_DEMAND["VocabInfo"] = "tfdist.training.warm_starting"

# The same, of namespaces inside.
_INSIDE: dict[str, dict[str, tuple[str, ...]]] = {
    "export": {
        "export_outputs": (
            "ClassificationOutput",
            "ExportOutput",
            "PredictOutput",
            "RegressionOutput",
        ),
        "serving": (
            "ServingInputReceiver",
            "TensorServingInputReceiver",
            "build_parsing_serving_input_receiver_fn",
            "build_raw_serving_input_receiver_fn",
        ),
    },
    "experimental": {
        "early_stopping": (
            "make_early_stopping_hook",
            "make_stop_at_checkpoint_step_hook",
            "stop_if_higher_hook",
            "stop_if_lower_hook",
            "stop_if_no_decrease_hook",
            "stop_if_no_increase_hook",
        ),
    },
    "inputs": {"inputs": ("numpy_input_fn", "pandas_input_fn")},
}

_missing = told("tf.estimator")


def __getattr__(name: str) -> Any:
    """Return what is loaded when first asked for."""
    if name in ON_DEMAND:
        found = getattr(import_module(ON_DEMAND[name]), name)
    elif name in _INSIDE:
        found = space(f"tf.estimator.{name}", **_gathered(_INSIDE[name]))
    else:
        return _missing(name)
    globals()[name] = found
    return found


def _gathered(given: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        name: getattr(import_module(f"{_PACKAGE}.{module}"), name)
        for module, names in given.items()
        for name in names
    }


def __dir__() -> list[str]:
    return sorted([*ON_DEMAND, *_INSIDE])
