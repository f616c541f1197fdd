"""What every kind of node does."""
