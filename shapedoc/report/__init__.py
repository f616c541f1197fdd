"""How a run is told: one file per output format, in ``formats/``.

A format is a module there with a function ``render(report, context)`` that yields the lines to print. The folder
is the table: a new file is a new format, under the file's name with ``-`` for ``_``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules

from shapedoc.core.finding import Report
from shapedoc.report import formats
from shapedoc.report.context import Context

__all__ = ["Context", "Render", "UnknownFormat", "format_names", "renderer"]

Render = Callable[[Report, Context], Iterable[str]]


class UnknownFormat(ValueError):
    """A format that there is not; the text says which there are."""


def format_names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return tuple(sorted(module.name.replace("_", "-") for module in iter_modules(formats.__path__)))


def renderer(name: str) -> Render:
    """Return the function that tells a report in the format `name`.

    Raises UnknownFormat when there is no such format.
    """
    if name not in format_names():
        raise UnknownFormat(f"no output format is called `{name}`; there are: {', '.join(format_names())}")
    render: Render = import_module(f"{formats.__name__}.{name.replace('-', '_')}").render
    return render
