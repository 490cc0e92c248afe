"""Names of collections, the variables in them, and the nodes that initialise or ask about these.

Source: TF 1.15 API documentation, tf.GraphKeys, tf.global_variables, tf.variables_initializer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.errors import FailedPreconditionError
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables import state_ops

__all__ = [
    "GraphKeys", "all_variables", "assert_variables_initialized", "global_variables",
    "global_variables_initializer", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "local_variables", "local_variables_initializer", "model_variables",
    "moving_average_variables", "report_uninitialized_variables", "trainable_variables",
    "variables_initializer",
]  # fmt: skip


class GraphKeys:
    """Names of the collections that the library itself uses."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAIN_OP = "train_op"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


def _collection(key: str, what: str) -> Any:
    def function(scope: str | None = None) -> list[Any]:
        return scopes.get_default_graph().get_collection(key, scope)

    function.__doc__ = f"""Return the {what} of the default graph.

    Args:
      scope: if given, only those whose name matches this regular expression at its start.
    """
    function.__name__ = function.__qualname__ = what.replace(" ", "_")
    return function


global_variables = _collection(GraphKeys.GLOBAL_VARIABLES, "global variables")
all_variables = global_variables
local_variables = _collection(GraphKeys.LOCAL_VARIABLES, "local variables")
model_variables = _collection(GraphKeys.MODEL_VARIABLES, "model variables")
trainable_variables = _collection(GraphKeys.TRAINABLE_VARIABLES, "trainable variables")
moving_average_variables = _collection(
    GraphKeys.MOVING_AVERAGE_VARIABLES, "moving average variables"
)


def variables_initializer(var_list: Iterable[Any] | None, name: str = "init") -> Operation:
    """Return an operation that initialises the variables in `var_list`, which may be None.

    Example:
      >>> v = Variable(3.0)
      >>> with Session() as session:
      ...     session.run(variables_initializer([v]))
      ...     session.run(v)
      np.float32(3.0)
    """
    return group(*[variable.initializer for variable in var_list or ()], name=name)


def global_variables_initializer() -> Operation:
    """Return an operation that initialises all global variables of the default graph."""
    return variables_initializer(global_variables(), "init")


def local_variables_initializer() -> Operation:
    """Return an operation that initialises all local variables of the default graph."""
    return variables_initializer(local_variables(), "init")


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Return a string tensor: names of the variables that have no value yet.

    Args:
      var_list: variables to ask about; by default all global and local ones.
      name: of the scope of the nodes.

    Returns:
      string [number of uninitialised variables].
    """
    if var_list is None:
        var_list = global_variables() + local_variables()
    with scopes.name_scope(name):
        if not var_list:
            return convert_to_tensor([], dtypes.string)
        flags = [state_ops.is_variable_initialized(v) for v in var_list]
        with scopes.device("/cpu:0"):
            missing = raw.LogicalNot(raw.Pack(flags, axis=0, name="stack"))
            names = convert_to_tensor([v.op.name for v in var_list])
            with scopes.name_scope("boolean_mask"):
                where = raw.Squeeze(raw.Where(missing), squeeze_dims=[1])
                return raw.GatherV2(names, where, 0)  # type: ignore[no-any-return]


def assert_variables_initialized(var_list: Any = None) -> Tensor:
    """Return a tensor whose running fails with FailedPreconditionError if one has no value."""
    var_list = global_variables() + local_variables() if var_list is None else var_list
    if not var_list:
        raise FailedPreconditionError("there are no variables to ask about")
    return raw.Pack([raw.Rank(v) for v in var_list], axis=0)  # type: ignore[no-any-return]
