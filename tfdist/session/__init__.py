"""Floor 6: sessions: what a user's `run` becomes, and what comes back."""
