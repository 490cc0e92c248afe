"""ApplyAdam and its kin: the updates of optimizers as ops.

The optimizers that build them are in `training.optimizers`.
"""
