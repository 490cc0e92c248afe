"""Linear operators: matrices by what they do to vectors, one kind a module or a few of a sort."""
