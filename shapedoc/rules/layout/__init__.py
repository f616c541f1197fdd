"""SD6: layout."""
