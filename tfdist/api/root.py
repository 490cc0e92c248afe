"""tf itself: everything that programs name as `tf.NAME`; also `tf.compat.v1`."""

# Each family's `__all__` says what it gives; the names are not repeated here.
from tfdist import errors
from tfdist.api import (
    audio,
    autograph,
    bitwise,
    compat,
    config,
    contrib,
    data,
    debugging,
    distribute,
    distributions,
    dtypes,
    estimator,
    feature_column,
    graph_util,
    image,
    initializers,
    io,
    keras,
    layers,
    linalg,
    lookup,
    losses,
    manip,
    math,
    metrics,
    nest,
    nn,
    python_io,
    quantization,
    queue,
    ragged,
    random,
    resource_loader,
    saved_model,
    sets,
    signal,
    sparse,
    spectral,
    strings,
    summary,
    sysconfig,
    test,
    train,
    user_ops,
    version,
)
from tfdist.api.compat import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    disable_eager_execution,
    disable_tensor_equality,
    disable_v2_behavior,
    disable_v2_tensorshape,
    enable_control_flow_v2,
    enable_eager_execution,
    enable_tensor_equality,
    enable_v2_behavior,
    enable_v2_tensorshape,
    executing_eagerly,
)
from tfdist.api.sysconfig import CXX11_ABI_FLAG, MONOLITHIC_BUILD
from tfdist.api.version import (
    COMPILER_VERSION,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    VERSION,
)
from tfdist.base.device_spec import DeviceSpec
from tfdist.base.dtypes import (
    QUANTIZED_DTYPES,
    REFERENCES,
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from tfdist.base.dtypes import bool_ as bool
from tfdist.base.dtypes import float16 as half
from tfdist.base.dtypes import float64 as double
from tfdist.base.shapes import Dimension, TensorShape
from tfdist.errors import OpError
from tfdist.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfdist.graph.create_op import create_op as _create_op
from tfdist.graph.graph import Graph
from tfdist.graph.graph_import import import_graph_def
from tfdist.graph.op_def import raw as raw_ops
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.scopes import (
    add_to_collection,
    add_to_collections,
    colocate_with,
    container,
    control_dependencies,
    device,
    get_collection,
    get_collection_ref,
    get_default_graph,
    init_scope,
    name_scope,
    op_scope,
    reset_default_graph,
)
from tfdist.graph.stacks import get_default_session
from tfdist.graph.tensor_proto import make_ndarray, make_tensor_proto
from tfdist.models.confusion import confusion_matrix
from tfdist.models.module import Module
from tfdist.ops import barriers as _barriers
from tfdist.ops import bucketize as _bucketize
from tfdist.ops import checkpoint as _checkpoint
from tfdist.ops import checkpoint_earlier as _checkpoint_earlier
from tfdist.ops import checkpoint_names as _checkpoint_names
from tfdist.ops import control_flow as _control_flow
from tfdist.ops import data_formats as _data_formats
from tfdist.ops import dataset_batching as _dataset_batching
from tfdist.ops import dataset_caching as _dataset_caching
from tfdist.ops import dataset_earlier as _dataset_earlier
from tfdist.ops import dataset_examples as _dataset_examples
from tfdist.ops import dataset_files as _dataset_files
from tfdist.ops import dataset_joining as _dataset_joining
from tfdist.ops import dataset_mapping as _dataset_mapping
from tfdist.ops import dataset_nested as _dataset_nested
from tfdist.ops import dataset_outside as _dataset_outside
from tfdist.ops import dataset_parallel as _dataset_parallel
from tfdist.ops import dataset_passing as _dataset_passing
from tfdist.ops import dataset_shuffling as _dataset_shuffling
from tfdist.ops import diagonal_bands as _diagonal_bands
from tfdist.ops import diagonals_earlier as _diagonals_earlier
from tfdist.ops import earlier_ops as _earlier_ops
from tfdist.ops import fake_queue as _fake_queue
from tfdist.ops import framework_test_ops as _framework_test_ops
from tfdist.ops import function_gradients as _function_gradients
from tfdist.ops import image_scaling as _image_scaling
from tfdist.ops import inplace as _inplace
from tfdist.ops import iterators as _iterators
from tfdist.ops import lookup_kinds as _lookup_kinds
from tfdist.ops import printing as _printing
from tfdist.ops import projective_transforms as _projective_transforms
from tfdist.ops import ragged_ops as _ragged_ops
from tfdist.ops import random_gamma_slope as _random_gamma_slope
from tfdist.ops import references as _references
from tfdist.ops import resampler as _resampler
from tfdist.ops import rewritten as _rewritten
from tfdist.ops import sparse_cross as _sparse_cross
from tfdist.ops import sparse_maps as _sparse_maps
from tfdist.ops import stacks as _stacks
from tfdist.ops import summary_writing as _summary_writing
from tfdist.ops import tensor_array_parts as _tensor_array_parts
from tfdist.ops import tensor_list_joined as _tensor_list_joined
from tfdist.ops import tensor_list_message as _tensor_list_message
from tfdist.ops import training_ops as _training_ops
from tfdist.ops import transfer as _transfer
from tfdist.ops import unique_rows as _unique_rows
from tfdist.ops import vocabulary_remapping as _vocabulary_remapping
from tfdist.ops.accumulators import *
from tfdist.ops.arrays import *
from tfdist.ops.assertions import *
from tfdist.ops.broadcasting import *
from tfdist.ops.case import *
from tfdist.ops.cast import *
from tfdist.ops.clip import *
from tfdist.ops.comparison import *
from tfdist.ops.complex_numbers import *
from tfdist.ops.cond import *
from tfdist.ops.constants import constant, placeholder, placeholder_with_default
from tfdist.ops.control import *
from tfdist.ops.convolution_spaces import *
from tfdist.ops.counting import *
from tfdist.ops.critical_section import *
from tfdist.ops.custom_gradients import *
from tfdist.ops.decompositions import *
from tfdist.ops.diagonals import *
from tfdist.ops.division import *
from tfdist.ops.edit_distance import *
from tfdist.ops.elementwise import *
from tfdist.ops.facts import *
from tfdist.ops.file_ops import *
from tfdist.ops.filling import *
from tfdist.ops.fingerprint import *
from tfdist.ops.functional import *
from tfdist.ops.functions import *
from tfdist.ops.gathering import *
from tfdist.ops.gradient_tape import *
from tfdist.ops.gradients import *
from tfdist.ops.hessians import *
from tfdist.ops.histograms import *
from tfdist.ops.initializers import *
from tfdist.ops.initializers_matrices import orthogonal_initializer
from tfdist.ops.joining import *
from tfdist.ops.linalg_cholesky import *
from tfdist.ops.linalg_eigen import *
from tfdist.ops.linalg_einsum import *
from tfdist.ops.linalg_functions import *
from tfdist.ops.linalg_inverse import *
from tfdist.ops.linalg_least_squares import *
from tfdist.ops.linalg_norms import *
from tfdist.ops.linalg_products import *
from tfdist.ops.linalg_singular import *
from tfdist.ops.linalg_solving import *
from tfdist.ops.linear import *
from tfdist.ops.math import *
from tfdist.ops.numerics import *
from tfdist.ops.padding import *
from tfdist.ops.parallel_stacks import *
from tfdist.ops.parsing_csv import *
from tfdist.ops.parsing_examples import *
from tfdist.ops.parsing_features import *
from tfdist.ops.parsing_sequences import *
from tfdist.ops.parsing_tensors import *
from tfdist.ops.partitioners import *
from tfdist.ops.partitions import *
from tfdist.ops.patches import *
from tfdist.ops.py_func import *
from tfdist.ops.quantization import *
from tfdist.ops.quantization_fake import *
from tfdist.ops.queue_kinds import *
from tfdist.ops.queues import *
from tfdist.ops.ragged_tensor import *
from tfdist.ops.random import *
from tfdist.ops.random_distributions import *
from tfdist.ops.ranking import *
from tfdist.ops.readers import *
from tfdist.ops.reductions import *
from tfdist.ops.reductions_composed import *
from tfdist.ops.repeating import *
from tfdist.ops.resource_variables import *
from tfdist.ops.scans import *
from tfdist.ops.scattering import *
from tfdist.ops.segments import *
from tfdist.ops.sequences import *
from tfdist.ops.session_handles import *
from tfdist.ops.shaping import *
from tfdist.ops.slicing import *
from tfdist.ops.sorting import *
from tfdist.ops.space_to_depth import *
from tfdist.ops.sparse_accumulators import *
from tfdist.ops.sparse_dense import *
from tfdist.ops.sparse_forms import *
from tfdist.ops.sparse_joining import *
from tfdist.ops.sparse_messages import *
from tfdist.ops.sparse_products import *
from tfdist.ops.sparse_reductions import *
from tfdist.ops.sparse_rows import *
from tfdist.ops.sparse_segments import *
from tfdist.ops.sparse_sums import *
from tfdist.ops.sparse_tensor import *
from tfdist.ops.special_functions import *
from tfdist.ops.spectra import *
from tfdist.ops.splitting import *
from tfdist.ops.state import *
from tfdist.ops.string_buckets import *
from tfdist.ops.string_numbers import *
from tfdist.ops.string_regex import *
from tfdist.ops.string_splitting import *
from tfdist.ops.strings import *
from tfdist.ops.summary_earlier import *
from tfdist.ops.sums import *
from tfdist.ops.switch_case import *
from tfdist.ops.table_initializers import *
from tfdist.ops.templates import *
from tfdist.ops.tensor_array_class import *
from tfdist.ops.tensor_kinds import *
from tfdist.ops.tensordot import *
from tfdist.ops.traced_arguments import *
from tfdist.ops.traced_functions import *
from tfdist.ops.transposing import *
from tfdist.ops.type_spec import *
from tfdist.ops.type_specs import *
from tfdist.ops.variable_batch_scattering import *
from tfdist.ops.variable_collections import *
from tfdist.ops.variable_creators import *
from tfdist.ops.variable_getting import *
from tfdist.ops.variable_replicas import *
from tfdist.ops.variable_scattering import *
from tfdist.ops.variable_scope import *
from tfdist.ops.variables import *
from tfdist.ops.vectorized import *
from tfdist.ops.watching import *
from tfdist.ops.while_loop import *
from tfdist.programs.system import load_file_system_library, load_library, load_op_library
from tfdist.session.session import InteractiveSession, Session

globals().update(REFERENCES)  # tf.float32_ref and so on: names of versions before 1.0
del REFERENCES
