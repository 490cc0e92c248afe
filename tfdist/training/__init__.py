"""Floor 7: what programs train with: optimizers and the placement of replicas."""
