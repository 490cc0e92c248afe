"""How a model is trained: `compile`, `fit`, `evaluate` and `predict`, and what they take."""
