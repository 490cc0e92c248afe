"""tf.contrib.tfprof: the first name of tf.profiler."""

# mypy: implicit-reexport

from tfdist.models.contrib.model_profile import ProfileOptionBuilder, print_model_analysis
from tfdist.programs.missing import space, told

model_analyzer = space(
    "tf.contrib.tfprof.model_analyzer",
    FLOAT_OPS_OPTIONS=ProfileOptionBuilder.float_operation(),
    TRAINABLE_VARS_PARAMS_STAT_OPTIONS=ProfileOptionBuilder.trainable_variables_parameter(),
    print_model_analysis=print_model_analysis,
)

__getattr__ = told("tf.contrib.tfprof")
