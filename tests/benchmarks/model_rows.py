"""Training steps of small models of the usual kinds, as programs write them by hand; see `rows`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from timed import Timed, initialised, running

CLASSES = 10


def training(
    model: Callable[[Any], tuple[Any, Any, dict[Any, Any]]],
) -> Callable[[Any], Timed]:
    """Return the row of a model: of its loss, its optimizer, and what is fed."""

    def program(tf: Any) -> Timed:
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            loss, optimizer, feeds = model(tf)
            train = optimizer.minimize(loss)
            return running(initialised(tf), train, feeds)

    return program


def residual(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """Three residual blocks with batch normalization, on 16 images of 32 x 32."""
    images, labels, feeds = fed(tf, [16, 32, 32, 32])
    found = images
    for block in range(3):
        with tf.variable_scope("block{}".format(block)):  # noqa: UP032
            inner = tf.nn.relu(normalized(tf, convolved(tf, found, 32, 3, "a"), "a"))
            found = tf.nn.relu(found + normalized(tf, convolved(tf, inner, 32, 3, "b"), "b"))
    loss = entropy(tf, dense(tf, tf.reduce_mean(found, [1, 2]), CLASSES, "end"), labels)
    return loss, tf.train.MomentumOptimizer(0.01, 0.9), feeds


def long_short_term_memory(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """A cell of 128 units, unrolled over 20 steps of 32 sequences."""
    inputs, labels, feeds = fed(tf, [32, 20, 64])
    state = output = tf.zeros([32, 128])
    for step in range(20):
        with tf.variable_scope("cell", reuse=step > 0):
            gates = dense(tf, tf.concat([inputs[:, step], output], 1), 512, "gates")
        entry, new, kept, shown = tf.split(gates, 4, 1)
        state = state * tf.sigmoid(kept + 1.0) + tf.sigmoid(entry) * tf.tanh(new)
        output = tf.tanh(state) * tf.sigmoid(shown)
    loss = entropy(tf, dense(tf, output, CLASSES, "end"), labels)
    return loss, tf.train.AdamOptimizer(), feeds


def transformer(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """Two blocks with four heads of attention, on 8 sequences of 64 of 1,000 words."""
    words = tf.placeholder(tf.int32, [8, 64])
    table = tf.get_variable("words", [1_000, 128], initializer=glorot(tf))
    found = tf.nn.embedding_lookup(table, words)
    for block in range(2):
        with tf.variable_scope("block{}".format(block)):  # noqa: UP032
            found += attention(tf, layer_normalized(tf, found, "first"))
            wide = dense(tf, layer_normalized(tf, found, "second"), 512, "wide")
            found += dense(tf, gelu(tf, wide), 128, "narrow")
    logits = tf.matmul(tf.reshape(found, [-1, 128]), table, transpose_b=True)
    loss = entropy(tf, logits, tf.reshape(words, [-1]))
    value = np.random.RandomState(0).randint(0, 1_000, [8, 64])
    return loss, tf.train.AdamOptimizer(), {words: value}


def attention(tf: Any, found: Any) -> Any:
    """Return what each place takes from those before it, by four heads."""
    query, key, value = [
        tf.transpose(tf.reshape(dense(tf, found, 128, name), [8, 64, 4, 32]), [0, 2, 1, 3])
        for name in ("query", "key", "value")
    ]
    before = tf.matrix_band_part(tf.ones([64, 64]), -1, 0)
    scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(32.0).astype(np.float32)
    taken = tf.matmul(tf.nn.softmax(scores * before - 1e9 * (1.0 - before)), value)
    return dense(tf, tf.reshape(tf.transpose(taken, [0, 2, 1, 3]), [8, 64, 128]), 128, "out")


def gelu(tf: Any, x: Any) -> Any:
    """Return the activation as BERT and GPT-2 write it."""
    return 0.5 * x * (1.0 + tf.tanh(0.7978846 * (x + 0.044715 * tf.pow(x, 3))))


def generator(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """A generator of 16 images of 32 x 32 in three colours, by transposed convolutions."""
    noise = tf.placeholder(tf.float32, [16, 64])
    seed = tf.nn.relu(dense(tf, noise, 8 * 8 * 64, "seed"))
    first, second = [
        tf.get_variable(name, shape, initializer=glorot(tf))
        for name, shape in (("first", [5, 5, 32, 64]), ("second", [5, 5, 3, 32]))
    ]
    small = tf.nn.conv2d_transpose(
        tf.reshape(seed, [16, 8, 8, 64]), first, [16, 16, 16, 32], [1, 2, 2, 1]
    )
    inner = tf.nn.relu(normalized(tf, small, "inner"))
    made = tf.tanh(tf.nn.conv2d_transpose(inner, second, [16, 32, 32, 3], [1, 2, 2, 1]))
    value = np.random.RandomState(0).rand(16, 64).astype(np.float32)
    return tf.reduce_mean(tf.square(made - 0.5)), tf.train.AdamOptimizer(), {noise: value}


def deep_q(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """The network of a deep Q learner, on 32 screens of 84 x 84."""
    screens, actions, feeds = fed(tf, [32, 84, 84, 4])
    found = screens
    for name, outputs, size, stride in (("a", 32, 8, 4), ("b", 64, 4, 2), ("c", 64, 3, 1)):
        found = tf.nn.relu(convolved(tf, found, outputs, size, name, stride))
    hidden = tf.nn.relu(dense(tf, tf.reshape(found, [32, 11 * 11 * 64]), 512, "hidden"))
    chosen = dense(tf, hidden, CLASSES, "values") * tf.one_hot(actions, CLASSES)
    loss = tf.losses.huber_loss(tf.ones([32]), tf.reduce_sum(chosen, 1))
    return loss, tf.train.RMSPropOptimizer(1e-4), feeds


def sentences(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """Kim's network over sentences: windows of 3, 4 and 5 words of 56, in a batch of 64."""
    words, labels = tf.placeholder(tf.int32, [64, 56]), tf.placeholder(tf.int32, [64])
    table = tf.get_variable("words", [2_000, 128], initializer=glorot(tf))
    image = tf.expand_dims(tf.nn.embedding_lookup(table, words), -1)
    found = []
    for size in (3, 4, 5):
        name, shape = "filters{}".format(size), [size, 128, 1, 128]  # noqa: UP032
        filters = tf.get_variable(name, shape, initializer=glorot(tf))
        seen = tf.nn.relu(tf.nn.conv2d(image, filters, [1, 1, 1, 1], "VALID"))
        found.append(tf.reduce_max(seen, [1, 2]))
    loss = entropy(tf, dense(tf, tf.concat(found, 1), 2, "end"), labels)
    random = np.random.RandomState(0)
    feeds = {words: random.randint(0, 2_000, [64, 56]), labels: random.randint(0, 2, 64)}
    return loss, tf.train.AdamOptimizer(), feeds


def variational(tf: Any) -> tuple[Any, Any, dict[Any, Any]]:
    """A variational autoencoder of 100 images of 28 x 28."""
    images = tf.placeholder(tf.float32, [100, 784])
    inner = tf.nn.softplus(dense(tf, images, 500, "in"))
    mean, log_variance = dense(tf, inner, 20, "mean"), dense(tf, inner, 20, "log_variance")
    drawn = mean + tf.exp(log_variance / 2.0) * tf.random_normal([100, 20])
    logits = dense(tf, tf.nn.softplus(dense(tf, drawn, 500, "inner")), 784, "out")
    rebuilt = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
    apart = tf.square(mean) + tf.exp(log_variance) - log_variance - 1.0
    loss = tf.reduce_mean(tf.reduce_sum(rebuilt, 1) + 0.5 * tf.reduce_sum(apart, 1))
    value = np.random.RandomState(0).rand(100, 784).astype(np.float32)
    return loss, tf.train.AdamOptimizer(), {images: value}


def clusters(tf: Any) -> Timed:
    """A step of k-means: 50 means of 10,000 points of the plane."""
    random = np.random.RandomState(0)
    with tf.Graph().as_default():
        points = tf.constant(random.rand(10_000, 2).astype(np.float32))
        means = tf.Variable(random.rand(50, 2).astype(np.float32))
        apart = tf.expand_dims(points, 0) - tf.expand_dims(means, 1)
        nearest = tf.argmin(tf.reduce_sum(tf.square(apart), 2), 0)
        count = tf.unsorted_segment_sum(tf.ones([10_000, 1]), nearest, 50)
        total = tf.unsorted_segment_sum(points, nearest, 50)
        moved = tf.assign(means, total / tf.maximum(count, 1.0))
        return running(initialised(tf), moved.op)


# what they are made of


def fed(tf: Any, shape: list[int]) -> tuple[Any, Any, dict[Any, Any]]:
    """Return placeholders for floats and a class of each, and what is fed."""
    random = np.random.RandomState(0)
    values, classes = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32, shape[:1])
    feeds = {
        values: random.rand(*shape).astype(np.float32),
        classes: random.randint(0, CLASSES, shape[0]),
    }
    return values, classes, feeds


def glorot(tf: Any) -> Any:
    return tf.glorot_uniform_initializer(seed=1)


def dense(tf: Any, x: Any, units: int, name: str) -> Any:
    """Return a layer's outputs, along the last axis."""
    *outer, size = x.shape.as_list()
    with tf.variable_scope(name):
        weights = tf.get_variable("weights", [size, units], initializer=glorot(tf))
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
    return tf.reshape(tf.matmul(tf.reshape(x, [-1, size]), weights) + bias, [*outer, units])


def convolved(tf: Any, x: Any, outputs: int, size: int, name: str, stride: int = 1) -> Any:
    shape = [size, size, x.shape.as_list()[-1], outputs]
    filters = tf.get_variable("filters_" + name, shape, initializer=glorot(tf))
    return tf.nn.conv2d(x, filters, [1, stride, stride, 1], "SAME")


def normalized(tf: Any, x: Any, name: str) -> Any:
    """Return images normalized over the batch."""
    channels = x.shape.as_list()[-1]
    scale = tf.get_variable("scale_" + name, [channels], initializer=tf.ones_initializer())
    offset = tf.get_variable("offset_" + name, [channels], initializer=tf.zeros_initializer())
    return tf.nn.fused_batch_norm(x, scale, offset, is_training=True)[0]


def layer_normalized(tf: Any, x: Any, name: str) -> Any:
    """Return vectors normalized each by itself."""
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    shape = x.shape.as_list()[-1:]
    scale = tf.get_variable("scale_" + name, shape, initializer=tf.ones_initializer())
    return (x - mean) * tf.rsqrt(variance + 1e-6) * scale


def entropy(tf: Any, logits: Any, labels: Any) -> Any:
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


MODELS = {
    "model: residual blocks": training(residual),
    "model: LSTM": training(long_short_term_memory),
    "model: transformer": training(transformer),
    "model: generator": training(generator),
    "model: deep Q network": training(deep_q),
    "model: sentences": training(sentences),
    "model: variational autoencoder": training(variational),
    "model: k-means": clusters,
}
