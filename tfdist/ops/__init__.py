"""Floor 2: the ops, one family a file, each op in one place.

In order: signature, shape rule, kernel, gradient, public function. Copy the op above and change
it. Imports graph, formats, base, protos, errors and numpy; other families are reached through
`graph.op_def.raw`. Kernels take arrays and give arrays, and know nothing of devices or steps.
"""
