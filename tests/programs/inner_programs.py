"""Programs that look inside TensorFlow, by names of its modules; each gives plain values.

Real TensorFlow's own Python (3.7) runs this file too, and stores what it gives:

    cd tests/programs && PYTHON_OF_1_15 inner_programs.py > expected_inner_1_15.json
"""

from __future__ import annotations

import functools
import json
import os

import numpy as np

PROGRAMS = {}


def program(function):
    """Put a program into the table."""
    PROGRAMS[function.__name__] = function
    return function


def plain(value):
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), plain(value.tolist())]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value


def outcome(tf, name):
    """Return what a program gives, or the class of its error."""
    with tf.Graph().as_default():
        try:
            return {"gives": plain(PROGRAMS[name](tf))}
        except Exception as error:
            return {"error": type(error).__name__}


def nodes(tf):
    """Return name, op and inputs of each node."""
    ops = tf.get_default_graph().get_operations()
    return [[op.name, op.type, [tensor.name for tensor in op.inputs]] for op in ops]


def devices(tf):
    """Return name, device and groups of each node but of initializers."""
    ops = tf.get_default_graph().get_operations()
    return [[op.name, op.device, op.colocation_groups()] for op in ops if "Init" not in op.name]


def in_session(function):
    """Return a program with a default session around it."""

    @functools.wraps(function)
    def inside(tf):
        with tf.Session():
            return function(tf)

    return inside


def run(tf, fetches):
    """Return values, of initialized variables."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def slices(tf):
    """Return IndexedSlices: rows 0 and 2 of three."""
    return tf.IndexedSlices(
        tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2]), tf.constant([3, 2])
    )


def sparse(tf):
    """Return a SparseTensor of one element."""
    return tf.SparseTensor([[0, 1]], [1.0], [2, 3])


# types, shapes, devices


@program
def reference_types(tf):
    from tensorflow.python.framework import dtypes

    ref = dtypes.float32_ref
    there = [name for name in dir(dtypes) if name.endswith("_ref") and name[0] != "_"]
    names = [name for name in there if isinstance(getattr(dtypes, name), dtypes.DType)]
    return [names, ref.as_datatype_enum, repr(dtypes.string_ref), ref.base_dtype.name,
            ref.is_compatible_with(tf.float32), tf.float32.is_compatible_with(ref), hash(ref),
            sorted(each.name for each in dtypes.TF_VALUE_DTYPES)]  # fmt: skip


@program
def numbers_of_types(tf):
    from tensorflow.core.framework import types_pb2, variable_pb2

    return [types_pb2.DT_FLOAT, types_pb2.DT_STRING_REF, types_pb2.DataType.Name(3),
            variable_pb2.VARIABLE_AGGREGATION_SUM]  # fmt: skip


@program
def kinds_of_numbers(tf):
    from tensorflow.python.util import compat

    values = [np.int32(1), True, np.bool_(1), 1.5, np.float32(1), 1j, np.complex64(1), "a", b"a"]
    kinds = [compat.integral_types, compat.real_types, compat.complex_types,
             compat.bytes_or_text_types]  # fmt: skip
    return [[isinstance(value, kind) for value in values] for kind in kinds]


@program
def a_spec_of_a_device_changes(tf):
    spec = tf.DeviceSpec(job="a", task=1)
    same = spec.parse_from_string("/job:b/replica:2//task:3/cpu:*/")
    found = [same is spec, spec.to_string(), spec.device_type, spec.device_index]
    found.append(spec.merge_from(tf.DeviceSpec(task=2, device_type="gpu")))
    spec.job = "z"
    return [*found, spec.to_string(), spec == tf.DeviceSpec.from_string(spec.to_string())]


@program
def names_of_devices(tf):
    from tensorflow.python.framework import device

    return [device.canonical_name(each) for each in ("/gpu:1", None, "job:a/", tf.DeviceSpec("b"))]


# graphs and variables


@program
def nodes_from_messages(tf):
    from tensorflow.core.framework.attr_value_pb2 import AttrValue

    graph, a = tf.get_default_graph(), tf.constant(1.0)
    op = graph.create_op(
        "Identity", [a], [tf.float32], name="i", attrs={"T": AttrValue(type=1)},
        compute_shapes=False, compute_device=False,
    )  # fmt: skip
    again = graph.create_op("Identity", [a], [tf.float32], None, "i", op.node_def.attr)
    graph.create_op("Pack", [a, a], [tf.float32], name="p/", attrs={"N": AttrValue(i=2)})
    graph.create_op("Identity", [a], [tf.float32])
    return [nodes(tf), op.outputs[0].shape.as_list(), op._id, again._id]


@program
def a_node_of_no_tensor(tf):
    return tf.get_default_graph().create_op("Identity", [1.0], [tf.float32])


@program
def a_node_of_no_op(tf):
    return tf.get_default_graph().create_op("NoSuchOp", [], [tf.float32])


@program
def values_kept_elsewhere(tf):
    with tf.device("/job:ps"):
        tf.Variable(1.0, caching_device="/cpu:0")
        tf.Variable(1.0, caching_device=lambda op: op.device + "/task:3")
        with tf.variable_scope("s", use_resource=True) as scope:
            scope.set_caching_device("/cpu:0")
            _ = tf.get_variable("v", []) + 1.0
    return devices(tf)


@program
def colocation_with_nothing(tf):
    with tf.device("/job:ps"), tf.colocate_with(None, ignore_existing=True):
        tf.constant(1.0)
    return devices(tf)


@program
def colocation_with_nothing_more(tf):
    with tf.colocate_with(None):
        tf.constant(1.0)


@program
def defaults_of_a_scope(tf):
    def getter(getter, name, *args, **kwargs):
        return getter("own_" + name, *args, **kwargs)

    with tf.variable_scope("s") as scope:
        scope.set_dtype(tf.float64)
        scope.set_custom_getter(getter)
        v = tf.get_variable("v", [2], collections=[tf.GraphKeys.LOCAL_VARIABLES])
        return [v.name, v.dtype.name, len(scope.local_variables()), len(scope.global_variables())]


def store(tf):
    """Return the store of variables, by which real TensorFlow finds them."""
    from tensorflow.python.ops import variable_scope

    return getattr(variable_scope, "_get_default_variable_store", lambda: None)()


@program
def a_variable_of_a_scope(tf):
    with tf.variable_scope("s") as scope:
        pass
    v = scope.get_variable(store(tf), "v", [2])
    return [v.name, scope.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)[0] is v]


@program
def variables_as_tensors(tf):
    from tensorflow.python.ops import state_ops

    v = state_ops.variable_op([2], tf.float32)
    open_ = state_ops.variable_op([1, 2], tf.float32, set_shape=False, name="q")
    state_ops.variable_op_v2([3], tf.int32)
    first = state_ops.init_variable(v, lambda shape, dtype: tf.zeros(shape, dtype))
    return [nodes(tf), v.shape.as_list(), open_.shape.ndims, v.dtype.name, run(tf, first)]


@program
def a_variable_for_a_while(tf):
    from tensorflow.python.ops import gen_state_ops

    v = gen_state_ops.temporary_variable([2], tf.float32, var_name="t")
    b = tf.assign_add(tf.assign(v, [1.0, 2.0]), [1.0, 1.0])
    return run(tf, gen_state_ops.destroy_temporary_variable(b, var_name="t"))


@program
def stacks_by_hand(tf):
    from tensorflow.python.ops import gen_data_flow_ops as ops

    stack = ops.stack_v2(5, elem_type=tf.float32, stack_name="foo")
    with tf.control_dependencies([ops.stack_push_v2(stack, [[4.0, 5.0]])]):
        top = ops.stack_pop_v2(stack, tf.float32)
    with tf.control_dependencies([top]):
        closed = ops.stack_close_v2(stack)
    return [run(tf, [top, closed]), nodes(tf)[:4]]


@program
def generated_functions(tf):
    from tensorflow.python.ops import gen_array_ops, gen_math_ops, gen_nn_ops

    top = gen_nn_ops.top_kv2([1.0, 3.0, 2.0], 2)
    unique = gen_array_ops.unique([1, 1, 2])
    parts = gen_array_ops.split(0, [[1.0], [2.0]], 2)
    return run(tf, [
        top.values, top.indices, unique.y, unique.idx, parts,
        gen_math_ops.mat_mul([[1.0]], [[2.0]], transpose_a=True),
        gen_array_ops.strided_slice_grad([3], [0], [2], [1], [1.0, 2.0]),
        gen_math_ops.sigmoid_grad([0.5], [2.0]),
        gen_math_ops.sparse_segment_mean_grad([[1.0]], [0], [0], 3),
        gen_math_ops.sparse_segment_sqrt_n_grad([[1.0], [1.0]], [0, 2], [0, 0], 3),
        gen_nn_ops.bias_add_grad([[1.0, 2.0]]),
    ])  # fmt: skip


@program
def ops_in_other_modules(tf):
    from tensorflow.python.ops import array_ops, control_flow_ops, math_ops

    names = [math_ops.sigmoid_grad, array_ops.mirror_pad_grad, control_flow_ops.merge]
    return [callable(each) for each in names]


# branches and loops


@program
def a_branch_as_a_message(tf):
    from tensorflow.python.ops import control_flow_ops

    a = tf.constant(2.0, name="a")
    y = tf.cond(tf.placeholder(tf.bool, [], name="x"), lambda: a + 1.0, lambda: a - 1.0)
    context = y.op.inputs[1].op._get_control_flow_context()
    proto = context.to_proto()
    again = control_flow_ops.CondContext.from_proto(proto)
    return [context.pred.name, context.branch, context.outer_context is None, again.pred.name,
            again.branch, again.to_proto() == proto, context.IsCondContext(), told(proto),
            context.IsWhileContext(), context.GetWhileContext() is None]  # fmt: skip


def told(proto):
    """Return a context's message without what stands in no order."""
    taken = dict(proto.values_def.external_values)
    return [proto.context_name, proto.pivot_name, list(proto.values_def.values), taken]


@program
def a_loop_as_a_message(tf):
    from tensorflow.python.ops import control_flow_ops

    i, n = tf.constant(0, name="i"), tf.constant(5, name="n")
    tf.while_loop(lambda i: i < n, lambda i: i + 1, [i], parallel_iterations=3, name="w")
    add = tf.get_default_graph().get_operation_by_name("w/add")
    context = add._get_control_flow_context()
    proto = context.to_proto()
    again = control_flow_ops.WhileContext.from_proto(proto)
    return [told(proto), context.parallel_iterations, context.back_prop,
            [each.name for each in context.loop_enters], [each.name for each in context.loop_exits],
            again.to_proto() == proto, list(proto.loop_enter_names)]  # fmt: skip


@program
def a_branch_in_a_loop(tf):
    def body(i):
        return tf.cond(i > 2, lambda: i + 2, lambda: i + 1)

    tf.while_loop(lambda i: i < 5, body, [tf.constant(0)], name="w")
    add = tf.get_default_graph().get_operation_by_name("w/cond/add")
    context = add._get_control_flow_context()
    loop = context.outer_context
    return [context.GetWhileContext() is loop, told(context.to_proto()), told(loop.to_proto()),
            context.to_proto(export_scope="elsewhere") is None]  # fmt: skip


@program
def questions_of_nodes(tf):
    from tensorflow.python.ops import control_flow_util

    i = tf.constant(0, name="i")
    tf.while_loop(lambda i: i < 5, lambda i: i + 1, [i], name="w")
    y = tf.cond(tf.placeholder(tf.bool, []), lambda: i + 1, lambda: i)
    asked = ["IsSwitch", "IsMerge", "IsLoopEnter", "IsLoopExit", "IsLoopSwitch", "IsLoopMerge",
             "IsCondMerge", "IsLoopConstantEnter", "IsInXLAContext"]  # fmt: skip
    graph = tf.get_default_graph()
    names = ["i", "w/Enter", "w/Merge", "w/Switch", "w/add", "w/Exit", y.op.name]
    return [[name, [each for each in asked
                    if getattr(control_flow_util, each)(graph.get_operation_by_name(name))]]
            for name in names]  # fmt: skip


@program
def slices_of_either_side(tf):
    x, a = tf.placeholder_with_default(False, []), slices(tf)
    y = tf.cond(
        x, lambda: a,
        lambda: tf.IndexedSlices(a.values * 2.0, tf.cast(a.indices, tf.int64), a.dense_shape),
    )  # fmt: skip
    return run(tf, y)


@program
def slices_through_a_switch(tf):
    from tensorflow.python.ops import control_flow_ops

    sides = control_flow_ops.switch(slices(tf), tf.placeholder_with_default(True, []))
    wide = tf.cast(sides[1].indices, tf.int64)
    there = tf.IndexedSlices(sides[1].values, wide, sides[1].dense_shape)
    merged, place = control_flow_ops.merge([sides[0], sides[1]])
    mixed, _ = control_flow_ops.merge([sides[0], there])
    return [type(merged).__name__, mixed.indices.dtype.name, nodes(tf)[5:11],
            run(tf, [merged, place, mixed])]  # fmt: skip


@program
def sparse_through_a_switch(tf):
    from tensorflow.python.ops import control_flow_ops

    sides = control_flow_ops.switch(sparse(tf), tf.placeholder_with_default(False, []))
    merged, place = control_flow_ops.merge(sides)
    return [type(merged).__name__, nodes(tf)[3:], run(tf, [merged, place])]


@program
def slices_in_a_loop(tf):
    def body(i, x):
        return i + 1, tf.IndexedSlices(x.values * 2.0, x.indices, x.dense_shape)

    _, ends = tf.while_loop(lambda i, x: i < 3, body, [0, slices(tf)])
    return [type(ends).__name__, nodes(tf), run(tf, ends)]


@program
def slices_that_grow_in_a_loop(tf):
    def body(i, x):
        rows = tf.concat([x.values] * 2, 0), tf.concat([x.indices] * 2, 0)
        return i + 1, tf.IndexedSlices(rows[0], rows[1], x.dense_shape)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, 2])]
    _, ends = tf.while_loop(lambda i, x: i < 2, body, [0, slices(tf)], shape_invariants=shapes)
    return [ends.values.shape.as_list(), ends.indices.shape.as_list(), run(tf, ends)]


@program
def slices_that_grow_unannounced(tf):
    def body(i, x):
        rows = tf.concat([x.values] * 2, 0), tf.concat([x.indices] * 2, 0)
        return i + 1, tf.IndexedSlices(rows[0], rows[1])

    rows = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    return tf.while_loop(lambda i, x: i < 2, body, [0, rows])


@program
def sparse_in_a_loop(tf):
    def body(i, x):
        return i + 1, tf.SparseTensor(x.indices, x.values * 2.0, x.dense_shape)

    _, ends = tf.while_loop(lambda i, x: i < 3, body, [0, sparse(tf)])
    return [type(ends).__name__, ends.shape.as_list(), run(tf, ends)]


@program
def sparse_that_grows_in_a_loop(tf):
    def body(i, x):
        return i + 1, tf.sparse_concat(0, [x, x])

    _, ends = tf.while_loop(lambda i, x: i < 3, body, [0, sparse(tf)])
    return [ends.values.shape.as_list(), run(tf, ends)]


@program
def sparse_with_the_shape_of_something_else(tf):
    shapes = [tf.TensorShape([]), tf.TensorShape([None, 3])]
    return tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x), [0, sparse(tf)], shape_invariants=shapes
    )


@program
def slices_after_something(tf):
    from tensorflow.python.ops import control_flow_ops

    first = tf.constant(1)
    return [run(tf, control_flow_ops.with_dependencies([first], slices(tf))), nodes(tf)[4:5]]


# sparse tensors


@program
def values_for_sparse_tensors(tf):
    value = tf.SparseTensorValue(
        np.array([[0, 1], [1, 0]]), np.array([1.0, 2.0], np.float32), np.array([2, 3])
    )
    return run(tf, [tf.sparse_reorder(value), tf.edit_distance(value, value),
                    tf.sparse_add(value, value)])  # fmt: skip


@program
def a_list_for_a_sparse_tensor(tf):
    return tf.sparse_reorder([1])


# sessions


@program
def a_session_in_itself(tf):
    session = tf.Session()
    with session, session:
        pass


@program
def sessions_that_end_in_the_wrong_order(tf):
    first, second = tf.Session(), tf.Session()
    outer, inner = first.as_default(), second.as_default()
    outer.__enter__()
    inner.__enter__()
    try:
        outer.__exit__(None, None, None)
    finally:
        inner.__exit__(None, None, None)


@program
def sessions_around_sessions(tf):
    from tensorflow.python.training import monitored_session

    class Stoppable(monitored_session._WrappedSession):
        stops = False

        def _check_stop(self):
            return self.stops

    with tf.Session() as session:
        inner = Stoppable(session)
        outer = monitored_session._WrappedSession(inner)
        found = [outer.should_stop(), outer.run(tf.constant(3)), outer.sess_str]
        inner.stops = True
        found.append(outer.should_stop())
        outer.close()
        return [*found, outer.should_stop(), inner._sess is None]


@program
def sessions_with_a_coordinator(tf):
    from tensorflow.python.training import monitored_session

    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        coordinated = monitored_session._CoordinatedSession(session, coordinator)
        found = [coordinated.should_stop(), coordinated.run(tf.constant(0))]
        coordinator.request_stop()
        found.append(coordinated.should_stop())
        coordinated.close()
        return [*found, coordinated.should_stop()]


@program
def sessions_that_are_made_anew(tf):
    from tensorflow.python.training import monitored_session

    class Failing(monitored_session._WrappedSession):
        runs = 0

        def run(self, *args, **kwargs):
            self.runs += 1
            if self.runs == 2:
                raise tf.errors.AbortedError(None, None, "lost")
            return super().run(*args, **kwargs)

    class Creator:
        made = 0

        def create_session(self):
            self.made += 1
            return Failing(tf.Session())

    creator, x = Creator(), tf.constant(5)
    session = monitored_session._RecoverableSession(creator)
    return [session.run(x), session.run(x), session.run(x), creator.made, session.should_stop()]


@program
def sessions_with_hooks(tf):
    from tensorflow.python.training import monitored_session

    class Hook(tf.train.SessionRunHook):
        found = ()

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(seven)

        def after_run(self, run_context, run_values):
            self.found += (run_values.results,)
            run_context.request_stop()

    seven = tf.constant(7)
    with tf.Session() as session:
        hook = Hook()
        hooked = monitored_session._HookedSession(session, [hook])
        return [hooked.should_stop(), hooked.run(seven + 1), hook.found, hooked.should_stop()]


# phrases that programs look for in messages


@program
def values_that_a_barrier_does_not_take(tf):
    from tensorflow.python.ops import data_flow_ops

    pairs = [[1.0, 2.0], [3.0, 4.0]]
    scalars = data_flow_ops.Barrier((tf.float32,))
    triples = data_flow_ops.Barrier((tf.float32,), shapes=((3,),))
    inserts = [each.insert_many(0, ["a", "b"], pairs) for each in (scalars, triples)]
    phrase = "Shape mismatch in tuple component [0-9]. Expected [^ ]*, got [^ \n]*"
    with tf.Session() as session:
        return [said(lambda: session.run(each), phrase) for each in inserts]  # noqa: B023


def said(call, phrase):
    """Return what of an error's message a regular expression finds."""
    import re

    try:
        call()
    except Exception as error:
        return re.search(phrase, str(error)).group()


@program
def gradients_that_start_with_too_little(tf):
    x, c = tf.constant(2.0), tf.constant(1j, tf.complex64)
    return [said(lambda: tf.gradients([x * 2.0], [x], [1.0, 2.0]), "Passed 2 grad_ys for 1 ys"),
            said(lambda: tf.gradients(c * c, c), r"Gradients .* \(y.dtype = .*?\)")]  # fmt: skip


# other modules


@program
def one_writer_for_a_folder(tf):
    import tempfile

    from tensorflow.python.summary.writer import writer_cache
    from tensorflow.python.training import summary_io

    folder = tempfile.mkdtemp()
    first = writer_cache.FileWriterCache.get(folder)
    found = [summary_io.SummaryWriterCache.get(folder) is first]
    writer_cache.FileWriterCache.clear()
    return [*found, tf.summary.FileWriterCache is writer_cache.FileWriterCache]


@program
def a_registry(tf):
    from tensorflow.python.framework import registry

    known = registry.Registry("model")
    known.register(5, "small")
    found = [known.lookup("small"), list(known.list())]
    try:
        known.register(6, "small")
    except KeyError as error:
        found.append(str(error).split("!")[0])
    try:
        known.lookup("large")
    except LookupError as error:
        found.append(str(error).split(";")[0])
    return found


@program
def nodes_by_an_op_library(tf):
    from tensorflow.python.framework import op_def_library

    library = op_def_library.OpDefLibrary()
    try:
        library.apply_op("NoSuchOp")
    except RuntimeError as error:
        return str(error)


@program
def helpers_of_graphs(tf):
    from tensorflow.python.framework import ops, random_seed

    a = tf.constant(1.0)
    tf.Variable(1.0)
    b = tf.identity(a)
    return [ops.name_from_scope_name("a/b/"), callable(ops.get_gradient_function(b.op)),
            ops.is_dense_tensor_like(b), ops.is_dense_tensor_like(3), random_seed.get_seed(5),
            sorted(ops.get_all_collection_keys()), random_seed.DEFAULT_GRAPH_SEED]  # fmt: skip


@program
def objects_of_a_library_in_a_session(tf):
    from tensorflow.python.client import session as sessions

    class Doubled:
        def __init__(self, tensor):
            self.tensor = tensor

    class Named(Doubled):
        pass

    sessions.register_session_run_conversion_functions(
        Doubled,
        lambda it: ([it.tensor + 1.0, it.tensor * 2.0], lambda values: ["double", values]),
        lambda it, value: [(it.tensor, value + 1.0)],
        lambda it: [it.tensor],
    )
    try:
        sessions.register_session_run_conversion_functions(Doubled, lambda it: ([], list))
        again = "taken"
    except ValueError as error:
        again = type(error).__name__
    it = Named(tf.placeholder(tf.float32, []))
    with tf.Session() as session:
        return [again, session.run({"a": it}, {it: 2.0})]


@program
def the_graph_of_keras(tf):
    from tensorflow.python.keras import backend

    return backend.get_graph() is tf.get_default_graph()


@program
def signatures_that_libraries_compare(tf):
    import tensorflow.compat.v2 as tf2
    from tensorflow.python.util import tf_inspect

    functions = [
        tf2.concat, tf2.reduce_sum, tf2.reduce_all, tf2.ones_like, tf2.pad, tf2.size, tf2.where,
        tf2.equal, tf2.range, tf2.sets.difference,
    ]  # fmt: skip
    found = [tf_inspect.getfullargspec(each) for each in functions]
    return [[each.args, [str(it) for it in each.defaults or ()], each.annotations]
            for each in found]  # fmt: skip


@program
def classes_of_optimizers(tf):
    names = [name for name in dir(tf.train) if name.endswith("Optimizer") and name != "Optimizer"]
    return [[name, getattr(tf.train, name).__base__ is tf.train.Optimizer] for name in names]


@program
def sums_and_solutions_of_matrices(tf):
    from tensorflow.python.ops.linalg import linear_operator_addition, linear_operator_util

    lower = np.array([[2.0, 0.0], [1.0, 4.0]])
    right = np.arange(12.0).reshape(2, 3, 2, 1)
    diag = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    triangle = tf.linalg.LinearOperatorLowerTriangular(lower.astype(np.float32))
    sums = [
        linear_operator_addition.add_operators(each)
        for each in ([diag, diag], [diag, triangle],
                     [triangle, tf.linalg.LinearOperatorFullMatrix([[0.0, 1.0], [1.0, 0.0]])])
    ]  # fmt: skip
    util = linear_operator_util
    tensors = [
        util.matrix_triangular_solve_with_broadcast(lower, right),
        util.matrix_triangular_solve_with_broadcast(lower, right, adjoint=True),
        util.matrix_solve_with_broadcast(lower, right),
        util.cholesky_solve_with_broadcast(lower, right),
        *util.broadcast_matrix_batch_dims([lower, right]),
        util.shape_tensor([]),
        *(each[0].to_dense() for each in sums),
    ]
    found = [[str(value.dtype), value.shape, np.round(value, 6)]
             for value in run(tf, tensors)]  # fmt: skip
    return [found, [[type(each).__name__ for each in sums_] for sums_ in sums]]


@program
def helpers_of_layers_and_metrics(tf):
    from tensorflow.python.keras.utils import tf_utils
    from tensorflow.python.layers import utils
    from tensorflow.python.ops import metrics_impl

    x = tf.placeholder(tf.float32, [2, None], name="x")
    y = tf.identity(x, name="y")
    z = tf.add(y, 1.0, name="z")
    other = tf.constant(1.0, name="other")
    reached = tf_utils.get_reachable_from_inputs([y])
    variable = metrics_impl.metric_variable([2], tf.float32, name="m")
    ratio = metrics_impl._safe_scalar_div(tf.constant(3.0), tf.constant(0.0), "ratio")
    lengths = [
        [function(5, size, padding, stride) for size in (1, 3, 4) for stride in (1, 2)]
        for padding in ("same", "valid", "full")
        for function in (utils.conv_input_length, utils.deconv_output_length)
        if not (padding == "same" and function is utils.conv_input_length)
    ]
    return [
        [each in reached for each in (z, z.op, other)],
        [tf_utils.is_symbolic_tensor(each) for each in (x, variable, 1.0)],
        utils.normalize_padding("SAME"), utils.normalize_data_format("Channels_First"),
        utils.static_shape(x), lengths,
        variable in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES),
        str(ratio.dtype), run(tf, ratio),
    ]  # fmt: skip


@program
def rows_changed_in_place(tf):
    from tensorflow.python.ops import inplace_ops

    x = np.arange(6.0).reshape(3, 2)
    tensors = [
        inplace_ops.alias_inplace_update(tf.constant(x), 1, [7.0, 8.0]),
        inplace_ops.alias_inplace_add(tf.constant(x), [0, 2], [[1.0, 1.0], [2.0, 2.0]]),
        inplace_ops.inplace_update(tf.constant(x), None, x + 1.0),
        inplace_ops.inplace_sub(tf.constant(x), [0], [[1.0, 1.0]]),
    ]
    return run(tf, tensors)


@program
def operators_that_a_library_hands_on(tf):
    names = sorted(tf.Tensor.OVERLOADABLE_OPERATORS)
    whole, true = tf.constant([7, 3]), tf.constant([7.0, 3.0])
    variable = tf.Variable(7.0)
    values = [
        whole.__div__(2), whole.__rdiv__(8), true.__div__(2), true.__rdiv__(8),
        variable.__div__(2.0), variable.__rdiv__(2.0),
    ]  # fmt: skip
    kinds = (tf.Tensor, tf.Variable, tf.RaggedTensor)
    missing = [[name for name in names if not hasattr(kind, name)] for kind in kinds]
    return [names, missing, true.__eq__(true), true.__ne__(true), whole.__div__(2).op.type,
            true.__div__(2).name, run(tf, values),
            hasattr(tf.Tensor, "__nonzero__")]  # fmt: skip


@program
def layers_by_older_names(tf):
    from tensorflow.python.layers import convolutional, core, normalization, pooling

    names = {
        convolutional: "Convolution2D Deconvolution3D SeparableConvolution2D deconv2d",
        core: "FullyConnected fully_connected",
        normalization: "BatchNorm batch_norm",
        pooling: "AvgPool2D max_pool2d",
    }
    found = [getattr(home, name) for home, all_ in names.items() for name in all_.split()]
    return [each.__name__ for each in found]


@program
def devices_told_to_an_object_of_a_library(tf):
    class Listener:
        device = None

        def _set_device_from_string(self, device):
            self.device = device

    def heard():
        listener = Listener()
        tf.get_default_graph()._apply_device_functions(listener)
        return listener.device

    told = [heard()]
    with tf.device("/gpu:0"):
        told.append(heard())
        with tf.device("/job:w"):
            told.append(heard())
        with tf.device(None):
            told.append(heard())
    return told


@program
def sizes_in_arrays_of_types_that_ops_take_none_of(tf):
    x = tf.ones([2, 3])
    tensors = [
        tf.tile(x, np.array([1.0, 2.7])), tf.tile(x, np.array([1, 2], np.int8)),
        tf.reshape(x, np.array([3.0, 2.0])), tf.transpose(x, np.array([True, False])),
        tf.reduce_sum(x, np.float64(1.0)), tf.fill(np.array([1.0, 2.0]), 3.0),
    ]  # fmt: skip
    types = [{each.dtype.name for each in tensor.op.inputs} - {"float32"} for tensor in tensors]
    return [sorted(each) for each in types], run(tf, tensors)


@program
def floats_are_no_sizes(tf):
    return tf.tile(tf.ones([2, 3]), [1.0, 2.0])


@program
def names_in_modules_of_their_own(tf):
    from tensorflow.python.framework import device_spec
    from tensorflow.python.ops import control_flow_util, variable_scope
    from tensorflow.python.summary import summary_iterator

    variable = variable_scope.variable(1.5, trainable=False, name="v")
    return [
        device_spec.DeviceSpecV1 is tf.DeviceSpec, summary_iterator.summary_iterator.__name__,
        control_flow_util.GraphOrParentsInXlaContext(tf.get_default_graph()),
        variable.name, variable.dtype.name, len(tf.trainable_variables()),
    ]  # fmt: skip


# what libraries of the time take for granted


@program
def types_that_a_library_derives(tf):
    from tensorflow.python.framework import type_spec

    class PairSpec(type_spec.BatchableTypeSpec):
        value_type = list
        _component_specs = ()

        def __init__(self, specs):
            self.specs = tuple(specs)

        def _serialize(self):
            return (self.specs,)

        def _to_components(self, value):
            return []

        def _from_components(self, components):
            return []

        def _batch(self, batch_size):
            return PairSpec(each._batch(batch_size) for each in self.specs)

        def _unbatch(self):
            return PairSpec(each._unbatch() for each in self.specs)

    one, same, other = (PairSpec([tf.TensorSpec([size], tf.float32)]) for size in (2, 2, 3))
    return [one == same, one == other, hash(one) == hash(same), one.is_compatible_with(same)]


@program
def named_tuples_among_structures(tf):
    from collections import namedtuple

    from tensorflow.python.util import nest

    point = namedtuple("Point", "x y")(1, 2)
    return [nest._is_namedtuple(each) for each in (point, (1, 2), [point], type(point))]


@program
def what_modules_leave_out_of_checkpoints(tf):
    import tempfile

    class Part(tf.Module):
        def __init__(self):
            super().__init__()
            self.kept = [tf.Variable(1.0)]
            self.left = self._no_dependency({"a": tf.Variable(2.0)})

    class Whole(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [Part()]
            self.only = self._no_dependency(Part())

    whole = Whole()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(net=whole).save(tempfile.mkdtemp() + "/c")
    names = [name for name, _ in tf.train.list_variables(path)]
    return [names, type(whole.parts[0].left).__name__, len(whole.variables)]


@program
def properties_that_are_set_to_what_they_are(tf):
    class Sized(tf.Module):
        values = tf.placeholder(tf.float32, [None, 3])

        @property
        def shape(self):
            return self.values.shape

    sized = Sized()
    sized.shape = sized.shape
    return [sized.shape.as_list(), sorted(set(vars(sized)) & {"shape"})]


@program
def properties_that_are_set_to_something_else(tf):
    class Sized(tf.Module):
        @property
        def shape(self):
            return (2, 3)

    Sized().shape = (4, 5)


@program
def values_known_to_the_c_library(tf):
    from tensorflow.python import pywrap_tensorflow

    x, unknown = tf.zeros([2, 3]), tf.placeholder(tf.float32, [None, 3])
    tensors = [
        tf.shape(x)[0] * 2, tf.shape(unknown), tf.less(1, 2), tf.less(tf.size(unknown), 2),
        tf.logical_not(tf.equal(tf.rank(unknown), 2)), tf.random_normal([]),
    ]  # fmt: skip
    known = [
        pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(each.graph._c_graph, each._as_tf_output())
        for each in tensors
    ]
    return [None if each is None else np.array(each).item() for each in known]


@program
def cases_of_a_librarys_own_choice(tf):
    from tensorflow.python.ops import control_flow_ops

    def choose(pred, true_fn, false_fn):
        return (true_fn if pred else false_fn)() if isinstance(pred, bool) else tf.cond(
            pred, true_fn, false_fn)  # fmt: skip

    x = tf.constant(2)
    pairs = [(False, lambda: x), (x < 1, lambda: x * 10), (True, lambda: x * 100)]
    found = control_flow_ops._case_helper(
        lambda pred, true_fn, false_fn, name=None: choose(pred, true_fn, false_fn),
        pairs, lambda: -x, False, "case", allow_python_preds=True,
    )  # fmt: skip
    return run(tf, found)


@program
def bools_are_no_cases_by_themselves(tf):
    return tf.case([(True, lambda: tf.constant(1))])


@program
def convolutions_made_before_their_inputs(tf):
    from tensorflow.python.ops import nn_ops

    made = nn_ops.Convolution(
        tf.TensorShape([None, 5, 5, 1]), tf.TensorShape([3, 3, 1, 2]), "VALID",
        strides=[2, 2], name="own",
    )  # fmt: skip
    y = made(tf.ones([2, 5, 5, 1]), tf.ones([3, 3, 1, 2]))
    return [y.op.type, y.op.name, run(tf, y)]


@program
def truncated_normals_with_their_parameters(tf):
    from tensorflow.python.ops import random_ops

    x = random_ops.parameterized_truncated_normal([20], [0.0] * 20, 2.0, minvals=-1.0, seed=3)
    found = run(tf, x)
    return [x.op.type, x.shape.as_list(), bool(np.all((found >= -1.0) & (found <= 2.0)))]


@program
def arrays_that_tensors_change_in_place(tf):
    x = np.array([2.0, 4.0], np.float32)
    x /= tf.constant(2.0)
    x -= tf.constant([1.0, 1.0])
    return [isinstance(x, tf.Tensor), run(tf, x)]


@program
def sizes_from_outside_of_a_loop(tf):
    sizes, flow = tf.shape(tf.placeholder(tf.float32, [2, 5])), tf.constant([2, 3]) + 1
    one, two = sizes[0], sizes[1]
    found = []

    def body(i):
        made = [
            tf.fill(sizes, 0), tf.fill(flow, 0), tf.range(two), tf.fill([one, two], 0),
            tf.tile(tf.ones([2, 3]), [one, 1]), tf.one_hot([1, 2], two),
            tf.fill(tf.concat([flow, [7]], 0), 0), tf.random_normal(flow),
        ]  # fmt: skip
        found.extend(each.shape.as_list() for each in made)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    return found


@program
def sizes_from_outside_of_a_branch(tf):
    sizes = tf.shape(tf.placeholder(tf.float32, [2, 5]))
    two = sizes[1]
    found = []

    def branch():
        made = [tf.fill(sizes, 0), tf.range(two), tf.one_hot([1, 2], two), tf.zeros(sizes)]
        found.extend(each.shape.as_list() for each in made)
        return tf.constant(1)

    tf.cond(tf.placeholder(tf.bool), branch, lambda: tf.constant(0))
    return found


@program
@in_session
def keras_functions_that_set_the_session(tf):
    keras = tf.keras.backend
    x, y = keras.placeholder(shape=()), keras.placeholder(shape=())
    kept, other = keras.variable(0.0), keras.variable(0.0)
    feed, told = {y: 3.0}, tf.RunMetadata()
    function = keras.function(
        [x], [x + 1.0], updates=[(kept, x + 10.0)], feed_dict=feed,
        fetches=[keras.update(other, y * 10.0)], run_metadata=told,
        options=tf.RunOptions(output_partition_graphs=True),
    )  # fmt: skip
    found = []
    for number in (10.0, 20.0):
        found += [function([number]), keras.get_session().run([kept, other])]
        feed[y] = 4.0
    values = keras.function([x], [x * 2.0])([keras.variable(3.0)])
    return [found, len(told.partition_graphs) > 0, values]


@program
def keras_functions_take_no_other_settings(tf):
    keras = tf.keras.backend
    return keras.function([keras.placeholder()], [], bad=1)


@program
@in_session
def keras_models_of_tensors(tf):
    keras = tf.keras
    x, y = np.arange(8, dtype=np.float32).reshape(4, 2), np.ones([4, 1], np.float32)
    known, wanted = keras.backend.variable(x), keras.backend.variable(y)

    def made():
        model = keras.Sequential(
            [keras.layers.Dense(1, input_shape=[2], kernel_initializer="ones")]
        )
        model.compile("sgd", "mse")
        return model

    def rounded(found):
        return [float(f"{each:.4g}") for each in np.ravel(found)]

    def losses(*data, **options):
        history = made().fit(*data, verbose=0, **options).history
        return {key: rounded(each) for key, each in sorted(history.items())}

    batches = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(2)
    found = [
        losses(known, wanted, steps_per_epoch=2, epochs=2),
        losses(*batches.make_one_shot_iterator().get_next(), steps_per_epoch=2),
        losses(x, y, validation_data=(known, wanted), validation_steps=2),
        losses(known, wanted, steps_per_epoch=1, sample_weight=np.array([1.0, 0.0, 0.0, 1.0])),
        rounded(made().evaluate(known, wanted, steps=2, verbose=0)),
        rounded(made().predict(known, steps=2)),
        rounded(made().train_on_batch(known, wanted)), rounded(made().predict_on_batch(known)),
    ]  # fmt: skip
    for options in ({}, {"steps_per_epoch": 1, "validation_split": 0.5}):
        try:
            losses(known, wanted, **options)
        except ValueError as error:
            found.append(str(error))
    return found


@program
def transposed_convolutions_of_unknown_sizes(tf):
    values = np.arange(90, dtype=np.float32).reshape(1, 5, 6, 3) % 7
    x = tf.placeholder_with_default(values, [None, None, None, 3])
    filters = np.ones([3, 2, 2, 3], np.float32)
    made = [
        tf.nn.atrous_conv2d_transpose(x, filters, tf.stack([tf.shape(x)[0], 5, 6, 2]), 2, "SAME"),
        tf.nn.atrous_conv2d_transpose(x, filters, tf.stack([tf.shape(x)[0], 9, 8, 2]), 2, "VALID"),
    ]
    return run(tf, [tf.reduce_sum(each, [0, 3]) for each in made])


@program
def noise_of_shapes_known_later(tf):
    x = tf.ones([4, 3])
    return run(tf, tf.nn.dropout(x, rate=0.5, noise_shape=[tf.shape(x)[0], 1], seed=3))


@program
def regularizers_that_are_none(tf):
    for number, regularizer in enumerate([None, {}, ()]):
        tf.get_variable(f"v{number}", [2], regularizer=regularizer)
    return len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))


@program
def layers_and_metrics_by_their_modules(tf):
    from tensorflow.python.keras.engine import input_spec
    from tensorflow.python.layers import convolutional, normalization
    from tensorflow.python.ops import metrics, metrics_impl

    x = convolutional.conv1d(tf.ones([2, 5, 1]), 3, 2, use_bias=False)
    x = normalization.batch_normalization(x, training=True)
    _, update = metrics.mean_squared_error([1.0], [3.0], metrics_collections=["kept"])
    counts, _ = metrics_impl._confusion_matrix_at_thresholds(
        tf.constant([True, False]), tf.constant([0.5, 0.2]), [0.3], includes=("tp", "fp")
    )
    return [
        x.shape.as_list(), update.dtype.name, len(tf.get_collection("kept")), sorted(counts),
        input_spec.InputSpec(ndim=2).ndim,
    ]  # fmt: skip


@program
def metrics_of_sparse_values(tf):
    labels = tf.SparseTensorValue([[0, 0], [1, 0]], np.array([3, 2], np.int64), [2, 1])
    _, update = tf.metrics.precision_at_k(labels, [[0.1, 0.3, 0.2, 0.4], [0.1, 0.2, 0.3, 0.4]], 1)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return float(session.run(update))


@program
def weights_that_a_layer_adds_itself(tf):
    class Own(tf.layers.Layer):
        def call(self, inputs):
            self._trainable_weights.append(tf.get_variable("w", [1]))
            self._non_trainable_weights.append(tf.get_variable("n", [1], trainable=False))
            return inputs * self._trainable_weights[0]

    own = Own()
    own(tf.ones([1]))
    return [[each.name for each in which] for which in (own.trainable_weights, own.weights)]


@program
def variables_that_a_tape_has_seen(tf):
    options = {"use_resource": True}
    a, b = (tf.get_variable(name, [], **options) for name in "ab")
    table = tf.get_variable("t", [3, 2], **options)
    fixed = tf.get_variable("f", [], trainable=False, **options)
    kept, found = tf.Variable(1.0, name="kept"), []

    def names(tape):
        return [each.name for each in tape.watched_variables()]

    with tf.GradientTape() as tape:
        y = b * a + kept * fixed + tf.reduce_sum(tf.nn.embedding_lookup(table, [0]))
    found += [names(tape), len(tape.gradient(y, tape.watched_variables()))]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(b)
        a * b
    found.append(names(tape))
    with tf.GradientTape() as tape:
        tape.watch(fixed)
        b * 2.0
        with tape.stop_recording():
            a * 3.0
        tf.get_variable("made", [], **options)
    found.append(names(tape))
    with tf.GradientTape() as tape:
        a * b
        tape.reset()
        b * 2.0
    return [*found, names(tape)]


@program
def exponentials_below_zero(tf):
    x = tf.constant([-1.5, -0.1, -0.013, 0.0, 2.0], tf.float16)
    return [each.astype(np.float64) for each in run(tf, [tf.nn.elu(x), tf.nn.selu(x)])]


def main():
    """Print what this Python's TensorFlow gives."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    lines = [json.dumps(name) + ": " + json.dumps(outcome(tf, name)) for name in PROGRAMS]
    print("{\n" + ",\n".join(lines) + "\n}")


@program
def kinds_of_columns(tf):
    """Libraries tell columns apart by classes of inner modules, older and newer ones."""
    from tensorflow.python.feature_column import feature_column_v2 as columns
    from tensorflow.python.feature_column.feature_column import (
        _CategoricalColumn,
        _DenseColumn,
        _EmbeddingColumn,
        _NumericColumn,
    )

    kinds = [
        _CategoricalColumn,
        _DenseColumn,
        _EmbeddingColumn,
        _NumericColumn,
        columns.EmbeddingColumn,
        columns.NumericColumn,
        columns.CategoricalColumn,
    ]
    of_ids = tf.feature_column.categorical_column_with_identity("id", 3)
    made = [
        of_ids,
        tf.feature_column.embedding_column(of_ids, 2),
        tf.feature_column.numeric_column("number"),
    ]
    return [[isinstance(each, kind) for kind in kinds] for each in made]


@program
def an_estimator_with_a_head_of_its_own(tf):
    """A library's head derives from the inner class, and takes optimizers by name."""
    from tensorflow.python.estimator.canned.head import _Head
    from tensorflow.python.estimator.canned.metric_keys import MetricKeys
    from tensorflow.python.estimator.canned.optimizers import get_optimizer_instance
    from tensorflow.python.estimator.canned.prediction_keys import PredictionKeys

    class Head(_Head):
        name = "own"
        logits_dimension = 1

        def create_loss(self, features, mode, logits, labels):
            return tf.reduce_mean(logits - labels)

        def create_estimator_spec(self, features, mode, logits, labels=None, train_op_fn=None):
            loss = self.create_loss(features, mode, logits, labels)
            return tf.estimator.EstimatorSpec(mode, {PredictionKeys.LOGITS: logits}, loss, loss)

    logits = tf.constant([[2.0]])
    spec = Head().create_estimator_spec({}, "train", logits, tf.constant([[1.0]]))
    made = type(get_optimizer_instance("Adam", 0.1)).__name__
    return [
        sorted(spec.predictions),
        MetricKeys.LOSS_MEAN,
        made,
        said(lambda: get_optimizer_instance("Adam"), "learning_rate"),
    ]


@program
def what_is_inside_of_graphs(tf):
    """Programs look for names in use, and count nodes, by the graph's own tables."""
    graph = tf.get_default_graph()
    before = graph._last_id
    total = tf.add(tf.constant(1.0, name="one"), 2.0, name="total").op
    names = [name for name in graph._nodes_by_name if graph._nodes_by_name[name]._id > before]
    return [
        names,
        graph._last_id - before,
        [each.name for each in total._inputs],
        [each.name for each in total._outputs],
    ]


@program
def values_that_constants_tell(tf):
    """TensorFlow Probability looks whether a condition is known, by the runtime's own wrapper."""
    from tensorflow.python import pywrap_tensorflow

    def known(tensor):
        graph, output = tensor.graph._c_graph, tensor._as_tf_output()
        found = pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(graph, output)
        return None if found is None else np.asarray(found).tolist()

    size = tf.reduce_prod(tf.constant([2, 3]))
    fed = tf.placeholder(tf.int32, [])
    return [known(size > 4), known(size * 2), known(fed > 4), known(tf.random_uniform([]) > 2.0)]


@program
def imports_of_probability(tf):
    """What TensorFlow Probability 0.8 needs to be imported, and its layers to be made."""
    import collections

    from tensorflow.python.autograph.converters import return_statements
    from tensorflow.python.autograph.impl.api import do_not_convert
    from tensorflow.python.autograph.pyct import transformer
    from tensorflow.python.framework import type_spec
    from tensorflow.python.ops import nn_ops
    from tensorflow.python.util import nest

    pair = collections.namedtuple("Pair", "a b")
    convolution = nn_ops.Convolution(
        tf.TensorShape([1, 4, 4, 2]), tf.TensorShape([3, 3, 2, 5]), padding="VALID"
    )
    module = tf.Module()
    return [
        isinstance(transformer.Base, type),
        return_statements is not None,
        do_not_convert is tf.autograph.experimental.do_not_convert,
        issubclass(type_spec.BatchableTypeSpec, tf.TypeSpec),
        nest._is_namedtuple(pair(1, 2)),
        nest._is_namedtuple((1, 2)),
        convolution(tf.ones([1, 4, 4, 2]), tf.ones([3, 3, 2, 5])).shape.as_list(),
        tf.convert_to_tensor(tf.TensorShape([])).dtype.name,
        module._no_dependency(3) is not None,
    ]


@program
def scopes_of_variables_alone(tf):
    """Sonnet's modules enter a variable scope without a name scope."""
    from tensorflow.python.ops import variable_scope

    with variable_scope._pure_variable_scope("a") as outer:
        one = tf.get_variable("v", [1])
        names = [outer.name, outer.original_name_scope, one.name, tf.constant(1.0, name="c").name]
        with variable_scope._pure_variable_scope("b") as inner:
            names += [inner.name, tf.get_variable("v", [1]).name]
    with tf.name_scope("n"), variable_scope._pure_variable_scope(outer, reuse=True):
        return [*names, tf.get_variable("v", [1]) is one, tf.constant(1.0, name="d").name]


@program
def contexts_of_graphs(tf):
    """Libraries ask the graph whether nodes are being made in a loop or branch, and leave it."""
    graph = tf.get_default_graph()
    found = [graph._get_control_flow_context() is None]

    def body(i):
        context = graph._get_control_flow_context()
        found.append(context is (i + 1).op._get_control_flow_context())
        graph._set_control_flow_context(None)
        found.append(tf.constant(1).op._get_control_flow_context() is None)
        graph._set_control_flow_context(context)
        return i + 1

    tf.while_loop(lambda i: i < 1, body, [0])
    from tensorflow.python import tf2
    from tensorflow.python.ops import control_flow_util

    outside = graph._get_control_flow_context()
    return [
        *found,
        outside is None,
        control_flow_util.GetContainingXLAContext(outside),
        control_flow_util.GraphOrParentsInXlaContext(graph),
        tf2.enabled(),
    ]


@program
def values_that_python_knows(tf):
    """It sees through a few ops only; what it knows, functions refuse while they build a graph."""
    from tensorflow.python.framework import tensor_util

    x, c = tf.placeholder(tf.float32, [2, 3]), tf.constant([1, 2, 3])
    tensors = [
        c, tf.identity(c), tf.cast(c, tf.int64), tf.shape(x), tf.identity(tf.shape(x)), tf.size(x),
        tf.rank(x), tf.range(3), tf.concat([c, c], 0), tf.concat([tf.identity(c), c], 0),
        tf.fill([2], 3), tf.fill(tf.identity([2]), 3), tf.fill([2], tf.identity(3)),
        tf.stack([1, 2]), tf.stack([[1, 2], [3, 4]], 1), tf.stack([1, tf.identity(2)]), c[0], c[1:],
        tf.equal(c, c), tf.not_equal(c, c), c + 1, tf.reshape(c, [3, 1]), tf.expand_dims(c, 0),
        tf.zeros_like(c), tf.reduce_prod(c), tf.maximum(c, 2), tf.gather(c, [0]), -c,
    ]  # fmt: skip
    return [tensor_util.constant_value(each) for each in tensors]


@program
def what_fails_only_when_it_runs(tf):
    """Python does not see through the nodes on the way to these assertions."""
    broken = [
        tf.confusion_matrix([0, 1, 9], [0, 2, 2], num_classes=5),
        tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 2]),
        tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 1, 3]),
    ]
    found = []
    with tf.Session() as session:
        for each in broken:
            try:
                session.run(each)
            except tf.errors.InvalidArgumentError:
                found.append(str(each.shape))
    return found


@program
def stitches_of_constant_indices(tf):
    """Their rows are known beforehand: one at least, for the count starts at index 0."""
    stitch = tf.raw_ops.ParallelDynamicStitch
    found = [
        tf.dynamic_stitch([[-1]], [[1.0]]),
        tf.dynamic_stitch([tf.zeros([0], tf.int32)], [tf.zeros([0])]),
        stitch(indices=[[-1]], data=[[1.0]]),
        stitch(indices=[[0, 2], [1]], data=[[1.0, 3.0], [2.0]]),
        stitch(indices=[tf.identity([0, 1])], data=[[1.0, 3.0]]),
        tf.TensorArray(tf.float32, 2).unstack([[1.0, 2.0], [3.0, 4.0]]).gather([0]),
    ]
    with tf.Session() as session:
        return [[str(each.shape), session.run(each)] for each in found]


@program
def dense_labels_of_ctc(tf):
    """Its module has more names than tf.nn; sparse labels that are the blank are moved with it."""
    from tensorflow.python.ops import ctc_ops

    scores = tf.constant(np.sin(np.arange(40) * 1.7).reshape(5, 2, 4).astype(np.float32))
    labels = [[1, 2, 1], [2, 2, 0]]
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 2, 1], [2, 3])
    losses = [
        ctc_ops.ctc_loss_dense(labels, scores, [3, 2], [5, 4]),
        ctc_ops.ctc_loss_dense(labels, scores, [3, 2], [5, 4], blank_index=-1),
        tf.nn.ctc_loss_v2(sparse, scores, None, [5, 4], blank_index=2),
    ]
    pairs = [([3, 2], labels), ([3, 0], labels), ([0, 0], labels)]
    rows = [ctc_ops.dense_labels_to_sparse(each, counts) for counts, each in pairs]
    with tf.Session() as session:
        found = [session.run(each).round(3).tolist() for each in losses]
        return [*found, *[list(session.run(each)) for each in rows]]


@program
def orthogonal_convolutions(tf):
    """The filters keep lengths; contrib has them under another name."""
    from tensorflow.python.ops import init_ops

    made = init_ops.ConvolutionDeltaOrthogonal
    found = [made is tf.contrib.framework.convolutional_delta_orthogonal, made(2.0, 3).get_config()]
    with tf.Session() as session:
        for shape in ([3, 2, 4], [3, 4, 2, 2], [2, 1, 2, 1, 1]):
            value = session.run(made(gain=2.0, seed=3)(shape))
            found.append((value + 0.0).round(4).tolist())
    for shape in ([4, 2], [1] * 6, [3, 3, 4, 2]):
        try:
            made()(shape)
        except ValueError:
            found.append(shape)
    return [*found, nodes(tf)]


@program
def names_of_initializers(tf):
    """Programs print them, and Keras writes them into what it stores."""
    initializers = [
        tf.zeros_initializer(),
        tf.ones_initializer(),
        tf.constant_initializer(2.0),
        tf.random_uniform_initializer(),
        tf.random_normal_initializer(),
        tf.glorot_normal_initializer(),
        tf.truncated_normal_initializer(),
        tf.variance_scaling_initializer(),
        tf.initializers.he_normal(),
        tf.glorot_uniform_initializer(),
        tf.uniform_unit_scaling_initializer(),
        tf.orthogonal_initializer(),
        tf.initializers.identity(),
        tf.keras.initializers.RandomNormal(),
    ]
    stored = [tf.keras.initializers.serialize(each) for each in initializers]
    return [[type(each).__name__ for each in initializers], stored]


@program
def traces(tf):
    """Of letters that stand twice, einsum takes "ii" alone."""
    x, found = tf.constant([[1.0, 2.0], [3.0, 4.0]]), []
    for equation in ("ii", "...ii", "ii->", "ii->i", "iij"):
        try:
            found.append(tf.Session().run(tf.einsum(equation, x)))
        except ValueError:
            found.append(equation)
    return [*found, nodes(tf)]


@program
def rules_of_shapes(tf):
    """Programs with ops of their own call them."""
    from tensorflow.python.framework import common_shapes

    image, weights = tf.zeros([1, 5, 6, 3]), tf.zeros([2, 2, 3, 4])
    one = tf.identity(tf.placeholder(tf.float32, [2, None])).op
    rules = [
        common_shapes.unchanged_shape,
        common_shapes.scalar_shape,
        common_shapes.no_outputs,
        common_shapes.unknown_shape,
        common_shapes.unchanged_shape_with_rank(2),
        common_shapes.unchanged_shape_with_rank_at_least(1),
        common_shapes.unchanged_shape_with_rank_at_most(2),
    ]
    found = [[str(shape) for shape in rule(one)] for rule in rules]
    convolution = tf.nn.conv2d(image, weights, [1, 1, 2, 1], "SAME").op
    found += [str(common_shapes.conv2d_shape(convolution)), common_shapes.rank(image)]
    found.append(str(common_shapes.max_pool_shape(tf.nn.max_pool(image, 2, 2, "SAME").op)))
    size = common_shapes.get_conv_output_size
    for padding in (b"SAME", b"VALID", "VALID", b"FULL"):
        try:
            found.append(size((5, tf.Dimension(6), None), (2, 3, 4), (1, 2, 2), padding))
        except ValueError:
            found.append(str(padding))
    found.append(common_shapes.get2d_conv_output_size(5, 6, 2, None, 1, 2, b"VALID"))
    for broken in (lambda: size((1, 6), (2, 3), (1, 2), b"SAME"),
                   lambda: common_shapes.unchanged_shape_with_rank(3)(one)):  # fmt: skip
        try:
            broken()
        except ValueError as error:
            found.append(str(error).partition(":")[0])
    return found


@program
def shapes_of_sparse_tensors(tf):
    """What is known of the parts where nothing is known of the tensor, and where all is."""

    def unknown(value, dtype):
        return tf.placeholder_with_default(tf.constant(value, dtype), None)

    indices, values = [[0, 1], [1, 0], [1, 2]], [1.0, 2.0, 3.0]
    tensors = [
        tf.SparseTensor(
            unknown(indices, tf.int64), unknown(values, None), unknown([2, 3], tf.int64)
        ),
        tf.SparseTensor(indices, unknown(values, None), [2, 3]),
        tf.SparseTensor(indices, values, [2, 3]),
    ]
    found = []
    for each in tensors:
        made = [
            tf.sparse_reorder(each),
            tf.sparse_softmax(each),
            tf.sparse_slice(each, [0, 0], [1, 2]),
        ]
        made += tf.sparse_split(sp_input=each, num_split=2, axis=1)
        parts = [[x.indices, x.values, x.dense_shape] for x in made]
        found.append([[str(part.shape) for part in row] for row in parts])
    return found


@program
def torn_examples(tf):
    """A field that an example does not have may be cut short; its own may not."""
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[2.5]))
    good = tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString()
    torn = [b"junk", good + b"junk", b"j", b"\n\x05ab", good[:-1], b"\x12\x02ab", b"\x12\x04ab"]
    wanted, found = {"a": tf.FixedLenFeature([], tf.float32, 7.0)}, []
    with tf.Session() as session:
        for each in torn:
            try:
                one, many = tf.parse_single_example(each, wanted), tf.parse_example([each], wanted)
                found.append([session.run(one["a"]), session.run(many["a"])])
            except tf.errors.InvalidArgumentError:
                found.append("no example")
    return found


if __name__ == "__main__":
    main()
