"""SD7: what the author states."""
