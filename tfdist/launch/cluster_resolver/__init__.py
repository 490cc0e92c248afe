"""tf.distribute.cluster_resolver: what knows where the tasks of a cluster are, a file a kind.

Source: TF 1.15 API documentation, tf.distribute.cluster_resolver; rules and messages by experiment.
"""
