"""Floor 0: dtypes, shapes, device names, names. Imports the standard library, numpy, errors."""
