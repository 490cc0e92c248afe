"""One step while it runs: its units, the rendezvous, the drivers, and what it waits for."""
