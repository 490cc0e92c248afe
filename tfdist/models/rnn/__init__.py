"""`tf.nn.rnn_cell`, `tf.nn.dynamic_rnn`, `tf.contrib.rnn`: cells, wrappers, loops over time."""
