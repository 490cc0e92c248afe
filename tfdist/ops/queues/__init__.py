"""`tf.queue`, accumulators, barriers and staging areas: ops on state that steps wait for.

The state itself is in `runtime.resources`.
"""
