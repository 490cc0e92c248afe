"""Embeddings of tf.contrib.layers: bags of words, and lookups of each row once.

Source: TF 1.15 API documentation, tf.contrib.layers.bow_encoder, embedding_lookup_unique.
"""

from __future__ import annotations

from typing import Any

from tfdist.base import dtypes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import name_scope
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.ops.array.concat import concat
from tfdist.ops.array.gather import gather
from tfdist.ops.array.gather_nd import gather_nd
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.math.reductions import reduce_mean, reduce_prod
from tfdist.ops.nn import embedding_lookup_sparse
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.sparse.sparse_tensor import SparseTensor
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["bow_encoder", "embedding_lookup_unique", "safe_embedding_lookup_sparse"]


@add_arg_scope
def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Return the mean of the embeddings of each example's words.

    Args:
      ids: integers [batch, words], a tensor or a SparseTensor.
      vocab_size: number of words that there are.
      embed_dim: numbers for a word.
      sparse_lookup: whether id 0 is no word, but fills rows up.
      initializer: of the embeddings.
      regularizer: function from the embeddings to a loss.
      trainable: whether they are trained.
      scope: name of the variable's scope.
      reuse: whether the variable is that of this scope.

    Returns:
      [batch, embed_dim].

    Raises:
      ValueError: there is no size.

    Example:
      >>> contrib.layers.bow_encoder([[1, 2], [3, 0]], 4, 5).shape.as_list()
      [2, 5]
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings", [vocab_size, embed_dim], None, initializer, regularizer, trainable
        )
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else _sparse(ids)
            return embedding_lookup_sparse.safe_embedding_lookup_sparse(
                [embeddings], sparse, default_id=0
            )
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(embeddings, ids), 1)


def _sparse(ids: Any) -> SparseTensor:
    """Return the ids that are not 0."""
    with name_scope(None, "DenseToSparseTensor", [ids]):
        ids = convert_to_tensor(ids)
        ignored = convert_to_tensor(0, ids.dtype, name="ignore_value/x")
        indices = raw.Where(raw.NotEqual(ids, ignored), name="indices")
        values = gather_nd(ids, indices, name="values")
        return SparseTensor(indices, values, shape(ids, out_type=dtypes.int64, name="dense_shape"))


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """Do as `tf.nn.embedding_lookup`, looking each row up once, however often it is asked for.

    Args:
      params: the table, or a list of its parts.
      ids: integers of any shape.
      partition_strategy: "mod" or "div": which part has a row.
      name: of the nodes' scope.

    Raises:
      ValueError: there is no table.

    Example:
      >>> table = constant([[1.0], [2.0]])
      >>> Session().run(contrib.layers.embedding_lookup_unique(table, [[1, 1], [0, 1]])[0])
      array([[2.],
             [2.]], dtype=float32)
    """
    if params is None or (isinstance(params, list | tuple) and not params):
        raise ValueError("params must be specified")
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        sizes: Any = shape(ids)
        flat = reshape(ids, reduce_prod(sizes, keepdims=True))
        unique, positions = raw.Unique(flat)
        rows = embedding_lookup(params, unique, partition_strategy)
        found = gather(rows, positions)
        row_sizes: Any = shape(rows)
        outputs = reshape(found, concat([sizes, row_sizes[1:]], 0))
        if ids.plain_shape is not None and rows.plain_shape is not None:
            outputs.set_shape([*ids.plain_shape, *rows.plain_shape[1:]])
        return outputs


@add_arg_scope
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Any:
    """Do as `tf.nn.safe_embedding_lookup_sparse`; the combiner is "mean" if none is given."""
    return embedding_lookup_sparse.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner or "mean", default_id, name,
        partition_strategy, max_norm,
    )  # fmt: skip
