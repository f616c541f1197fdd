"""A shape doctor for attention code in PyTorch and NumPy.

Importing this package loads neither torch nor libcst; public names load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from shapedoc.version import __version__

if TYPE_CHECKING:
    from shapedoc.core.prompts import prompt_names, prompt_text
    from shapedoc.integrations.check import check, watching
    from shapedoc.integrations.hook import install_import_hook
    from shapedoc.integrations.jupyter import load_ipython_extension
    from shapedoc.integrations.told import ShapeError, ShapeWarning
    from shapedoc.report.svg import plot
    from shapedoc.runtime.behave import behave
    from shapedoc.runtime.counterfactual import counterfactual
    from shapedoc.runtime.probe import probe

__all__ = [
    "ShapeError",
    "ShapeWarning",
    "__version__",
    "behave",
    "check",
    "counterfactual",
    "install_import_hook",
    "load_ipython_extension",
    "plot",
    "probe",
    "prompt_names",
    "prompt_text",
    "watching",
]

# Where each public name lives.
_HOMES = {
    "ShapeError": "shapedoc.integrations.told",
    "ShapeWarning": "shapedoc.integrations.told",
    "behave": "shapedoc.runtime.behave",
    "check": "shapedoc.integrations.check",
    "counterfactual": "shapedoc.runtime.counterfactual",
    "install_import_hook": "shapedoc.integrations.hook",
    "load_ipython_extension": "shapedoc.integrations.jupyter",
    "plot": "shapedoc.report.svg",
    "probe": "shapedoc.runtime.probe",
    "prompt_names": "shapedoc.core.prompts",
    "prompt_text": "shapedoc.core.prompts",
    "watching": "shapedoc.integrations.check",
}


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'shapedoc' has no attribute {name!r}")
