"""`tf.train.exponential_decay` and the other schedules."""
