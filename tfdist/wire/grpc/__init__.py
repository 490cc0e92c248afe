"""gRPC: the client's and the server's half, and the channel options."""
