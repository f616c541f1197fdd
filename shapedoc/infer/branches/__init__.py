"""Branches: what their tests let them take for granted, and where they meet."""
