"""tf.contrib.slim: layers, losses and variables for models in few lines."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.api.contrib import layers, losses, metrics
    from tfdist.api.contrib.framework import *
    from tfdist.api.contrib.framework import (
        assert_global_step,
        create_global_step,
        get_global_step,
        get_or_create_global_step,
    )
    from tfdist.api.contrib.layers import *
    from tfdist.api.contrib.slim import nets
    from tfdist.models.contrib.layers import utils
    from tfdist.models.contrib.slim import model_analyzer
    from tfdist.training.slim import (
        data_provider,
        dataset,
        evaluation,
        learning,
        parallel_reader,
        prefetch_queue,
        tfexample_decoder,
    )
    from tfdist.training.slim import data_provider as dataset_data_provider
    from tfdist.training.slim import tfexample_decoder as data_decoder

__getattr__, __dir__ = lazy(__name__, "tf.contrib.slim")
