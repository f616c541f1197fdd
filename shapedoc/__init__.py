"""A shape doctor for attention code in PyTorch and NumPy.

Importing this package loads neither torch nor libcst; public names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapedoc.version import __version__

if TYPE_CHECKING:
    from shapedoc.core.prompts import prompt_names, prompt_text

__all__ = ["__version__", "prompt_names", "prompt_text"]


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name in ("prompt_names", "prompt_text"):
        from shapedoc.core import prompts

        return getattr(prompts, name)
    raise AttributeError(f"module 'shapedoc' has no attribute {name!r}")
