"""`tf.reshape`, `tf.concat`, `tf.gather` and their like: elements moved, selected and made."""
