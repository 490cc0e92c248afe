"""Floor 5: servers and addresses; the only folder that will know gRPC.

So far a server is found by its address and called directly, in this process.
"""
