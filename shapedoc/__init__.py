"""A shape doctor for attention code in PyTorch and NumPy.

Importing this package loads neither torch nor libcst; public names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from shapedoc.version import __version__

if TYPE_CHECKING:
    from shapedoc.core.prompts import prompt_names, prompt_text
    from shapedoc.report.svg import plot
    from shapedoc.runtime.behave import behave
    from shapedoc.runtime.counterfactual import counterfactual

__all__ = ["__version__", "behave", "counterfactual", "plot", "prompt_names", "prompt_text"]

# Where each public name lives.
_HOMES = {
    "behave": "shapedoc.runtime.behave",
    "counterfactual": "shapedoc.runtime.counterfactual",
    "plot": "shapedoc.report.svg",
    "prompt_names": "shapedoc.core.prompts",
    "prompt_text": "shapedoc.core.prompts",
}


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'shapedoc' has no attribute {name!r}")
