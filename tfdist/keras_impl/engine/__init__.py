"""What layers are made into: networks of called layers, models, and their training loops."""
