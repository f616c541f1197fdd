"""SD5: masks."""
