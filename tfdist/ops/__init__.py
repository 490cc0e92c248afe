"""Floor 2: the ops, each in one place, in folders named after TensorFlow's namespaces.

`tf.linalg.cholesky` is in `linalg/cholesky.py`. A module is a family: for each op its signature,
shape rule, kernel, gradient and public function, in this order. Copy the op above and change it.

The folders are an index, not floors: families call each other both ways. They import graph,
formats, base, protos, errors and numpy; ops of other families are reached through
`graph.op_def.raw`. Kernels take arrays and give arrays, and know nothing of devices or steps.
Each op is tested by the contract in `tests/ops/test_every_op.py` and, beside TensorFlow, in
`tests/ops/test_differential.py`; what those leave open has a test in the folder of that name, for
`pooling` in `convolution`'s, for `dataset` in `tests/datasets`, and for `summary` and
`optimizer_ops` in `tests/training`.
"""
