"""What the author states, held against what is inferred."""
