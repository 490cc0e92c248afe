"""Floor 7: what programs train with: `tf.train`, `tf.saved_model`, and `tf.contrib` beside them.

The folders are floors: `saving` below `sessions` below `optimizers`; `replicas`, `input_queues`,
`events` and `slim` use them.

`learning_rate` is tested with the optimizers, in `tests/training/optimizers`; what queues and
coordinators give beside TensorFlow in `tests/training/test_differential.py`.
"""
