"""What ops of all families stand on, and those of the runtime itself.

Composite tensors and their specs, `_Send` and `_Recv`, handles of sessions, and the names that
old graphs and TensorFlow's master use. For whoever adds a kind of tensor or a spelling of an op.
"""
