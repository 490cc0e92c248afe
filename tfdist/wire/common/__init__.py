"""What all of the wire shares: calls, the event loop, security, status and timeouts."""
