"""The assertions of generated regression tests, as lines of NumPy."""

from __future__ import annotations

__all__ = ["CLOSE", "others_stay", "part_stays", "same"]

CLOSE = "rtol=1e-4, atol=1e-5"


def same(name: str) -> tuple[str, ...]:
    """A result that must not change at all."""
    return (f"np.testing.assert_allclose({name}_after, {name}, {CLOSE})",)


def others_stay(name: str, axis: int, index: int) -> tuple[str, ...]:
    """A result that may change at one position of an axis only."""
    cut = f"{index}, axis={axis}"
    return (f"np.testing.assert_allclose(np.delete({name}_after, {cut}), np.delete({name}, {cut}), {CLOSE})",)


def part_stays(name: str, axis: int, start: int | None, stop: int | None) -> tuple[str, ...]:
    """A result that must stay between two positions of an axis."""
    piece = f"[{':, ' * axis}{'' if start is None else start}:{'' if stop is None else stop}]"
    return (f"np.testing.assert_allclose({name}_after{piece}, {name}{piece}, {CLOSE})",)
