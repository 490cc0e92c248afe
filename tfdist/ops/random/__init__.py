"""`tf.random`: TensorFlow's numbers wherever there is a seed.

`random_sampling` and `rejection_sampling` draw; the others are ops and functions around them.
"""
