"""Files and records: bytes to arrays and back. Floor 1: imports `base`, `protos` and `errors` only.

Everything here is a plain function of paths and bytes, or an iterator over one file; nothing knows
of graphs, steps or threads. Files are read in pieces, whatever their size.
"""
