"""Linear maps that are fed another size than they were built with."""
