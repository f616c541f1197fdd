"""Benchmarks as commands: `python -m tests.benchmarks.overhead`."""
