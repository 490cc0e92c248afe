"""Functions that nodes call: their bodies are put in place of the calls, or become plans."""
