"""The ops behind `tf.data`: datasets as values, and the iterators over them.

The public classes are in `tfdist.datasets`.
"""
