"""Steps that are taken one by one, with a cache, give what all of them at once give."""

from __future__ import annotations

from typing import Any

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation, differs, gap
from shapedoc.runtime.behave.contract import Carried
from shapedoc.runtime.behave.draw import Inputs
from shapedoc.runtime.behave.properties.asserting import CLOSE
from shapedoc.runtime.behave.subject import Subject

Pieces = tuple[tuple[int, int], ...]


class StepsEqualWhole:
    """The first part at once and the rest one by one, and all one by one: both give what the whole at once gives."""

    name = "steps-equal-whole"
    says = "taking its steps one by one, with what is carried between them, gives what all at once give"

    def applies(self, subject: Subject) -> str:
        """Where the contract has a cache or an offset, and a result runs along their axis."""
        carried = subject.contract.carried
        if not carried:
            return "the contract has no cache"
        axis = carried[0].axis
        return "" if any(axis in r.dims for r in subject.contract.results) else f"no result has the axis {axis}"

    def check(self, case: Case) -> Violation | None:
        """Take the steps in two ways."""
        axis = case.contract.carried[0].axis
        n = case.size(axis)
        half = max(1, n // 2)
        for start in dict.fromkeys((half, 1)):
            pieces = ((0, start), *((i, i + 1) for i in range(start, n)))
            found = self._stepped(case, axis, pieces)
            if found is not None:
                return found
        return None

    def _stepped(self, case: Case, axis: str, pieces: Pieces) -> Violation | None:
        carried = _first(case.contract.carried)
        parts: list[dict[str, Any]] = []
        for first, last in pieces:
            carried.update({c.name: first for c in case.contract.carried if c.kind == "offset"})
            given, carried = case.subject.step(_cut(case, axis, first, last), carried)
            parts.append(given)
        for result, place in case.results(axis):
            whole = case.outputs[result.name]
            stepped = np.concatenate([p[result.name] for p in parts], axis=place)
            far = differs(whole, stepped, case.tolerance)
            if far:
                return self._told(case, axis, pieces, result.name, place, stepped, far)
        return None

    def _told(
        self, case: Case, axis: str, pieces: Pieces, name: str, place: int, stepped: Any, far: float
    ) -> Violation:
        whole, start = case.outputs[name], pieces[0][1]
        how = f"{start} of {axis} at once and the rest one by one" if start > 1 else f"{axis} one by one"
        if whole.shape != stepped.shape:
            return Violation(f"{how}, `{name}` is {stepped.shape}; all at once it is {whole.shape}", far)
        distance = np.moveaxis(gap(whole, stepped), place, 0).reshape(whole.shape[place], -1).max(axis=1)
        where = int(np.argmax(distance > far / 1000))
        says = f"{how}, `{name}` at position {where} differs by {distance[where]:.3g} from what all at once give"
        return Violation(says, far, asserts=_asserts(case, axis, pieces, name, place))


def _first(carried: tuple[Carried, ...]) -> dict[str, Any]:
    """What the first step is given: an empty dictionary to keep things in, or None where the cache is returned."""
    return {c.name: 0 if c.kind == "offset" else None if c.returned is not None else {} for c in carried}


def _cut(case: Case, axis: str, first: int, last: int) -> Inputs:
    cut = dict(case.inputs)
    for argument in case.contract.arguments:
        if axis in argument.dims:
            cut[argument.name] = np.take(cut[argument.name], range(first, last), axis=argument.dims.index(axis))
    return cut


def _asserts(case: Case, axis: str, pieces: Pieces, name: str, place: int) -> tuple[str, ...]:
    """The lines of a regression test that take the steps again; `fn` is the function."""
    carried = case.contract.carried
    lines = [f"{c.name} = {'None' if c.returned is not None else '{}'}" for c in carried if c.kind == "cache"]
    given = []
    for argument in case.contract.arguments:
        where = argument.dims.index(axis) if axis in argument.dims else None
        given.append(argument.name + (f"[{':, ' * where}first:last]" if where is not None else ""))
    for one in carried:
        given.insert(one.position, "first" if one.kind == "offset" else one.name)
    if case.subject.by_name:
        names = [a.name for a in case.contract.arguments]
        for one in carried:
            names.insert(one.position, one.name)
        given = [f"{n}={text}" for n, text in zip(names, given, strict=True)]
    order = [r.name for r in case.contract.results]
    for one in sorted(carried, key=lambda c: c.returned if c.returned is not None else -1):
        if one.returned is not None:
            order.insert(one.returned, one.name)
    lines += ["steps = []", f"for first, last in {pieces!r}:", f"    found = fn({', '.join(given)})"]
    lines.append(f"    steps.append(np.asarray(found{f'[{order.index(name)}]' if len(order) > 1 else ''}))")
    lines += [f"    {c.name} = found[{c.returned}]" for c in carried if c.returned is not None]
    return (*lines, f"np.testing.assert_allclose(np.concatenate(steps, axis={place}), {name}, {CLOSE})")
