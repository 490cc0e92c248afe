"""`tf.keras.backend`: functions on tensors, the session, and the learning phase."""
