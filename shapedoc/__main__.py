"""``python -m shapedoc`` is ``shapedoc``."""

from __future__ import annotations

from shapedoc.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
