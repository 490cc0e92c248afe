"""The optimizers of `tf.contrib.opt` and `tf.contrib.tpu`."""
