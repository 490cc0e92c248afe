"""Event files for TensorBoard."""
