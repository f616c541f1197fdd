"""Run with otter's own Python: let otter read a table of ours, and write one of the same marks itself.

peer_otter.py TABLE.csv MARKS.json OUT.csv; MARKS.json is a list of {file, score, possible, questions: {id: [score,
possible]}}. Prints what otter reads of TABLE.csv.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from otter.grade import utils


class Marks:
    """What otter asks of one notebook's results; the numbers are given."""

    catastrophic_error = None

    def __init__(self, given: dict[str, Any]) -> None:
        self.file, self.total, self.possible = given["file"], given["score"], given["possible"]
        self.percent = self.total / self.possible
        self._questions = given["questions"]

    def to_dict(self) -> dict[str, dict[str, float]]:
        return {name: {"score": score, "possible": most} for name, (score, most) in self._questions.items()}

    def has_catastrophic_failure(self) -> bool:
        return False


def main(table: str, marks: str, out: str) -> None:
    read = pd.read_csv(table)
    possible = read[read[utils.SCORES_DICT_FILE_KEY] == utils.POINTS_POSSIBLE_LABEL]
    rest = read[read[utils.SCORES_DICT_FILE_KEY] != utils.POINTS_POSSIBLE_LABEL]
    merged = utils.merge_csv([possible, rest])
    given = json.loads(Path(marks).read_text(encoding="utf-8"))
    utils.merge_scores_to_df([Marks(one) for one in given]).to_csv(out, index=False)
    print(json.dumps({"columns": list(read.columns), "same": bool(merged.equals(read)), "rows": len(merged)}))


main(*sys.argv[1:])
