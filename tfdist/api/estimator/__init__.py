"""tf.estimator: models as functions, trained and evaluated on one task or many."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.estimator import experimental, export, inputs, tpu
    from tfdist.api.train import (
        CheckpointSaverHook,
        CheckpointSaverListener,
        FeedFnHook,
        FinalOpsHook,
        GlobalStepWaiterHook,
        LoggingTensorHook,
        NanLossDuringTrainingError,
        NanTensorHook,
        ProfilerHook,
        SecondOrStepTimer,
        SessionRunArgs,
        SessionRunContext,
        SessionRunHook,
        SessionRunValues,
        StepCounterHook,
        StopAtStepHook,
        SummarySaverHook,
    )
    from tfdist.estimators.canned.deep import (
        DNNClassifier,
        DNNEstimator,
        DNNLinearCombinedClassifier,
        DNNLinearCombinedEstimator,
        DNNLinearCombinedRegressor,
        DNNRegressor,
    )
    from tfdist.estimators.canned.linear import (
        BaselineClassifier,
        BaselineEstimator,
        BaselineRegressor,
        LinearClassifier,
        LinearEstimator,
        LinearRegressor,
    )
    from tfdist.estimators.estimator import (
        Estimator,
    )
    from tfdist.estimators.estimator_spec import (
        EstimatorSpec,
        ModeKeys,
    )
    from tfdist.estimators.export.exporters import (
        BestExporter,
        FinalExporter,
        LatestExporter,
    )
    from tfdist.estimators.extenders import (
        add_metrics,
        classifier_parse_example_spec,
        regressor_parse_example_spec,
    )
    from tfdist.estimators.run_config import (
        RunConfig,
    )
    from tfdist.estimators.specs import (
        EvalSpec,
        Exporter,
        TrainSpec,
    )
    from tfdist.estimators.train_and_evaluate import (
        train_and_evaluate,
    )
    from tfdist.estimators.warm_starting import (
        WarmStartSettings,
    )
    from tfdist.training.saving.warm_starting import (
        VocabInfo,
    )

__getattr__, __dir__ = lazy(__name__, "tf.estimator")
