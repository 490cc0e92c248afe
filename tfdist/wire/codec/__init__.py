"""Messages to bytes and back: tensors and graphs without copies, frames, step statistics."""
