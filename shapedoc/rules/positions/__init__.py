"""SD8: positions and caches."""
