"""TensorList: lists of tensors as values, which functional loops and TensorFlow 2's graphs use."""
