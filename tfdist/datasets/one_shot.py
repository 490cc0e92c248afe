"""What an iterator adds to a pipeline, and the function that makes one anew of constants alone."""

from __future__ import annotations

import hashlib
from typing import Any

from tfdist.base.dtypes import variant
from tfdist.datasets import structure
from tfdist.graph import build, scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.function_def import function_to_proto
from tfdist.graph.function_graph import Built, FunctionGraph, Shown, function_of
from tfdist.graph.functions import NameAttrList, functions_in
from tfdist.graph.graph import Graph
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.functions.defun import copy_function

_CONFIGS = ["map_vectorization:use_choose_fastest:false"]
_NAME = "_make_dataset"


def with_options_applied(dataset: Any) -> Tensor:
    """Return the tensor of `dataset` with the nodes that its options ask for."""
    tensor, options = dataset._variant_tensor, dataset._options
    told = structure.flat_attrs(dataset._structure)
    threading = options.experimental_threading
    if threading.max_intra_op_parallelism is not None:
        count = _int64(threading.max_intra_op_parallelism, "max_intra_op_parallelism")
        tensor = raw.MaxIntraOpParallelismDataset(tensor, count, **told)
    if threading.private_threadpool_size is not None:
        count = _int64(threading.private_threadpool_size, "num_threads")
        tensor = raw.PrivateThreadPoolDataset(tensor, count, **told)
    wanted = options.optimizations()
    if wanted:
        names = convert_to_tensor(wanted, name="optimizations")
        tensor = raw.OptimizeDataset(tensor, names, optimization_configs=_CONFIGS, **told)
    if options.experimental_optimization.autotune is not False:
        budget = options.experimental_optimization.autotune_cpu_budget or 0
        tensor = raw.ModelDataset(tensor, algorithm=0, cpu_budget=budget, **told)
    return tensor


def _int64(value: int, name: str) -> Tensor:
    return convert_to_tensor(value, "int64", name=name)


class _FactoryGraph(FunctionGraph):
    """The body of a function that makes a dataset: copies stand in it for what is outside.

    So what is outside may be of any graph.
    """

    def __init__(self, outer: Graph) -> None:
        super().__init__(_NAME, outer)
        self.capture = lambda _, tensor: _copied(self, tensor)

    def check_is_around(self, tensor: Tensor) -> None:
        """Accept `tensor`."""


def factory_of(dataset: Any) -> NameAttrList:
    """Return a function of the default graph that takes nothing and makes `dataset`.

    The dataset may be of another graph: its nodes, and the functions that they call, are copied.

    Raises:
      ValueError: it depends on a placeholder or on state.
    """
    outer = scopes.get_default_graph()
    graph = _FactoryGraph(outer)
    with graph.as_default():
        made = with_options_applied(dataset)
        made = graph.inside("", made)
    shown = Shown(_NAME, attrs={"_disable_call_shape_inference": True})
    record = function_of(graph.get_operations(), [], [made], shown)
    data = function_to_proto(record).SerializeToString(deterministic=True)
    name = f"{_NAME}_{hashlib.sha1(data).hexdigest()[:11]}"
    record = record._replace(signature=record.signature._replace(name=name))
    graph._bodies[name] = Built(graph, [], [made])
    copy_function(record, graph, outer)
    return NameAttrList(name)


def _copied(graph: FunctionGraph, tensor: Tensor) -> Tensor:
    """Return a copy of a tensor from outside, made with all that it needs."""
    op = tensor.op
    if op.type == "Placeholder":
        raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
    if op.op_def.is_stateful and tensor.dtype is not variant:
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. "
            "`Dataset.make_one_shot_iterator()` does not support datasets that capture stateful "
            "objects, such as a `Variable` or `LookupTable`. In these cases, use "
            "`Dataset.make_initializable_iterator()`. (Original error: Cannot capture a stateful "
            f"node (name:{op.name}, type:{op.type}) by value.)"
        )
    for each in _above(graph, op):
        graph.inside(graph._name_stack, each)
    for name in (each.name for value in op._attrs.values() for each in functions_in(value)):
        if name not in graph._functions:
            copy_function(op.graph._functions[name], op.graph, graph.outermost)
    inputs = tuple([graph.inside(graph._name_stack, each) for each in op.inputs])
    made = build.add_node(graph, op.op_def, graph.unique_name(op.name), inputs, dict(op._attrs))
    return made.outputs[tensor.value_index]


def _above(graph: FunctionGraph, op: Operation) -> list[Tensor]:
    """Return what `op` needs and has no copy, inputs first: pipelines may be deep."""
    found: list[Tensor] = []
    stack = [(each, False) for each in reversed(op.inputs)]
    while stack:
        tensor, is_done = stack.pop()
        if is_done:
            found.append(tensor)
        elif tensor.graph is not graph and tensor not in graph.captures:
            stack.append((tensor, True))
            stack += [(each, False) for each in reversed(tensor.op.inputs)]
    return found
