"""What is noticed on the way: arguments at the wrong place, results that nobody takes, code that is to fail."""
