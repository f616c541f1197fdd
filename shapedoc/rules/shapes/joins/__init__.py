"""Joins along an axis that other code speaks against."""
