"""The prompts that ship with the tool, as text.

A wheel carries them as ``shapedoc/prompts``; an editable install reads them from the checkout, where they stand
beside the package.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["prompt_names", "prompt_text"]

_PACKAGE = Path(__file__).resolve().parent.parent


def prompt_text(name: str) -> str:
    """Return the prompt called `name`, such as ``attention-shapes``, front matter included.

    Raises LookupError when there is no such prompt, naming those that there are.
    """
    names = prompt_names()
    if name not in names:
        raise LookupError(f"no prompt is called {name!r}; there are: {', '.join(names) or 'none'}")
    return (_folder() / f"{name}.md").read_text(encoding="utf-8")


def prompt_names() -> tuple[str, ...]:
    """Return the names of all prompts, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.md")))


def _folder() -> Path:
    installed = _PACKAGE / "prompts"
    return installed if installed.is_dir() else _PACKAGE.parent / "prompts"
