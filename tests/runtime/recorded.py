"""Run a program of a few lines with the recorder on."""

from __future__ import annotations

from pathlib import Path

from shapedoc.runtime.recording import Recording, record

__all__ = ["found", "recorded"]


def recorded(folder: Path, program: str) -> Recording:
    """Write the program to a file, run it, and return what was recorded; its exception is kept, not raised."""
    path = folder / f"program_{len(list(folder.iterdir()))}.py"
    path.write_text(program, encoding="utf-8")
    code = compile(program, str(path), "exec")
    try:
        with record(lambda name: name == str(path)) as recording:
            exec(code, {"__name__": "__main__"})
    except Exception:
        return recording
    return recording


def found(recording: Recording) -> list[tuple[str, int]]:
    """What the rules find, notes left out: codes and lines."""
    return sorted((f.code, f.span.line) for f in recording.findings() if f.severity != "note")
