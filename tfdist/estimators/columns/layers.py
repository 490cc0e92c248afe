"""Layers that take feature columns: the input of a network, and a linear model.

Source: TF 1.15 API documentation, tf.feature_column.input_layer and linear_model; messages, and
names of variables, by experiment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from tfdist.estimators.columns.feature_column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
)
from tfdist.graph import scopes
from tfdist.graph.op_def import raw
from tfdist.ops.array.concat import concat
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.add_n import add_n
from tfdist.ops.nn.embedding_lookup_sparse import safe_embedding_lookup_sparse
from tfdist.ops.nn.functions import bias_add
from tfdist.ops.sparse.rows import sparse_reshape
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.get_variable import get_variable
from tfdist.ops.variables.initializers import zeros_initializer
from tfdist.ops.variables.variable import Variable
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["input_layer", "linear_model"]


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
) -> Any:
    """Return what columns make of features, side by side in the order of the columns' names.

    Args:
      features: a dict from keys to tensors, or SparseTensors, whose first axis is the batch.
      feature_columns: columns that give numbers.
      weight_collections: collections to which variables are added.
      trainable: whether variables are learned.
      cols_to_vars: takes the variables of each column.
      cols_to_output_tensors: takes what each column gives.

    Returns:
      float [batch, width].

    Raises:
      ValueError: something is no column that gives numbers, two have one name, or a feature is
        missing.

    Example:
      >>> age = feature_column.numeric_column("age")
      >>> day = feature_column.indicator_column(
      ...     feature_column.categorical_column_with_identity("day", 2)
      ... )
      >>> features = {"age": [[20.0], [50.0]], "day": [[0], [1]]}
      >>> Session().run(feature_column.input_layer(features, [day, age]))
      array([[20.,  1.,  0.],
             [50.,  0.,  1.]], dtype=float32)
    """
    return input_in_scope(
        (None, "input_layer", None), features, feature_columns, weight_collections, trainable,
        cols_to_vars, cols_to_output_tensors,
    )  # fmt: skip


def input_in_scope(
    scope: tuple[str | None, str, Any],
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    weight_collections: Iterable[str] | None,
    trainable: bool,
    cols_to_vars: MutableMapping[Any, Any] | None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None,
) -> Any:
    """Do as `input_layer`, in a scope of a name, a default name, and with a custom getter."""
    columns = _columns(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical "
                f"column with an embedding_column or indicator_column. Given: {column}"
            )
    collections = _collections(weight_collections)
    made = Features(features)
    found = []
    with _scope(scope, features):
        for column in columns:
            with variable_scope(None, column.scope_name) as inner:
                found.append(_flat(column, made, trainable, collections))
                if cols_to_vars is not None:
                    cols_to_vars[column] = _variables_of(inner.name)
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = found[-1]
        return concat(found, 1)


def _scope(scope: tuple[str | None, str, Any], features: Mapping[str, Any]) -> Any:
    name, default, getter = scope
    return variable_scope(name, default, list(features.values()), custom_getter=getter)


def _columns(given: Any) -> list[Any]:
    """Return columns in the order of their names.

    Raises:
      ValueError: there are none, one is none, or two have one name.
    """
    columns = [given] if isinstance(given, FeatureColumn) else list(given)
    names: dict[str, Any] = {}
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                "Items of feature_columns must be a _FeatureColumn. Given (type "
                f"{type(column)}): {column}."
            )
        if column.name in names:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{names[column.name]}. This usually means that these columns refer to same base "
                "feature: leave one away, or give it a feature of another name."
            )
        names[column.name] = column
    return sorted(columns, key=lambda column: column.name)


def _collections(given: Iterable[str] | None) -> list[str]:
    found = list(given or ())
    return found if GraphKeys.GLOBAL_VARIABLES in found else [*found, GraphKeys.GLOBAL_VARIABLES]


def _flat(column: DenseColumn, features: Features, trainable: bool, collections: Any) -> Any:
    """Return a column's numbers as [batch, n]."""
    tensor = column.get_dense_tensor(features, trainable, collections)
    dims: Any = shape(tensor)
    return reshape(tensor, [dims[0], column.variable_shape.num_elements()])


def _variables_of(scope: str) -> list[Any]:
    return scopes.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=f"{scope}/")  # type: ignore[no-any-return]


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
) -> Any:
    """Return weighted sums of what columns make of features, and a bias: a linear model.

    Args:
      features: a dict from keys to tensors, or SparseTensors, whose first axis is the batch.
      feature_columns: columns.
      units: how many sums there are.
      sparse_combiner: what becomes of several categories of an example: "sum", "mean" or "sqrtn".
      weight_collections: collections to which variables are added.
      trainable: whether variables are learned.
      cols_to_vars: takes the variables of each column, and those of "bias".

    Returns:
      float [batch, units].

    Raises:
      ValueError: something is no column, two have one name, or a feature is missing.

    Example:
      >>> age = feature_column.numeric_column("age")
      >>> sums = feature_column.linear_model({"age": [[20.0], [50.0]]}, [age])
      >>> [variable.name for variable in trainable_variables()]
      ['linear_model/age/weights:0', 'linear_model/bias_weights:0']
    """
    with _scope((None, "linear_model", None), features) as scope:
        pass
    name = scope.name.split("/")[-1]
    with variable_scope(scope), scopes.name_scope(name):  # as a Keras layer's, which it is there
        return linear_sums(
            features, feature_columns, units, sparse_combiner, weight_collections, trainable,
            cols_to_vars, use_resource=True,
        )  # fmt: skip


def linear_in_scope(
    scope: tuple[str | None, str, Any],
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    units: int,
    sparse_combiner: str,
    weight_collections: Iterable[str] | None,
    trainable: bool,
    cols_to_vars: MutableMapping[Any, Any] | None,
    dense_name: str = "weights",
) -> Any:
    """Do as `linear_model`, in a scope of a name, a default name, and with a custom getter."""
    with _scope(scope, features):
        return linear_sums(
            features, feature_columns, units, sparse_combiner, weight_collections, trainable,
            cols_to_vars, dense_name=dense_name,
        )  # fmt: skip


def linear_sums(
    features: Mapping[str, Any],
    feature_columns: Iterable[Any],
    units: int,
    sparse_combiner: str,
    weight_collections: Iterable[str] | None,
    trainable: bool,
    cols_to_vars: MutableMapping[Any, Any] | None,
    use_resource: bool | None = None,
    dense_name: str = "weights",
) -> Any:
    """Do as `linear_model`, in the current scope, with variables of a kind.

    `dense_name` is that of the weights of columns without categories.
    """
    columns = _columns(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn | CategoricalColumn):
            raise ValueError(
                "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. "
                f"Given: {column}"
            )
    made = Features(features)
    options: dict[str, Any] = {
        "trainable": trainable,
        "collections": _collections(weight_collections),
        "use_resource": use_resource,
    }
    sums = []
    for column in columns:
        with variable_scope(None, getattr(column, "scope_name", column.name)):
            name = "weights" if isinstance(column, CategoricalColumn) else dense_name
            total, weights = _weighted(
                column, made, units, sparse_combiner, {"name": name, **options}
            )
        sums.append(total)
        _note(cols_to_vars, column, weights)
    total = add_n(sums, name="weighted_sum_no_bias")
    bias = get_variable("bias_weights", [units], initializer=zeros_initializer(), **options)
    _note(cols_to_vars, "bias", bias)
    return bias_add(total, bias, name="weighted_sum")


def _note(taken: MutableMapping[Any, Any] | None, key: Any, variable: Any) -> None:
    if taken is not None:
        taken[key] = [variable] if isinstance(variable, Variable) else list(variable)


def _weighted(
    column: Any, features: Features, units: int, combiner: str, options: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the weighted sums of a column, and its weights, which are made with `options`."""

    def weights_of(rows: int) -> Any:
        return get_variable(shape=[rows, units], initializer=zeros_initializer(), **options)

    if not isinstance(column, CategoricalColumn):
        weights = weights_of(column.variable_shape.num_elements())
        numbers = _flat(column, features, options["trainable"], options["collections"])
        return raw.MatMul(numbers, weights, name="weighted_sum"), weights
    weights = weights_of(column.num_buckets)
    found = column.get_sparse_tensors(features)
    ids, id_weights = (_in_two_axes(each) for each in found)
    sums = safe_embedding_lookup_sparse(weights, ids, id_weights, combiner, name="weighted_sum")
    known = found.ids.get_shape()
    sums.set_shape([known[0].value if known.ndims else None, units])
    return sums, weights


def _in_two_axes(sparse: Any) -> Any:
    """Return a SparseTensor [batch, ...] as [batch, n]."""
    if sparse is None:
        return None
    dims: Any = shape(sparse)
    return sparse_reshape(sparse, [dims[0], -1])
