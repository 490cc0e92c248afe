"""`tf.io`: files, readers, parsed records, and the ops of checkpoints."""
