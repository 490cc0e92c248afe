"""`tf.nn.max_pool` and its relatives: windows reduced to one element."""
