"""`%placement`: nodes in columns of devices."""
