"""Distribution strategies: a model is built once for each replica, and their gradients are added.

Replicas in one process share one copy of each variable: what they add up to is the same as with
copies that are kept equal, and nothing has to keep them so. `replicas` builds a model for each
replica in turn, `extended` says what strategies do with values of several replicas, `strategy` is
what programs hold, `kinds` the strategies by name, `inputs` deals batches out, and `all_reduce`
adds gradients over the workers of a cluster.
"""
