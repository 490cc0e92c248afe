"""`tf.train.Optimizer` and all optimizers, also of `tf.contrib.opt` and `tf.contrib.tpu`."""
