"""What `%cluster slow`, `freeze`, `delay`, `rate`, `drop` and `cut` do to steps."""
