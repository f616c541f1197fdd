"""SD3: the decoder's state."""
