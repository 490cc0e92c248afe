"""Which of TensorFlow's module paths leads where.

Programs import from everywhere in TensorFlow, `tensorflow.python` too. A path stands for the first
of these that knows it: a module of `HOMES`; the messages, for what is in `tensorflow.core`; a
public namespace, as `tensorflow.compat.v1.train`; all public names, for a module anywhere in
`tensorflow.python`, whose names are public somewhere else as a rule.
"""

from __future__ import annotations

ROOT = "tensorflow"
BOARD = "tensorboard"
ESTIMATOR = "tensorflow_estimator"  # a package of its own, since TensorFlow 1.13
VERSION = "1.15.5"  # whose behaviour this is

_PROGRAMS = "tfdist.programs"

# Module of TensorFlow -> module of ours.
HOMES = {
    "tensorboard.plugins.projector": "tfdist.training.events.projector",
    "tensorflow.app": f"{_PROGRAMS}.app",
    "tensorflow_estimator.estimator": "tfdist.api.estimator",
    "tensorflow.contrib.all_reduce.python.all_reduce": "tfdist.models.contrib.all_reduce",
    "tensorflow.contrib.layers.python.layers.utils": "tfdist.models.contrib.layers.utils",
    "tensorflow.contrib.learn.python.learn.datasets.mnist": f"{_PROGRAMS}.input_data",
    "tensorflow.examples.tutorials.mnist.input_data": f"{_PROGRAMS}.input_data",
    "tensorflow.examples.tutorials.mnist.mnist": f"{_PROGRAMS}.mnist",
    "tensorflow.flags": f"{_PROGRAMS}.flags",
    "tensorflow.gfile": f"{_PROGRAMS}.gfile",
    "tensorflow.logging": f"{_PROGRAMS}.logs",
    "tensorflow.models.rnn.rnn": "tfdist.api.nn",
    "tensorflow.models.rnn.rnn_cell": "tfdist.api.nn.rnn_cell",
    "tensorflow.models.rnn.seq2seq": "tfdist.api.contrib.legacy_seq2seq",
    "tensorflow.python.client.device_lib": "tfdist.session.device_lib",
    "tensorflow.python.client.timeline": "tfdist.tracing.steps.timeline",
    "tensorflow.contrib.training.python.training.hparam_pb2": "tfdist.protos.pb",
    "tensorflow.python.data.util.nest": "tfdist.models.contrib.framework.nest",
    "tensorflow.python.framework.errors": "tfdist.errors",
    "tensorflow.python.framework.errors_impl": "tfdist.errors",
    "tensorflow.python.keras.engine.base_layer": "tfdist.api.keras.layers",
    "tensorflow.python.keras.engine.input_layer": "tfdist.api.keras.layers",
    "tensorflow.python.keras.engine.input_spec": "tfdist.api.keras.layers",
    "tensorflow.python.keras.engine.topology": "tfdist.api.keras.layers",
    "tensorflow.python.layers.utils": f"{_PROGRAMS}.inner_keras",
    "tensorflow.python.keras.utils.tf_utils": f"{_PROGRAMS}.inner_keras",
    "tensorflow.python.ops.linalg.linear_operator_addition": f"{_PROGRAMS}.inner_linalg",
    "tensorflow.python.ops.linalg.linear_operator_util": f"{_PROGRAMS}.inner_linalg",
    "tensorflow.python.util.lazy_loader": f"{_PROGRAMS}.inner_util",
    "tensorflow.python.lib.io.file_io": f"{_PROGRAMS}.file_io",
    "tensorflow.python.lib.io.tf_record": "tfdist.api.python_io",
    "tensorflow.python.ops.rnn_cell": "tfdist.api.nn.rnn_cell",
    "tensorflow.python.ops.seq2seq": "tfdist.api.contrib.legacy_seq2seq",
    "tensorflow.python.platform.app": f"{_PROGRAMS}.app",
    "tensorflow.python.platform.flags": f"{_PROGRAMS}.flags",
    "tensorflow.python.platform.gfile": f"{_PROGRAMS}.gfile",
    "tensorflow.python.platform.tf_logging": f"{_PROGRAMS}.logs",
    "tensorflow.python.saved_model": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.builder": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.constants": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.loader": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.main_op": "tfdist.training.saved_model.builder",
    "tensorflow.python.saved_model.signature_constants": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.loader_impl": "tfdist.training.saved_model.loader",
    "tensorflow.python.saved_model.signature_def_utils": "tfdist.api.saved_model",
    "tensorflow.python.saved_model.simple_save": "tfdist.training.saved_model.builder",
    "tensorflow.python.saved_model.tag_constants": "tfdist.api.saved_model",
    "tensorflow.contrib.framework.python.ops.audio_ops": f"{_PROGRAMS}.audio_ops",
    "tensorflow.python.saved_model.utils": "tfdist.api.saved_model",
    "tensorflow.python.tools.freeze_graph": f"{_PROGRAMS}.freeze_graph",
    "tensorflow.python.tools.optimize_for_inference_lib": f"{_PROGRAMS}.optimize_for_inference",
    "tensorflow.python.tools.saved_model_utils": "tfdist.training.saved_model.tag_sets",
    "tensorflow.python.tools.strip_unused_lib": f"{_PROGRAMS}.optimize_for_inference",
    "tensorflow.python.tools.inspect_checkpoint": f"{_PROGRAMS}.inspect_checkpoint",
    "tensorflow.python.training.moving_averages": "tfdist.training.optimizers.moving_averages",
    "tensorflow.python.training.saving.saveable_object": "tfdist.ops.io.saveable_object",
    "tensorflow.python.training.slot_creator": "tfdist.training.optimizers.slots",
    "tensorflow.python.training.tracking.base": "tfdist.training.saving.trackable",
    "tensorflow.python.training.tracking.util": "tfdist.api.train",
    "tensorflow.python.training.training_ops": "tfdist.ops.optimizer_ops.training_ops",
    "tensorflow.python.util.compat": "tfdist.api.compat",
    "tensorflow.python.util.nest": "tfdist.models.contrib.framework.nest",
    "tensorflow.python.util.tf_contextlib": f"{_PROGRAMS}.tf_decorator",
    "tensorflow.python.util.tf_decorator": f"{_PROGRAMS}.tf_decorator",
    "tensorflow.python.util.tf_inspect": f"{_PROGRAMS}.inner_util",
    "tensorflow.python_io": "tfdist.api.python_io",
}

# Modules of one package -> of ours.
HOMES |= {
    f"{package}.{module}": home
    for package, modules in {
        "tensorflow.contrib.slim.python.slim.data": {
            "data_decoder": "tfdist.training.slim.tfexample_decoder",
            "data_provider": "tfdist.training.slim.data_provider",
            "dataset": "tfdist.training.slim.dataset",
            "dataset_data_provider": "tfdist.training.slim.data_provider",
            "parallel_reader": "tfdist.training.slim.parallel_reader",
            "prefetch_queue": "tfdist.training.slim.prefetch_queue",
            "tfexample_decoder": "tfdist.training.slim.tfexample_decoder",
        },
        "tensorflow.python.data.experimental": {
            "ops": "tfdist.api.data.experimental",
        },
        "tensorflow.python": {"autograph": "tfdist.api.autograph"},
        "tensorflow.python.autograph": {
            "impl.api": "tfdist.api.autograph.experimental",
            **dict.fromkeys(
                "converters.break_statements converters.continue_statements "
                "converters.return_statements core.converter core.naming pyct.anno "
                "pyct.common_transformers.anf pyct.compiler pyct.inspect_utils pyct.parser "
                "pyct.qual_names pyct.templates pyct.transformer".split(),
                f"{_PROGRAMS}.autograph",
            ),
        },
        "tensorflow.contrib.learn.python.learn.datasets": {
            "base": "tfdist.estimators.contrib_learn.datasets",
        },
        "tensorflow.python.distribute.cluster_resolver": {
            name: "tfdist.api.distribute.cluster_resolver"
            for name in (
                "cluster_resolver", "kubernetes_cluster_resolver", "slurm_cluster_resolver",
                "tfconfig_cluster_resolver", "tpu_cluster_resolver",
            )
        },
        "tensorflow.contrib.learn.python.learn.preprocessing": {
            "categorical_vocabulary": "tfdist.estimators.contrib_learn.texts",
            "text": "tfdist.estimators.contrib_learn.texts",
        },
        "tensorflow.contrib.slim.python.slim": {
            "evaluation": "tfdist.training.slim.evaluation",
            "learning": "tfdist.training.slim.learning",
            "model_analyzer": "tfdist.models.contrib.slim.model_analyzer",
        },
        "tensorflow.contrib.slim.python.slim.nets": {
            name: f"tfdist.models.contrib.slim.{name}"
            for name in (
                "alexnet", "inception", "inception_v1", "inception_v2", "inception_v3", "overfeat",
                "resnet_utils", "resnet_v1", "resnet_v2", "vgg",
            )
        },
        "tensorflow.python.tpu": {
            name: "tfdist.estimators.tpu.hardware" for name in ("topology", "ops.tpu_ops")
        },
        "tensorflow.python.estimator.canned": {
            name: "tfdist.estimators.canned.for_libraries"
            for name in ("head", "metric_keys", "optimizers", "prediction_keys")
        },
    }.items()
    for module, home in modules.items()
}  # fmt: skip

_FRAMEWORK, _OPS = f"{_PROGRAMS}.inner_framework", f"{_PROGRAMS}.inner_ops"
_UTIL, _EAGER = f"{_PROGRAMS}.inner_util", f"{_PROGRAMS}.inner_eager"
_TESTS = f"{_PROGRAMS}.inner_tests"
_SEQ2SEQ = f"{_PROGRAMS}.inner_seq2seq"
_KERAS_NAMES = f"{_PROGRAMS}.inner_keras"
_COLUMNS = "tfdist.estimators.columns.kinds"

# The same, for modules whose other names are public ones.
BESIDES = {
    "tensorflow.python.compat.compat": [_EAGER],
    "tensorflow.python.eager.context": [_EAGER],
    "tensorflow.python.eager.def_function": [_EAGER],
    "tensorflow.python.eager.function": [_EAGER],
    "tensorflow.python.feature_column.feature_column": [_COLUMNS],
    "tensorflow.python.feature_column.feature_column_lib": [_COLUMNS],
    "tensorflow.python.feature_column.feature_column_v2": [_COLUMNS],
    "tensorflow.python.framework.constant_op": [_FRAMEWORK],
    "tensorflow.python.framework.dtypes": ["tfdist.base.dtypes"],
    "tensorflow.python.framework.indexed_slices": [
        _FRAMEWORK,
        "tfdist.ops.framework.indexed_slices",
    ],
    "tensorflow.python.framework.meta_graph": ["tfdist.training.saving.collection_defs"],
    "tensorflow.python.framework.sparse_tensor": [_FRAMEWORK],
    "tensorflow.python.framework.device_spec": [_FRAMEWORK],
    "tensorflow.python.layers.base": [_OPS],
    "tensorflow.python.layers.convolutional": ["tfdist.models.layers.older_names"],
    "tensorflow.python.layers.core": ["tfdist.models.layers.older_names"],
    "tensorflow.python.layers.normalization": ["tfdist.models.layers.older_names"],
    "tensorflow.python.layers.pooling": ["tfdist.models.layers.older_names"],
    "tensorflow.python.summary.summary_iterator": ["tfdist.formats.events"],
    "tensorflow.python.ops.variable_scope": [_OPS],
    "tensorflow.python.ops.gradient_checker_v2": [_TESTS],
    "tensorflow.python.ops.init_ops_v2": [_OPS],
    "tensorflow.python.ops.math_ops": [_TESTS],
    "tensorflow.python.ops.random_ops": [_OPS],
    "tensorflow.python.ops.op_selector": ["tfdist.models.graph_editor.select"],
    "tensorflow.python.ops.spectral_ops_test_util": [_TESTS],
    "tensorflow.python.ops.stateful_random_ops": ["tfdist.api.random.experimental"],
    "tensorflow.python.ops.template": ["tfdist.ops.variables.templates"],
    "tensorflow.python.platform.googletest": [_TESTS],
    "tensorflow.python.platform.resource_loader": [f"{_PROGRAMS}.resources"],
    "tensorflow.python.tf2": [_EAGER],
    "tensorflow.python.util.object_identity": [_TESTS],
    "tensorflow.python.data.ops.dataset_ops": [_OPS],
    "tensorflow.python.estimator.util": [_UTIL],
    "tensorflow.python.framework.common_shapes": ["tfdist.models.contrib.framework.common_shapes"],
    "tensorflow.python.framework.composite_tensor": [_FRAMEWORK],
    "tensorflow.python.framework.device": [_FRAMEWORK],
    "tensorflow.python.framework.ops": ["tfdist.training.saving.collection_defs", _FRAMEWORK],
    "tensorflow.python.framework.op_def_library": [f"{_PROGRAMS}.op_def_library"],
    "tensorflow.python.framework.op_def_registry": [f"{_PROGRAMS}.op_def_library"],
    "tensorflow.python.framework.random_seed": [_FRAMEWORK],
    "tensorflow.python.framework.registry": [f"{_PROGRAMS}.registry"],
    "tensorflow.python.framework.test_util": [f"{_PROGRAMS}.testing_util"],
    "tensorflow.python.framework.smart_cond": ["tfdist.models.contrib.framework.smart_cond"],
    "tensorflow.python.framework.tensor_shape": [_FRAMEWORK],
    "tensorflow.python.framework.tensor_spec": ["tfdist.models.contrib.bounded_specs"],
    "tensorflow.python.framework.type_spec": ["tfdist.ops.framework.type_spec"],
    "tensorflow.python.framework.tensor_util": [_FRAMEWORK, _TESTS],
    "tensorflow.python.ops.array_ops": [_OPS, _TESTS],
    "tensorflow.python.ops.confusion_matrix": ["tfdist.models.losses.weights"],
    "tensorflow.python.keras.backend": [_KERAS_NAMES],
    "tensorflow.python.ops.metrics_impl": [f"{_PROGRAMS}.inner_metrics"],
    "tensorflow.python.pywrap_tensorflow": [_FRAMEWORK, "tfdist.training.events.inner_writer"],
    "tensorflow.python.ops.rnn": ["tfdist.api.nn", _SEQ2SEQ, _OPS],
    "tensorflow.python.ops.inplace_ops": [_OPS],
    "tensorflow.python.ops.summary_op_util": [_OPS],
    "tensorflow.python.distribute.summary_op_util": [_OPS],
    "tensorflow.python.training.evaluation": [_OPS],
    "tensorflow.python.ops.nn_ops": [_OPS],
    "tensorflow.python.ops.control_flow_ops": [
        "tfdist.ops.control_flow.case",
        "tfdist.ops.control_flow.switch_merge",
        "tfdist.ops.control_flow.context_defs",
        _OPS,
    ],
    "tensorflow.python.ops.control_flow_util": ["tfdist.ops.control_flow.control_flow_util"],
    "tensorflow.python.ops.ctc_ops": ["tfdist.ops.nn.dense_ctc_loss"],
    "tensorflow.python.ops.data_flow_ops": [
        "tfdist.ops.queues.barriers",
        "tfdist.ops.queues.staging",
    ],
    "tensorflow.python.ops.functional_ops": ["tfdist.ops.functions.functional"],
    "tensorflow.python.ops.init_ops": [_OPS],
    "tensorflow.python.ops.lookup_ops": ["tfdist.api.contrib.lookup", "tfdist.api.lookup"],
    "tensorflow.python.ops.partitioned_variables": ["tfdist.ops.variables.partitioned_variables"],
    "tensorflow.python.ops.resource_variable_ops": [
        "tfdist.ops.variables.resource_variables",
        _OPS,
    ],
    "tensorflow.python.ops.variables": ["tfdist.ops.variables.partitioned_variables", _OPS],
    "tensorflow.python.ops.rnn_cell_impl": ["tfdist.api.nn.rnn_cell", _OPS],
    "tensorflow.python.ops.weights_broadcast_ops": ["tfdist.models.losses.weights"],
    "tensorflow.python.training.monitored_session": [
        "tfdist.training.sessions.wrapped_sessions",
        _OPS,
    ],
    "tensorflow.python.training.optimizer": [_OPS],
    "tensorflow.python.training.summary_io": [_OPS],
    "tensorflow.python.summary.writer.writer_cache": [_OPS],
    "tensorflow.python.ops.state_ops": ["tfdist.ops.variables.legacy_variables"],
    "tensorflow.python.training.saver": ["tfdist.training.saving.saver_builder"],
    "tensorflow.python.util.all_util": [_UTIL],
    "tensorflow.python.util.deprecation": ["tfdist.models.contrib.framework.deprecation", _UTIL],
    "tensorflow.python.util.function_utils": [_UTIL],
    "tensorflow.python.util.tf_export": [_FRAMEWORK],
    "tensorflow.python.client.session": [
        "tfdist.session.base_session",
        "tfdist.session.conversions",
    ],
    **{
        f"tensorflow.contrib.seq2seq.python.ops.{module}": [_SEQ2SEQ]
        for module in ("attention_wrapper", "beam_search_decoder", "decoder", "helper")
    },
}

# Modules that modules of `tensorflow.python` import, and so have as names: package -> their names.
IMPORTED = {
    name: f"tensorflow.python.{package}.{name}"
    for package, names in {
        "eager": "context",
        "framework": "common_shapes constant_op dtypes errors function graph_util op_def_registry "
        "ops random_seed registry smart_cond sparse_tensor tensor_shape tensor_spec tensor_util",
        "ops": "array_ops check_ops clip_ops control_flow_ops control_flow_util data_flow_ops "
        "embedding_ops gen_array_ops gen_data_flow_ops gen_math_ops gen_nn_ops gen_sparse_ops "
        "gradients_impl init_ops linalg_ops logging_ops lookup_ops math_ops nn_impl nn_ops "
        "partitioned_variables random_ops resource_variable_ops rnn_cell_impl sparse_ops state_ops "
        "string_ops tensor_array_ops variable_scope variables",
        "platform": "tf_logging",
        "training": "moving_averages slot_creator training_ops training_util",
        "util": "compat deprecation function_utils nest tf_contextlib tf_decorator tf_inspect",
    }.items()
    for name in names.split()
}

# Packages that programs find in `tensorflow.python` without importing them.
INNER = frozenset(
    f"tensorflow.python.{name}"
    for name in "client data eager framework keras layers lib ops platform saved_model summary "
    "training util".split()
)

# Modules in which ops have the names of functions, "max_pool_grad" for MaxPoolGrad: those that
# are generated have nothing else, of the others these names come last.
RAW = ("tensorflow.python.ops.gen_", "tensorflow.python.training.gen_",
       "tensorflow.python.framework.test_ops")  # fmt: skip
RAW_TOO = "tensorflow.python.ops."

MESSAGES = "tensorflow.core"

# Public namespaces besides tf itself, in which names of `tensorflow.python` are looked for.
NAMESPACES = (
    "train", "nn", "math", "data", "summary", "layers", "losses", "metrics", "linalg", "debugging",
    "initializers", "graph_util", "gfile", "python_io", "image", "test", "app",
    "signal", "spectral", "estimator", "feature_column", "strings", "sparse", "lookup",
    "saved_model", "random", "bitwise", "quantization", "dtypes", "distributions", "sets",
)  # fmt: skip

# Packages that hold modules, and nothing else that programs use.
PACKAGES = frozenset(
    ".".join(path.split(".")[:depth]) for path in HOMES for depth in range(2, path.count(".") + 1)
)

_KERAS = "tensorflow.python.keras"
_KERAS_SPACES = (
    "activations", "backend", "callbacks", "constraints", "datasets", "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers", "utils",
    "wrappers",
)  # fmt: skip

# Packages deeper in `tensorflow.python` that have modules.
_DEEP = (
    "tensorflow.python.data.ops", "tensorflow.python.data.util", "tensorflow.python.lib.io",
    "tensorflow.python.ops.losses", "tensorflow.python.summary.writer",
    "tensorflow.python.data.experimental.ops", "tensorflow.python.ops.distributions",
    "tensorflow.python.ops.linalg", "tensorflow.python.ops.ragged",
    "tensorflow.python.ops.signal",
    "tensorflow.python.training.saving", "tensorflow.python.training.tracking",
)  # fmt: skip


# Packages whose modules have the names of a public namespace: these come first.
_OF_SPACES = {
    "tensorflow.python.data.experimental.ops.": "tensorflow.data.experimental",
    "tensorflow.python.ops.distributions.": "tensorflow.distributions",
    "tensorflow.python.ops.linalg.": "tensorflow.linalg",
    "tensorflow.python.ops.ragged.": "tensorflow.ragged",
    "tensorflow.python.ops.signal.": "tensorflow.signal",
    "tensorflow.python.layers.": "tensorflow.layers",
    "tensorflow.python.ops.metrics": "tensorflow.metrics",
    "tensorflow.python.ops.sets_impl": "tensorflow.sets",
    "tensorflow.python.ops.bitwise_ops": "tensorflow.bitwise",
}


def first_space(path: str) -> str | None:
    """Return the public namespace whose names a module has first; None if there is none."""
    return next((space for start, space in _OF_SPACES.items() if path.startswith(start)), None)


def public_path(path: str) -> str:
    """Return the public namespace of a path in tf.contrib, `tensorflow.contrib.layers` for
    `tensorflow.contrib.layers.python.layers.regularizers`, and of one in tf.keras; other paths as
    they are."""
    if path.startswith(_KERAS):
        space = path.removeprefix(_KERAS).split(".")[1:2]
        known = space and space[0] in _KERAS_SPACES
        return f"tensorflow.keras.{space[0]}" if known else "tensorflow.keras"
    return path.partition(".python")[0] if path.startswith("tensorflow.contrib.") else path


def is_inner(path: str) -> bool:
    """Return whether there may be a module at a path of `tensorflow.python`."""
    package = path.rpartition(".")[0]
    is_deep = path in _DEEP or package in _DEEP
    return path.startswith("tensorflow.python.") and (is_deep or package.count(".") <= 2)
