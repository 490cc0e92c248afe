"""Layers of tf.contrib.layers, and what repeats them.

Source: TF 1.15 API documentation, tf.contrib.layers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.models.contrib.framework.arg_scope import add_arg_scope
from tfdist.models.contrib.framework.variables import model_variable
from tfdist.models.contrib.layers.utils import collect_named_outputs
from tfdist.models.contrib.layers.variable_getters import add_variable, finished, variable_getter
from tfdist.models.layers import core
from tfdist.models.layers.defaults import XAVIER, ZEROS
from tfdist.ops.array.cast import to_int64
from tfdist.ops.array.one_hot import one_hot
from tfdist.ops.array.reshape import reshape
from tfdist.ops.array.shape import shape
from tfdist.ops.nn import functions as nn
from tfdist.ops.nn.embedding_lookup import embedding_lookup
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = [
    "bias_add", "dropout", "elu", "embed_sequence", "flatten", "fully_connected", "linear",
    "one_hot_encoding", "relu", "relu6", "repeat", "softmax", "stack",
]  # fmt: skip


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Return activation_fn(normalizer_fn(inputs @ weights + biases)).

    Args:
      inputs: [..., inputs].
      num_outputs: number of outputs.
      activation_fn: function of the result; relu by default, None for none.
      normalizer_fn: function that stands in for the biases, such as `batch_norm`.
      normalizer_params: a dict with its arguments.
      weights_initializer: of the weights [inputs, num_outputs].
      weights_regularizer: function from the weights to a loss.
      biases_initializer: of the biases; None for no biases.
      biases_regularizer: function from the biases to a loss.
      reuse: whether variables are those of a layer of this scope.
      variables_collections: collections for all variables, or a dict from "weights" and "biases".
      outputs_collections: collections that the result is added to.
      trainable: whether the variables are trained.
      scope: name of the layer's scope.

    Example:
      >>> contrib.layers.fully_connected(zeros([2, 4]), 3)
      <tf.Tensor 'fully_connected/Relu:0' shape=(2, 3) dtype=float32>
    """
    with variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=variable_getter()
    ) as entered:
        inputs = convert_to_tensor(inputs)
        layer = core.Dense(
            num_outputs, None, normalizer_fn is None and biases_initializer is not None,
            weights_initializer, biases_initializer, weights_regularizer, biases_regularizer,
            trainable=trainable, name=entered.name, dtype=inputs.dtype.base_dtype, _scope=entered,
            _reuse=reuse,
        )  # fmt: skip
        outputs = layer(inputs)
        add_variable(layer.kernel, variables_collections, "weights")
        add_variable(layer.bias, variables_collections, "biases")
        return finished(
            outputs, normalizer_fn, normalizer_params, activation_fn, outputs_collections,
            entered,
        )  # fmt: skip


relu = functools.partial(fully_connected, activation_fn=nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn.relu6)
elu = functools.partial(fully_connected, activation_fn=nn.elu)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Return the inputs with biases added to each channel; arguments as of `fully_connected`.

    Example:
      >>> contrib.layers.bias_add(zeros([2, 4])).name, trainable_variables()[0].name
      ('BiasAdd/BiasAdd:0', 'BiasAdd/biases:0')
    """
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as entered:
        inputs = convert_to_tensor(inputs)
        channels = inputs.plain_shape[1 if data_format.startswith("NC") else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases", [channels], inputs.dtype.base_dtype, initializer, regularizer, trainable
        )
        add_variable(biases, variables_collections, "biases")
        outputs = nn.bias_add(inputs, biases, data_format)
        return finished(outputs, None, None, activation_fn, outputs_collections, entered)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Return the inputs; where `is_training` is true, some are 0 and the others larger.

    Args:
      inputs: float tensor.
      keep_prob: chance of an element to stay.
      noise_shape: shape of the choice, which broadcasts to that of inputs.
      is_training: a bool, or a bool tensor.
      outputs_collections: collections that the result is added to.
      scope: name of the layer's scope.
      seed: for the choice.

    Example:
      >>> Session().run(contrib.layers.dropout(constant([1.0, 2.0]), is_training=False))
      array([1., 2.], dtype=float32)
    """
    with variable_scope(scope, "Dropout", [inputs]) as entered:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(1 - keep_prob, noise_shape, seed, entered.name, _scope=entered)
        outputs = layer(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, entered.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """Return `inputs` [batch, ...] as [batch, elements].

    Args:
      inputs: a tensor.
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Example:
      >>> contrib.layers.flatten(zeros([2, 4, 5])).shape.as_list()
      [2, 20]
    """
    with scopes.name_scope(scope, "Flatten", [inputs]) as entered:
        outputs = core.flatten(convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, entered, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Return a row for each label, with `on_value` at its place.

    Args:
      labels: integers [n], or [n, 1].
      num_classes: length of a row.
      on_value: at the label's place.
      off_value: at the others.
      outputs_collections: collections that the result is added to.
      scope: name of the nodes' scope.

    Example:
      >>> Session().run(contrib.layers.one_hot_encoding([1], 3))
      array([[0., 1., 0.]], dtype=float32)
    """
    with scopes.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as entered:
        labels = convert_to_tensor(labels)
        labels = to_int64(labels) if labels.dtype is dtypes.int32 else labels
        rows = one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, entered, rows)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Return the softmax along the last axis.

    Example:
      >>> Session().run(contrib.layers.softmax(constant([[1.0, 1.0]])))
      array([[0.5, 0.5]], dtype=float32)
    """
    with variable_scope(scope, "softmax", [logits]):
        rows = reshape(logits, [-1, logits.plain_shape[-1]])
        found = reshape(nn.softmax(rows), shape(logits))
        found.set_shape(logits.plain_shape)
        return found


@add_arg_scope
def embed_sequence(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Return a trained vector for each id.

    Args:
      ids: integers of any shape, from 0 to vocab_size - 1.
      vocab_size: how many ids there are.
      embed_dim: length of a vector.
      unique: accepted for TensorFlow's sake: whether each id is looked up once.
      initializer: of the vectors [vocab_size, embed_dim].
      regularizer: function from the vectors to a loss.
      trainable: whether they are trained.
      scope: name of the layer's scope.
      reuse: whether vectors are those of a layer of this scope.

    Example:
      >>> contrib.layers.embed_sequence([[1, 2]], 5, 3).shape.as_list()
      [1, 2, 3]
    """
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        vectors = model_variable(
            "embeddings", [vocab_size, embed_dim], dtypes.float32, initializer, regularizer,
            trainable,
        )  # fmt: skip
        return embedding_lookup(vectors, ids)


@add_arg_scope
def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Return what a layer makes of the inputs when it stands several times in a row.

    Args:
      inputs: of the first one.
      repetitions: how many times.
      layer: such as `fully_connected`.
      *args: of each.
      **kwargs: of each; `scope` is that of all, in which they are scope_1, scope_2 and so on.

    Example:
      >>> contrib.layers.repeat(zeros([2, 4]), 2, contrib.layers.fully_connected, 3, scope="r").name
      'r/r_2/Relu:0'
    """
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        label = scope or getattr(layer, "__name__", "repeat")
        for number in range(repetitions):
            inputs = layer(inputs, *args, **{**kwargs, "scope": f"{label}_{number + 1}"})
        return inputs


@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Return what layers of one kind, with different arguments, make of the inputs in a row.

    Args:
      inputs: of the first one.
      layer: such as `fully_connected`.
      stack_args: for each layer its argument, or a list of them.
      **kwargs: of each; `scope` is that of all, in which they are scope_1, scope_2 and so on.

    Example:
      >>> contrib.layers.stack(
      ...     zeros([2, 4]), contrib.layers.fully_connected, [3, 5], scope="s"
      ... ).name
      's/s_2/Relu:0'
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, list | tuple):
        raise TypeError("stack_args need to be a list or tuple")
    with variable_scope(scope, "Stack", [inputs]):
        label = scope or getattr(layer, "__name__", "stack")
        for number, given in enumerate(stack_args):
            given = given if isinstance(given, list | tuple) else [given]
            inputs = layer(inputs, *given, **{**kwargs, "scope": f"{label}_{number + 1}"})
        return inputs
