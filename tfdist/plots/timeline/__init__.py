"""`%timeline`: a step over time, by device and as calls."""
