"""`tf.cond`, `tf.while_loop`, `tf.case`: graphs in TensorFlow 1's control flow, and their messages.

The gradients are in `ops.autodiff`.
"""
