"""``shapedoc shapes``, ``explain`` and ``rules``, as processes."""

from __future__ import annotations

import json

from tests.cli.project import Project

ATTENTION = """\
import torch
import torch.nn.functional as F


def attend(query, key):
    batch, T_dec, d = query.shape
    batch, T_enc, d = key.shape
    scores = query @ key.transpose(-2, -1)
    weights = F.softmax(scores, dim=-1)
    return weights @ key


context = attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))
"""

SHOWN = """\
 1 | import torch
 2 | import torch.nn.functional as F
 3 |
 4 |
 5 | def attend(query, key):                                       query (batch, T_dec, d), key (batch, T_enc, d)
 6 |     batch, T_dec, d = query.shape
 7 |     batch, T_enc, d = key.shape
 8 |     scores = query @ key.transpose(-2, -1)                    scores (batch, T_dec, T_enc) | (2, 3, 5)
 9 |     weights = F.softmax(scores, dim=-1)                       weights (batch, T_dec, T_enc) | (2, 3, 5)
10 |     return weights @ key                                      (batch, T_dec, d) | (2, 3, 7)
11 |
12 |
13 | context = attend(torch.randn(2, 3, 7), torch.randn(2, 5, 7))  context (2, 3, 7)
"""


def test_every_shape_stands_beside_its_line(project: Project) -> None:
    project.write("attention.py", ATTENTION)
    ran = project.run("shapes", "attention.py")
    assert ran.returncode == 0
    assert ran.stdout == SHOWN


def test_what_was_lost_is_listed_with_its_reason(project: Project) -> None:
    project.write("attention.py", "import torch\n\nx = torch.randn(3, 4)\ny = torch.vander(x)\n")
    ran = project.run("shapes", "--unknown", "attention.py")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "attention.py:4:5: torch.vander: no op for torch.vander\nno op for torch.vander: 1 time\n"


def test_a_file_through_standard_input(project: Project) -> None:
    ran = project.run("shapes", "-", stdin="import torch\nx = torch.zeros(3, 4)\n")
    assert ran.stdout == "1 | import torch\n2 | x = torch.zeros(3, 4)  x (3, 4)\n"


def test_a_rule_is_explained_by_code_and_by_name(project: Project) -> None:
    by_code = project.run("explain", "sd101")
    assert by_code.returncode == 0
    assert by_code.stdout.startswith("# SD101: mismatched-product\n")
    for title in ("What it does", "Why is this bad?", "Example", "Use instead", "Fix safety", "Source"):
        assert f"\n## {title}\n" in by_code.stdout
    assert project.run("explain", "mismatched-product").stdout == by_code.stdout


def test_all_rules_are_listed(project: Project) -> None:
    listed = json.loads(project.run("rules", "--output-format", "json").stdout)
    assert {"code", "name", "severity", "summary"} == set(listed[0])
    codes = [rule["code"] for rule in listed]
    assert codes == sorted(codes)
    text = project.run("rules").stdout.splitlines()
    assert [line.split()[0] for line in text] == codes
