"""`tf.train.Optimizer` and the optimizers of `tf.train`; `contrib` has the others."""
