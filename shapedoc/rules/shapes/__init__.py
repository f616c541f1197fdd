"""SD1: shapes that cannot meet."""
