"""Floor 3: what a cluster is, and the life of sessions in it, as pure state machines.

Events in, instructions out; no socket, thread, lock, clock or random number. The shells of floor 4
and above hold the lock, keep the state and carry the instructions out. Imports plan, graph, base,
protos (for the public edge of ClusterSpec) and errors.
"""
