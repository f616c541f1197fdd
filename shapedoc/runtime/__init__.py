"""What runs: perturbation tests, the recorder, the counterfactual. Needs torch or NumPy, which the linter does not."""

from __future__ import annotations

__all__: list[str] = []
