"""tf.estimator.export: what models give to be served, and what they are served."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.estimators.export.serving import (
        ServingInputReceiver,
        TensorServingInputReceiver,
        build_parsing_serving_input_receiver_fn,
        build_raw_serving_input_receiver_fn,
    )
    from tfdist.estimators.export_outputs import (
        ClassificationOutput,
        ExportOutput,
        PredictOutput,
        RegressionOutput,
    )

__getattr__, __dir__ = lazy(__name__, "tf.estimator.export")
