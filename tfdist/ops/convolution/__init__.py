"""`tf.nn.conv2d` and its relatives: what slides a kernel over space.

`functions` has the public names, `convolution_ops` the ops, `kernels` chooses between `blas` and
`onednn`; `windows` says where kernels stand, for pooling as well.
"""
