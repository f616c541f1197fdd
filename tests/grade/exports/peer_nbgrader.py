"""Run with nbgrader's own Python: put marks into a gradebook, and let nbgrader export them.

peer_nbgrader.py MARKS.json OUT.csv; MARKS.json is {assignment, possible, students: [{id, last_name, first_name, email,
score}]}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins.export import CsvExportPlugin


def main(marks: str, out: str) -> None:
    given = json.loads(Path(marks).read_text(encoding="utf-8"))
    name = given["assignment"]
    with Gradebook(f"sqlite:///{Path(out).with_suffix('.db')}") as gradebook:
        gradebook.add_assignment(name)
        gradebook.add_notebook("notebook", name)
        gradebook.add_grade_cell("cell", "notebook", name, max_score=given["possible"], cell_type="code")
        for student in given["students"]:
            who = {key: student[key] for key in ("last_name", "first_name", "email")}
            gradebook.add_student(student["id"], **who)
            gradebook.add_submission(name, student["id"])
            grade = gradebook.find_grade("cell", "notebook", name, student["id"])
            grade.auto_score = student["score"]
        gradebook.db.commit()
        plugin = CsvExportPlugin()
        plugin.to = out
        plugin.export(gradebook)


main(*sys.argv[1:])
