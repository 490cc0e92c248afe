"""What a server answers: the master, worker and inspection services."""
