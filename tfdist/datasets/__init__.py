"""tf.data: the classes that programs build pipelines with. Floor 7.

A `Dataset` here is a tensor of the graph and the structure of its elements; what it does when it
runs stands in `ops.dataset.dataset_value`.
"""
