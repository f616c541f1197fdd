"""Axis numbers, and sizes as arguments."""
