"""Checkpoint files of both formats: read, written, and what interrupted writers leave."""
