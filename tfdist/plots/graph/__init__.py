"""`%graph`: a graph drawn by scopes, layered, with its edges routed."""
