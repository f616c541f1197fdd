"""What goes wrong on our side: it is retried, said, and never a submission's fault."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from shapedoc.grade.jail import client, landlock
from shapedoc.grade.jail.client import Jail, JailFault, NoSandbox
from shapedoc.grade.jail.visible import allowed_paths
from shapedoc.grade.jail.warm import reachable
from shapedoc.grade.plan import Call, Outcome, Plan

PLAN = Plan((Call("f", "f", (np.ones(2),)),))
SLOW = "import time\ndef f(x):\n    time.sleep(2)\n    return x\n"
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.full
def test_a_fork_server_that_dies_is_started_again(jail: Jail) -> None:
    outcomes: list[Outcome] = []
    before = jail.pid
    runs = [threading.Thread(target=lambda: outcomes.append(jail.run(SLOW, PLAN))) for _ in range(2)]
    for run in runs:
        run.start()
    time.sleep(1)
    os.kill(before, signal.SIGKILL)
    for run in runs:
        run.join()
    assert [outcome.status for outcome in outcomes] == ["done", "done"]
    assert jail.pid != before


def test_a_fork_server_that_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_ROOT", "/nowhere")
    with Jail() as broken, pytest.raises(JailFault, match=r"the fork server did not start: .*shapedoc"):
        broken.run(SLOW, PLAN)


def test_without_a_sandbox_nothing_runs_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    with pytest.raises(NoSandbox, match=r"this kernel has no Landlock .*; --allow-unsandboxed runs submissions"):
        Jail()
    with Jail(unsandboxed=True) as unconfined:
        assert not unconfined.sandboxed
        outcome = unconfined.run("import os\ndef f(x):\n    return os.getuid()\n", PLAN)
    (user,) = outcome.replies["f"].arrays
    # Root is given up all the same.
    assert user != 0


def test_a_sandbox_that_is_there_is_used_whatever_is_allowed() -> None:
    assert Jail(unsandboxed=True).sandboxed


def test_nothing_hidden_is_granted(tmp_path: Path) -> None:
    for name in ("a/open", "a/secret/file", "b/open"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a" / "link").symlink_to(tmp_path / "a" / "secret")
    given = landlock.grants([str(tmp_path)], [str(tmp_path / "a" / "secret")])
    assert given == [str(tmp_path / "a" / "open"), str(tmp_path / "b")]
    assert landlock.grants([str(tmp_path / "a" / "secret" / "file")], [str(tmp_path / "a")]) == []


def test_no_grant_holds_the_grader() -> None:
    granted = [Path(path) for path, _ in allowed_paths([])]
    assert any(path.name == "torch" for path in granted)
    assert not any(ROOT.is_relative_to(path) or path.is_relative_to(ROOT / "shapedoc") for path in granted)


def test_modes_say_who_reaches_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "python"
    folder.mkdir(mode=0o755)
    assert reachable(folder, os.getuid())
    folder.chmod(0o750)
    assert not reachable(folder, 48611)
