"""SD2: broadcasting that nobody asked for."""
