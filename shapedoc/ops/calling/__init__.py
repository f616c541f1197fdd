"""From a call to an op."""
