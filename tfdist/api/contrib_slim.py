"""tf.contrib.slim: layers, losses and variables for models in few lines."""

from tfdist.api import contrib_layers as layers
from tfdist.api import contrib_losses as losses
from tfdist.api import contrib_metrics as metrics
from tfdist.api import contrib_slim_nets as nets
from tfdist.api.contrib_framework import *
from tfdist.api.contrib_framework import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
)
from tfdist.api.contrib_layers import *
from tfdist.models import contrib_utils as utils
from tfdist.models import slim_model_analyzer as model_analyzer
from tfdist.programs.missing import told
from tfdist.training import slim_data_provider as data_provider
from tfdist.training import slim_data_provider as dataset_data_provider
from tfdist.training import slim_dataset as dataset
from tfdist.training import slim_evaluation as evaluation
from tfdist.training import slim_example_decoder as data_decoder
from tfdist.training import slim_example_decoder as tfexample_decoder
from tfdist.training import slim_learning as learning
from tfdist.training import slim_parallel_reader as parallel_reader
from tfdist.training import slim_prefetch_queue as prefetch_queue

__getattr__ = told("tf.contrib.slim")
