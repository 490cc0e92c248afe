"""Floor 0: dtypes, shapes, names, random words, and what makes names lazy.

Imports the standard library, numpy, errors.
"""
