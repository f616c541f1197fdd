"""SD9: the tool."""
