"""`tf.keras.optimizers` and their schedules."""
