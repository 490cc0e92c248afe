"""A task: its master, its worker, the peers that it reaches, and its memory."""
