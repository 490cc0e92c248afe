"""Checkpoints and MetaGraphs: `tf.train.Saver`, `tf.train.Checkpoint`, warm starts."""
