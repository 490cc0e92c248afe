"""State that outlives steps: variables, queues, tables, readers, iterators.

Each is a pure table (`queue_state`) with a lock around it (`locked_resource`); `registry` finds
them by container and name. What they refuse when memory is short is in `exhausted`.
"""
