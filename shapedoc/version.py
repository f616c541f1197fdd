"""The version, as a literal: printing it must cost nothing."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
