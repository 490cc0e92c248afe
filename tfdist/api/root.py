"""tf itself: everything that programs name as `tf.NAME`; also `tf.compat.v1`.

The package `tfdist` gives these names, lazily (see `base.namespace`); nothing imports this file.
"""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
        profiler,
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
        xla,
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
    from tfdist.api.dtypes import *
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
    from tfdist.base.dtype_references import *
    from tfdist.base.tensor_shape import Dimension, TensorShape
    from tfdist.errors import OpError
    from tfdist.graph.convert import convert_to_tensor, register_tensor_conversion_function
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
    from tfdist.models.layers.module import Module
    from tfdist.models.metrics.confusion import confusion_matrix
    from tfdist.ops.array.boolean_mask import *
    from tfdist.ops.array.broadcast import *
    from tfdist.ops.array.cast import *
    from tfdist.ops.array.concat import *
    from tfdist.ops.array.constants import constant, placeholder, placeholder_with_default
    from tfdist.ops.array.dynamic_partition import *
    from tfdist.ops.array.edit_distance import *
    from tfdist.ops.array.fill import *
    from tfdist.ops.array.gather import *
    from tfdist.ops.array.gather_nd import *
    from tfdist.ops.array.indexing import *
    from tfdist.ops.array.one_hot import *
    from tfdist.ops.array.pad import *
    from tfdist.ops.array.parallel_stack import *
    from tfdist.ops.array.range import *
    from tfdist.ops.array.repeat import *
    from tfdist.ops.array.reshape import *
    from tfdist.ops.array.scatter_nd import *
    from tfdist.ops.array.shape import *
    from tfdist.ops.array.slice import *
    from tfdist.ops.array.sort import *
    from tfdist.ops.array.space_to_depth import *
    from tfdist.ops.array.split import *
    from tfdist.ops.array.strided_slice import *
    from tfdist.ops.array.tile_roll import *
    from tfdist.ops.array.transpose import *
    from tfdist.ops.autodiff.custom_gradient import *
    from tfdist.ops.autodiff.gradient_tape import *
    from tfdist.ops.autodiff.gradients import *
    from tfdist.ops.autodiff.hessians import *
    from tfdist.ops.checks.assertions import *
    from tfdist.ops.checks.check_numerics import *
    from tfdist.ops.checks.print_assert import *
    from tfdist.ops.checks.print_v2 import print_v2 as print
    from tfdist.ops.control_flow.case import *
    from tfdist.ops.control_flow.cond import *
    from tfdist.ops.control_flow.critical_section import *
    from tfdist.ops.control_flow.identity_group import *
    from tfdist.ops.control_flow.switch_case import *
    from tfdist.ops.control_flow.while_loop import *
    from tfdist.ops.convolution.patches import *
    from tfdist.ops.convolution.space_to_batch import *
    from tfdist.ops.framework.session_handles import *
    from tfdist.ops.framework.tensor_util import *
    from tfdist.ops.framework.timestamp import *
    from tfdist.ops.framework.type_spec import *
    from tfdist.ops.framework.type_specs import *
    from tfdist.ops.functions.defun import *
    from tfdist.ops.functions.map_fn import *
    from tfdist.ops.functions.py_func import *
    from tfdist.ops.functions.traced_arguments import *
    from tfdist.ops.functions.traced_functions import *
    from tfdist.ops.functions.vectorized_map import *
    from tfdist.ops.io.decode_csv import *
    from tfdist.ops.io.feature_specs import *
    from tfdist.ops.io.file_ops import *
    from tfdist.ops.io.parse_example import *
    from tfdist.ops.io.parse_sequence_example import *
    from tfdist.ops.io.parse_tensor import *
    from tfdist.ops.io.readers import *
    from tfdist.ops.linalg.cholesky import *
    from tfdist.ops.linalg.diag import *
    from tfdist.ops.linalg.eigen import *
    from tfdist.ops.linalg.einsum import *
    from tfdist.ops.linalg.inverse import *
    from tfdist.ops.linalg.least_squares import *
    from tfdist.ops.linalg.matrix_functions import *
    from tfdist.ops.linalg.norms import *
    from tfdist.ops.linalg.products import *
    from tfdist.ops.linalg.qr import *
    from tfdist.ops.linalg.solve import *
    from tfdist.ops.linalg.svd import *
    from tfdist.ops.lookup.table_initializers import *
    from tfdist.ops.math.add_n import *
    from tfdist.ops.math.arithmetic import *
    from tfdist.ops.math.clip import *
    from tfdist.ops.math.comparison import *
    from tfdist.ops.math.complex_parts import *
    from tfdist.ops.math.composed_reductions import *
    from tfdist.ops.math.cumulative import *
    from tfdist.ops.math.division import *
    from tfdist.ops.math.elementwise import *
    from tfdist.ops.math.fake_quant import *
    from tfdist.ops.math.histograms import *
    from tfdist.ops.math.matmul import *
    from tfdist.ops.math.quantize import *
    from tfdist.ops.math.reductions import *
    from tfdist.ops.math.segments import *
    from tfdist.ops.math.special_functions import *
    from tfdist.ops.math.tensordot import *
    from tfdist.ops.math.top_k import *
    from tfdist.ops.queues.accumulators import *
    from tfdist.ops.queues.queue_base import *
    from tfdist.ops.queues.queue_kinds import *
    from tfdist.ops.queues.sparse_accumulators import *
    from tfdist.ops.ragged.ragged_tensor import *
    from tfdist.ops.random.distributions import *
    from tfdist.ops.random.random_ops import *
    from tfdist.ops.signal.fft import *
    from tfdist.ops.sparse.add import *
    from tfdist.ops.sparse.concat_split import *
    from tfdist.ops.sparse.conversions import *
    from tfdist.ops.sparse.matmul import *
    from tfdist.ops.sparse.reductions import *
    from tfdist.ops.sparse.rows import *
    from tfdist.ops.sparse.segments import *
    from tfdist.ops.sparse.serialization import *
    from tfdist.ops.sparse.sparse_tensor import *
    from tfdist.ops.sparse.to_dense import *
    from tfdist.ops.strings.conversions import *
    from tfdist.ops.strings.fingerprint import *
    from tfdist.ops.strings.hash_buckets import *
    from tfdist.ops.strings.join_substr import *
    from tfdist.ops.strings.regex import *
    from tfdist.ops.strings.split import *
    from tfdist.ops.summary.legacy_summaries import *
    from tfdist.ops.tensor_array.tensor_array import *
    from tfdist.ops.variables.batch_scatter import *
    from tfdist.ops.variables.collections import *
    from tfdist.ops.variables.count_up_to import *
    from tfdist.ops.variables.creator_scope import *
    from tfdist.ops.variables.get_variable import *
    from tfdist.ops.variables.initializers import *
    from tfdist.ops.variables.matrix_initializers import orthogonal_initializer
    from tfdist.ops.variables.partitioners import *
    from tfdist.ops.variables.resource_variables import *
    from tfdist.ops.variables.scatter import *
    from tfdist.ops.variables.state_ops import *
    from tfdist.ops.variables.synchronization import *
    from tfdist.ops.variables.templates import *
    from tfdist.ops.variables.variable import *
    from tfdist.ops.variables.variable_scope import *
    from tfdist.programs import app, flags, gfile
    from tfdist.programs import logs as logging
    from tfdist.programs.logs import get_logger
    from tfdist.programs.system import load_file_system_library, load_library, load_op_library
    from tfdist.protos.pb import (
        AttrValue,
        ConfigProto,
        Event,
        GPUOptions,
        GraphDef,
        GraphOptions,
        HistogramProto,
        LogMessage,
        MetaGraphDef,
        NameAttrList,
        NodeDef,
        OptimizerOptions,
        RunMetadata,
        RunOptions,
        SessionLog,
        Summary,
        SummaryMetadata,
        TensorInfo,
    )
    from tfdist.session.session import InteractiveSession, Session
