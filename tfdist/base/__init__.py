"""Floor 0: dtypes, shapes, names, random words. Imports the standard library, numpy, errors."""
