"""Floor 1: what a graph is, and how a node comes into it.

`op_def` reads signatures, `op_registry` finds ops, whose modules it imports when they are first
asked for; `build` makes nodes; `operation` and `graph` hold them; `scopes` says what surrounds a
new node; `records` is the plain form that plans work on and `graph_def` TensorFlow's. Imports base,
protos, errors; never an op: ops are found by name.
"""
