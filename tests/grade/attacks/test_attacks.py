"""Hostile submissions: none earns what it does not deserve, harms another, or leaves anything behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from shapedoc.grade.jail.client import sandbox_problem
from tests.grade.attacks.lab import ROOT, Attack, attacks

ATTACKS = attacks()
# A user that nobody is: files and processes of it can only come from these tests.
_USER = "48611"


def _as_root() -> list[str]:
    return []


def _as_user() -> list[str]:
    """An ordinary user, who may read where Python and these files lie, if need be."""
    if os.getuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    assert setpriv is not None, "setpriv (of util-linux) starts the tests as an ordinary user"
    readable = "+dac_read_search"
    return [setpriv, f"--reuid={_USER}", f"--regid={_USER}", "--clear-groups", f"--inh-caps={readable}",
            f"--ambient-caps={readable}"]  # fmt: skip


def _run(chosen: Sequence[Attack], prefix: list[str], *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.grade.attacks.lab", *options, *(attack.name for attack in chosen)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _check(chosen: Sequence[Attack], told: dict[str, Any]) -> int:
    """All that must hold; returns how many attacks earned what they deserve and ended as they should."""
    wrong = {}
    for attack in chosen:
        got = told["attacks"][attack.name]
        if got["marks"] != attack.marks or got["ended"] not in attack.ends or got["printed"]:
            wrong[attack.name] = got
    assert not wrong
    assert told["traces"] == []
    assert set(told["honest"]) == {1.0}
    return len(chosen) - len(wrong)


def _skip_without_sandbox() -> None:
    problem = sandbox_problem()
    if problem is not None:
        print(f"SKIPPED: attacks: {problem}")
        pytest.skip(problem)


def test_there_are_enough_and_each_says_what_it_tries() -> None:
    assert len(ATTACKS) >= 60
    assert len({attack.tries for attack in ATTACKS}) >= 60


def test_a_quarter_of_the_attacks() -> None:
    _skip_without_sandbox()
    chosen = ATTACKS[::4]
    _check(chosen, _run(chosen, _as_root()))


@pytest.mark.full
@pytest.mark.parametrize("prefix", [_as_root, _as_user])
def test_all_attacks(prefix: Any, record_property: Any) -> None:
    _skip_without_sandbox()
    if prefix is _as_root and os.getuid() != 0:
        print("SKIPPED: attacks as root: these tests do not run as root")
        pytest.skip("needs root")
    told = _run(ATTACKS, prefix(), "--marked")
    assert (told["user"] == 0) == (prefix is _as_root)
    held = _check(ATTACKS, told)
    # Time may cut a right one short; nothing pays a wrong one.
    paid = {each.name: told["marked"][each.name] for each in ATTACKS if told["marked"][each.name] > each.marks}
    assert paid == {}
    assert told["marked"]["honest"] == 1.0
    who = "root" if told["user"] == 0 else "an ordinary user"
    record_property("measured", f"attacks as {who}: {held} of {len(ATTACKS)} earn, harm and leave nothing undue")
