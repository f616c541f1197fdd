"""What the rules ask of a trace, and the words in which they tell it."""
