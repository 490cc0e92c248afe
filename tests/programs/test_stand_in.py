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
         importlib.import_module("tfdist.tracing.timeline").Timeline),
        ("from tensorflow.core.protobuf import config_pb2; found = config_pb2.ConfigProto",
         tfdist.ConfigProto),
        ("from tensorflow.core.framework.graph_pb2 import GraphDef as found", tfdist.GraphDef),
        ("from tensorflow.examples.tutorials.mnist import input_data as found",
         "tensorflow.examples.tutorials.mnist.input_data"),
        ("import tensorflow as tf; found = tf.examples.tutorials.mnist.mnist.IMAGE_PIXELS", 784),
        ("import tensorflow as tf; found = tf.gfile.Exists('/')", True),
        ("import tensorflow as tf; found = tf.__version__", "1.15.5"),
        ("from tensorflow.contrib import training as found", "tfdist.api.contrib_training"),
        ("from tensorflow.contrib.training import byte_size_load_fn as found", "byte_size_load_fn"),
        ("from tensorflow.contrib.layers.python.layers.regularizers import l2_regularizer as found",
         "l2_regularizer"),
        ("from tensorflow.contrib.framework.python.ops import variables as inner; "
         "found = inner.variable", "variable"),
        ("import tensorflow.contrib as outer; found = outer.learn.datasets.mnist.read_data_sets",
         "read_data_sets"),
        ("from tensorflow.python.ops import rnn, rnn_cell; found = rnn.rnn", "static_rnn"),
        ("from tensorflow.models.rnn import rnn_cell; found = rnn_cell.GRUCell", "GRUCell"),
        ("from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear as found", "_linear"),
        ("import tensorflow as tf; found = tf.nn.seq2seq.sequence_loss_by_example",
         "sequence_loss_by_example"),
        ("import tensorflow as tf; found = tf.distribute.Server is tf.train.Server", True),
        ("import tensorflow as tf; found = tf.float32", tfdist.float32),
    ],
)  # fmt: skip
def test_what_an_import_gives(statement, found):
    names = {}
    exec(statement, names)
    assert names["found"] == found or getattr(names["found"], "__name__", "") == found


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("import tensorflow.nosuch", ImportError, "tfdist has no tensorflow.nosuch"),
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
         "tfdist has no tf.contrib.tensor_forest"),
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
