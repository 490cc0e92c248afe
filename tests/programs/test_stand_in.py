"""`import tensorflow` gives tfdist: every path that programs import from leads somewhere."""

import importlib
import subprocess
import sys

import pytest

import tfdist
from tfdist.programs.stand_in import inherited, install, uninstall


@pytest.fixture(autouse=True)
def installed():
    install()
    yield
    uninstall()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("import tensorflow as found", "tensorflow"),
        ("import tensorflow.compat.v1 as tf; found = tf.Session", tfdist.Session),
        ("from tensorflow import train; found = train.Server", tfdist.train.Server),
        ("from tensorflow.python.framework import ops; found = ops.Graph", tfdist.Graph),
        ("from tensorflow.python.framework.ops import Tensor as found", tfdist.Tensor),
        ("from tensorflow.python.ops import tensor_array_ops as t; found = t.TensorArray",
         tfdist.TensorArray),
        ("from tensorflow.python.training import server_lib; found = server_lib.ClusterSpec",
         tfdist.train.ClusterSpec),
        ("from tensorflow.python.framework.errors import OpError as found", tfdist.OpError),
        ("from tensorflow.python.client.timeline import Timeline as found",
         importlib.import_module("tfdist.tracing.steps.timeline").Timeline),
        ("from tensorflow.core.protobuf import config_pb2; found = config_pb2.ConfigProto",
         tfdist.ConfigProto),
        ("from tensorflow.core.framework.graph_pb2 import GraphDef as found", tfdist.GraphDef),
        ("from tensorflow.examples.tutorials.mnist import input_data as found",
         "tensorflow.examples.tutorials.mnist.input_data"),
        ("import tensorflow as tf; found = tf.examples.tutorials.mnist.mnist.IMAGE_PIXELS", 784),
        ("import tensorflow as tf; found = tf.gfile.Exists('/')", True),
        ("import tensorflow as tf; found = tf.__version__", "1.15.5"),
        ("from tensorflow.contrib import training as found", "tfdist.api.contrib.training"),
        ("from tensorflow.contrib.training import byte_size_load_fn as found", "byte_size_load_fn"),
        ("from tensorflow.contrib.layers.python.layers.regularizers import l2_regularizer as found",
         "l2_regularizer"),
        ("from tensorflow.contrib.framework.python.ops import variables as inner; "
         "found = inner.variable", "variable"),
        ("import tensorflow.contrib as outer; found = outer.learn.datasets.mnist.read_data_sets",
         "read_data_sets"),
        ("from tensorflow.python.ops import rnn, rnn_cell; found = rnn.rnn", "static_rnn"),
        ("from tensorflow.models.rnn import rnn_cell; found = rnn_cell.GRUCell", "GRUCell"),
        ("from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear as found", "linear"),
        ("import tensorflow as tf; found = tf.nn.seq2seq.sequence_loss_by_example",
         "sequence_loss_by_example"),
        ("import tensorflow as tf; found = tf.distribute.Server is tf.train.Server", True),
        ("import tensorflow as tf; found = tf.float32", tfdist.float32),
        ("from tensorboard.plugins import projector; found = projector.visualize_embeddings",
         "visualize_embeddings"),
        ("from tensorflow.contrib.tensorboard.plugins import projector; "
         "found = projector.ProjectorConfig().embeddings.add", "add"),
        ("from tensorflow.python.data.experimental.ops import shuffle_and_repeat as found",
         "shuffle_and_repeat"),
        ("from tensorflow.python.util import tf_decorator; found = tf_decorator.unwrap", "unwrap"),
        ("import tensorflow.compat.v2 as tf2; found = tf2.Module", tfdist.Module),
        ("from tensorflow.compat.v2 import math; found = math.reduce_sum", tfdist.reduce_sum),
        ("import tensorflow.compat.v2 as tf2; found = hasattr(tf2, 'placeholder')", False),
        ("import tensorflow as tf; found = tf.compat.v2.compat.v1.Session", tfdist.Session),
        ("from tensorflow.python.ops.rnn import rnn_cell_impl; found = rnn_cell_impl.LSTMCell",
         "LSTMCell"),
        ("from tensorflow.python.ops.rnn_cell import array_ops as inner; found = inner.concat",
         "concat"),
        ("from tensorflow.python.autograph.pyct import anno, transformer; found = transformer.Base",
         "Base"),
        ("import tensorflow as tf; found = tf.estimator.tpu.TPUEstimator", "TPUEstimator"),
        ("import tensorflow.compat.v2 as tf; found = tf.math.bincount([1]).dtype.name == 'int32'",
         True),
        ("from tensorflow.python.tools import saved_model_utils as inner; "
         "found = inner.get_saved_model_tag_sets", "get_saved_model_tag_sets"),
        ("from tensorflow.python.saved_model.loader_impl import parse_saved_model as found",
         "parse_saved_model"),
        ("from tensorflow.python.estimator.canned import head; found = "
         "head._binary_logistic_head_with_sigmoid_cross_entropy_loss(weight_column='w')._reduction",
         "weighted_sum"),
        ("from tensorflow.python.estimator.canned.head import _regression_head as head; "
         "found = head(label_dimension=2).logits_dimension", 2),
        ("from tensorflow.python.estimator.canned import head; "
         "found = head._multi_class_head_with_softmax_cross_entropy_loss(3).create_loss",
         "create_loss"),
        ("import tensorflow_estimator; found = tensorflow_estimator.estimator.Estimator",
         "Estimator"),
        ("from tensorflow_estimator import estimator; found = estimator.EstimatorSpec",
         "EstimatorSpec"),
        ("from tensorflow_estimator.python.estimator import estimator, model_fn; "
         "found = estimator.Estimator", "Estimator"),
        ("from tensorflow_estimator.python.estimator.canned import metric_keys; "
         "found = metric_keys.MetricKeys", "MetricKeys"),
        ("from tensorflow_estimator.contrib.estimator.python.estimator import extenders; "
         "found = extenders.forward_features", "forward_features"),
        ("from tensorflow.python.autograph.impl.api import do_not_convert as found",
         "do_not_convert"),
        ("found = __import__('tensorflow.python.ops', fromlist=['missing'])",
         "tensorflow.python.ops"),
        ("found = __import__('tensorflow.contrib.slim', fromlist=[''])", "tensorflow.contrib.slim"),
    ],
)  # fmt: skip
def test_what_an_import_gives(statement, found):
    names = {}
    exec(statement, names)
    assert names["found"] == found or getattr(names["found"], "__name__", "") == found


# What programs import from TensorFlow's inside: a module of tensorflow.python, and names of it.
INNER = """
framework.ops: Graph convert_n_to_tensor default_session get_name_scope internal_convert_to_tensor
framework.ops: RegisterGradient IndexedSlices GraphKeys reset_default_graph strip_name_scope uid
framework.tensor_shape: TensorShape Dimension as_shape as_dimension unknown_shape vector matrix
framework.tensor_util: constant_value constant_value_as_shape make_tensor_proto MakeNdarray
framework.device: DeviceSpec merge_device
framework.smart_cond: smart_cond smart_constant_value
framework.tensor_spec: TensorSpec BoundedTensorSpec
framework.graph_util: convert_variables_to_constants extract_sub_graph
ops.array_ops: placeholder concat stack gather boolean_mask shape_internal size_internal
ops.rnn_cell_impl: BasicLSTMCell LayerRNNCell assert_like_rnncell _concat _zero_state_tensors
data.ops.dataset_ops: Dataset DatasetV1 DatasetV1Adapter DatasetV2
estimator.util: fn_args
ops.math_ops: matmul reduce_sum to_float add_n segment_sum
ops.nn_ops: conv2d bias_add softmax_cross_entropy_with_logits
ops.control_flow_ops: cond while_loop with_dependencies switch merge
ops.init_ops: Zeros Constant VarianceScaling Orthogonal Initializer glorot_uniform_initializer
ops.embedding_ops: embedding_lookup embedding_lookup_sparse
ops.data_flow_ops: FIFOQueue StagingArea Barrier ConditionalAccumulator
ops.gen_nn_ops: max_pool_grad relu_grad conv2d_backprop_input
ops.gen_math_ops: mat_mul add
ops.gen_array_ops: gather_v2 reshape
ops.resource_variable_ops: ResourceVariable
ops.variables: Variable PartitionedVariable trainable_variables
ops.weights_broadcast_ops: broadcast_weights assert_broadcastable
ops.losses.losses_impl: Reduction compute_weighted_loss
training.saver: Saver BaseSaverBuilder latest_checkpoint
training.saving.saveable_object: SaveableObject SaveSpec
training.tracking.util: Checkpoint
training.monitored_session: MonitoredSession USE_DEFAULT
training.optimizer: Optimizer
training.training_util: get_or_create_global_step
training.moving_averages: assign_moving_average
training.session_run_hook: SessionRunHook SessionRunArgs
util.nest: flatten map_structure pack_sequence_as is_sequence assert_same_structure
util.compat: as_bytes as_text
util.deprecation: deprecated deprecated_args
util.tf_export: tf_export
util.tf_inspect: getfullargspec getargspec isfunction getmro
util.tf_contextlib: contextmanager
util.tf_decorator: make_decorator unwrap
util.function_utils: fn_args has_kwargs get_func_name get_func_code
util.all_util: remove_undocumented make_all
client.session: Session BaseSession
layers.utils: smart_cond constant_value normalize_tuple conv_output_length
lib.io.file_io: FileIO file_exists get_matching_files read_file_to_string
data.util.nest: flatten map_structure
tools.inspect_checkpoint: print_tensors_in_checkpoint_file
tools.freeze_graph: freeze_graph freeze_graph_with_def_protos
"""


@pytest.mark.parametrize("line", INNER.strip().split("\n"))
def test_inner_modules_have_the_names_that_programs_use(line):
    path, names = line.split(": ")
    module = importlib.import_module(f"tensorflow.python.{path}")
    missing = [name for name in names.split() if not hasattr(module, name)]
    assert not missing


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("tensorflow", "Session ConfigProto GraphDef app flags train estimator contrib"),
        ("tensorflow.compat.v1", "Session layers estimator"),
        ("tensorflow.keras.layers", "Dense BatchNormalization Input"),
        ("tensorflow.contrib.layers", "conv2d fully_connected xavier_initializer"),
        ("tensorflow.contrib.rnn", "BasicLSTMCell static_rnn"),
        ("tensorflow.python.framework.ops", "Tensor convert_to_tensor"),
    ],
)
def test_an_import_of_all_names_gives_them(path, names):
    found = {}
    exec(f"from {path} import *", found)
    assert set(names.split()) <= set(found)
    assert not [name for name in found if name.startswith("_") and name != "__builtins__"]


def test_inner_utilities_work():
    from tensorflow.python.estimator.util import fn_args
    from tensorflow.python.ops.rnn_cell_impl import _concat
    from tensorflow.python.util import function_utils, tf_inspect

    def sums(a, b=1, *rest, **options):
        """Sum."""

    assert fn_args(sums) == ("a", "b")
    assert function_utils.has_kwargs(sums)
    assert tf_inspect.getargspec(sums) == (["a", "b"], "rest", "options", (1,))
    assert function_utils.get_func_name(sums) == "sums"
    assert _concat(2, tfdist.TensorShape([None, 3]), static=True) == [2, None, 3]
    with tfdist.Session() as session:
        assert session.run(_concat(tfdist.constant(2), [3, 4])).tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="None"):
        _concat(None, 3)


def test_inner_functions_work(tmp_path, capsys):
    from tensorflow.python.framework import ops, tensor_shape, tensor_util
    from tensorflow.python.layers import utils
    from tensorflow.python.lib.io import file_io
    from tensorflow.python.ops import gen_nn_ops
    from tensorflow.python.tools import inspect_checkpoint

    with tfdist.Graph().as_default(), tfdist.Session() as session:
        tensors = ops.convert_n_to_tensor([1, 2.0], name="n")
        assert [each.op.name for each in tensors] == ["n_0", "n_1"]
        shape = tensor_util.constant_value_as_shape(tfdist.constant([2, -1]))
        assert tensor_shape.as_shape(shape).as_list() == [2, None]
        relu = gen_nn_ops.relu_grad(tfdist.constant([1.0, 2.0]), tfdist.constant([-1.0, 3.0]))
        assert session.run(relu).tolist() == [0.0, 2.0]
        tfdist.Variable(3.0, name="v")
        session.run(tfdist.global_variables_initializer())
        path = tfdist.train.Saver().save(session, f"{tmp_path}/m")
        with ops.default_session(session):
            assert ops.get_default_session() is session
    inspect_checkpoint.print_tensors_in_checkpoint_file(path, "", all_tensors=True)
    assert capsys.readouterr().out == "tensor_name:  v\n3.0\n# Total number of params: 1\n"
    file_io.write_string_to_file(f"{tmp_path}/text", "hello")
    assert file_io.read_file_to_string(f"{tmp_path}/text") == "hello"
    assert utils.normalize_tuple(3, 2, "stride") == (3, 3)
    assert utils.conv_output_length(7, 3, "valid", 2) == 3


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("import tensorflow.nosuch", ImportError, "tfdist has no tensorflow.nosuch"),
        ("__import__('tensorflow.nosuch')", ModuleNotFoundError, "tfdist has no tensorflow.nosuch"),
        ("import tensorflow as tf; tf.compat.v2.reduce_smu", AttributeError,
         "tfdist has no tf.compat.v2.reduce_smu; near it are tf.compat.v2.reduce_sum"),
        ("from tensorflow.python.ops.math_ops import redcue_sum", ImportError,
         "tfdist has no tensorflow.python.ops.math_ops.redcue_sum; near it are tf.reduce_sum"),
        ("import tensorflow as tf; tf.constnat", AttributeError,
         "tfdist has no tensorflow.constnat; near it are tf.constant"),
        ("import tensorflow as tf; tf.Server", AttributeError,
         "tfdist has no tensorflow.Server; near it are tf.train.Server"),
        ("import tfdist as tf; tf.train.Sever", AttributeError,
         "tfdist has no tf.train.Sever; near it are tf.train.Server"),
        ("import tfdist as tf; tf.constnat", AttributeError, "near it are tf.constant"),
        ("import tensorflow as tf; tf.contrib.tensor_forest", AttributeError,
         r"tfdist has no tf.contrib.tensor_forest$"),
        ("import tensorflow.contrib.lyers", ImportError, "; near it are tensorflow.contrib.layers"),
        ("import tensorflow.examples.tutorials.mnist.inputdata", ImportError,
         "near it are tensorflow.examples.tutorials.mnist.input_data"),
        ("import tfdist as tf; tf.contrib.staging.Foo", AttributeError,
         r"tfdist has no tf.contrib.staging.Foo$"),
        ("import tfdist as tf; tf.saved_model.builder.X", AttributeError, "saved_model.builder.X"),
        ("import tensorflow.contrib.staging.Foo", ImportError,
         "near it are tensorflow.contrib.staging$"),
    ],
)  # fmt: skip
def test_a_missing_name_is_told_with_what_is_near(statement, error, text):
    with pytest.raises(error, match=text):
        exec(statement, {})


def test_a_module_is_made_once_and_gone_after_uninstall():
    import tensorflow as first

    importlib.import_module("tensorflow")
    assert sys.modules["tensorflow"] is first
    uninstall()
    assert "tensorflow" not in sys.modules


def test_processes_inherit_it():
    program = "import tensorflow as tf; print(tf.Session.__module__)"
    command = [sys.executable, "-c", program]
    printed = subprocess.run(
        command, env=inherited(), capture_output=True, text=True, check=True, timeout=60
    )
    assert printed.stdout == "tfdist.session.session\n"


def test_tensorflow_itself_is_not_replaced():
    program = (
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "import tfdist; tfdist.install()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stderr.endswith(
        "was imported before tfdist.install(): call that first, in a fresh kernel or process\n"
    )


def test_packages_inside_are_not_those_of_tfdist():
    found = importlib.import_module("tensorflow.python")
    importlib.import_module("tfdist.ops")
    assert found.ops.variables.Variable is tfdist.Variable
    assert found.training.saver.Saver is tfdist.train.Saver


def test_a_module_is_loaded_when_it_is_asked_for_a_name():
    from tensorflow.python.util.lazy_loader import LazyLoader

    names = {}
    names["late"] = LazyLoader("late", names, "colorsys")
    assert names["late"].rgb_to_hsv(0, 0, 1)[2] == 1
    assert names["late"] is importlib.import_module("colorsys")


def test_parts_are_not_looked_for_in_attributes_that_a_class_ignores():
    base = tfdist.Module

    class Cached(base):
        _TF_MODULE_IGNORED_PROPERTIES = frozenset({"cache"}) | base._TF_MODULE_IGNORED_PROPERTIES

        def __init__(self):
            super().__init__("cached")
            self.cache = [tfdist.Variable(1.0, name="cached")]
            self.own = tfdist.Variable(2.0, name="own")

    assert [each.name for each in Cached().variables] == ["own:0"]
