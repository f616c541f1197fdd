"""What is walked of a file, and with what."""
