"""What the weights and the logits depend on: ``queries-previous-state`` (the flip test) and ``inputs-matter``."""

from __future__ import annotations

import numpy as np

from shapedoc.grade.comparing import distance
from shapedoc.grade.draws import Array
from shapedoc.grade.properties.model import ModelProperty, Task
from shapedoc.grade.properties.property import Case, Fault, Heard, Setting

__all__ = ["InputsMatter", "QueriesPreviousState"]

_B, _T_ENC, _T_DEC = 2, 5, 6
# Rows that do not depend on what was changed are computed from the same numbers, and agree to the last bit.
_MOVED = 1e-7


def _first_moved(before: Array, after: Array) -> int | None:
    """The first decoding step at which two results (B, T_dec, …) differ."""
    steps = distance(before, after).max(axis=(0, 2))
    moved = np.flatnonzero(steps > _MOVED)
    return int(moved[0]) if moved.size else None


class QueriesPreviousState(ModelProperty):
    """Changing the token fed at step t moves the weights from step t + 1 on: the weights of step t ask with s_{t-1}."""

    name = "queries-previous-state"

    def cases(self, setting: Setting) -> list[Case]:
        """Two steps whose token is changed."""
        task = Task.of(setting)
        made = []
        for index, step in enumerate((1, 3)):
            source, target_in, lengths = self.drawn(setting, task, _B, _T_ENC, _T_DEC)
            flipped = target_in.copy()
            flipped[:, step] = 2 + (flipped[:, step] - 2 + 1) % (task.vocabulary - 2)
            name = f"{setting.item.id}/{index}"
            calls = (
                task.call(name, source, target_in, lengths),
                task.call(f"{name}/flipped", source, flipped, lengths),
            )
            made.append(self.case(name, task, calls, step=step))
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """The first row of weights that moves."""
        task, shape, step = Task.of(setting), (_B, _T_DEC, _T_ENC), int(str(case.facts["step"]))
        before = self.results(heard, case.main, task, shape)
        after = self.results(heard, f"{case.main}/flipped", task, shape)
        if isinstance(before, Fault) or isinstance(after, Fault):
            return before if isinstance(before, Fault) else after if isinstance(after, Fault) else None
        moved, logits = _first_moved(before[1], after[1]), _first_moved(before[0], after[0])
        values: dict[str, object] = {"step": step, "moved": moved, "next": step + 1}
        if logits is not None and logits < step:
            return Fault("sees_future", {**values, "moved": logits, "mistake": "sees-the-future"})
        if moved is None:
            later = distance(before[0], after[0])[:, step + 1 :]
            carried = later.size and float(later.max()) > _MOVED
            mistake = "weights-without-state" if carried else "state-not-carried"
            return Fault("order_none", {**values, "mistake": mistake})
        if moved == step:
            return Fault("order_new", {**values, "mistake": "queries-new-state"})
        if moved != step + 1:
            kind, mistake = ("sees_future", "sees-the-future") if moved < step else ("order_old", "queries-older-state")
            return Fault(kind, {**values, "mistake": mistake})
        return None


class InputsMatter(ModelProperty):
    """The logits depend on every source token, and on the tokens that were fed before."""

    name = "inputs-matter"

    def cases(self, setting: Setting) -> list[Case]:
        """Another first source token, another last one, another early target token."""
        task = Task.of(setting)
        made = []
        for index, what in enumerate(("source_first", "source_last", "target")):
            source, target_in, _ = self.drawn(setting, task, _B, _T_ENC, _T_DEC)
            source = np.where(source == 0, 2, source)
            lengths = np.full(_B, _T_ENC)
            other, fed = source.copy(), target_in.copy()
            changed, place = {"source_first": (other, 0), "source_last": (other, -1), "target": (fed, 1)}[what]
            changed[:, place] = 2 + (changed[:, place] - 2 + 1) % (task.vocabulary - 2)
            name = f"{setting.item.id}/{index}"
            calls = (task.call(name, source, target_in, lengths), task.call(f"{name}/other", other, fed, lengths))
            made.append(self.case(name, task, calls, what=what))
        return made

    def judge(self, setting: Setting, case: Case, heard: Heard) -> Fault | None:
        """Whether the logits of the last step moved."""
        task, shape, what = Task.of(setting), (_B, _T_DEC, _T_ENC), str(case.facts["what"])
        before = self.results(heard, case.main, task, shape)
        after = self.results(heard, f"{case.main}/other", task, shape)
        if isinstance(before, Fault) or isinstance(after, Fault):
            return before if isinstance(before, Fault) else after if isinstance(after, Fault) else None
        if float(distance(before[0][:, -1], after[0][:, -1]).max(initial=0.0)) > _MOVED:
            return None
        if what == "target":
            return Fault("target_ignored", {"mistake": "state-not-carried"})
        return Fault("source_ignored", {"place": "0" if what == "source_first" else "-1", "mistake": "source-ignored"})
