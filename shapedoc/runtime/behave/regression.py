"""A failure as a pytest module: the inputs written out, the call, and what must hold."""

from __future__ import annotations

import keyword
import re
from typing import Any

import numpy as np

from shapedoc.runtime.behave.case import Case, Violation
from shapedoc.runtime.behave.draw import Array, Inputs

__all__ = ["regression_test"]

_MOST_NUMBERS = 400


def regression_test(case: Case, violation: Violation, name: str, rule: str) -> str:
    """The text of a module with one test; nothing where the failure cannot be asserted or the inputs are too large.

    The function is imported from the module that it lives in; a bound method or a module object is left to a fixture
    called ``subject``.
    """
    inputs = violation.inputs or case.inputs
    if not violation.asserts or sum(a.size for a in inputs.values()) > _MOST_NUMBERS:
        return ""
    fn = case.subject.fn
    plain = getattr(fn, "__qualname__", "<").isidentifier() and getattr(fn, "__module__", None) is not None
    called = case.subject.name if plain else "subject"
    head = ["import numpy as np"]
    if case.subject.framework == "torch":
        head.append("import torch")
    if plain and fn.__module__ != "__main__":
        head += ["", f"from {fn.__module__} import {called}"]
    elif plain:
        head += ["", f"# {called} is defined in the program that was run: import it from there."]
    argument = "" if plain else "subject"
    lines = [
        f"def test_{_slug(case.subject.name)}_{_slug(name)}({argument}):",
        f'    """{rule[0].upper()}{rule[1:]}."""',
    ]
    results = [r.name for r in case.contract.results]
    lines += _call(case, inputs, called, results, "")
    if violation.changed is not None:
        lines += _call(case, violation.changed, called, results, "_after")
    lines += [f"    {line}" for line in _called(case, violation.asserts, called)]
    body = "\n".join(lines) + "\n"
    if not _fails_now(case, body, called, bool(argument)):
        return ""
    return "\n".join(head) + "\n\n\n" + body


def _called(case: Case, asserts: tuple[str, ...], called: str) -> list[str]:
    """The assertions; where they call the function again, `fn` by its name and without gradients."""
    lines = [re.sub(r"\bfn\(", f"{called}(", line) for line in asserts]
    if lines == list(asserts) or case.subject.framework != "torch":
        return lines
    *calls, last = lines
    return ["with torch.no_grad():", *(f"    {line}" for line in calls), last]


def _fails_now(case: Case, body: str, called: str, asked: bool) -> bool:
    """Whether the test fails as things are; the numbers are written with four digits, and a small gap may be lost."""
    scope: dict[str, Any] = {"np": np, called: case.subject.fn}
    if case.subject.framework == "torch":
        import torch

        scope["torch"] = torch
    exec(compile(body, "<regression test>", "exec"), scope)
    test = next(value for name, value in scope.items() if name.startswith("test_"))
    try:
        test(case.subject.fn) if asked else test()
    except AssertionError:
        return True
    except Exception:
        return False
    return False


def _call(case: Case, inputs: Inputs, called: str, results: list[str], suffix: str) -> list[str]:
    names = [a.name for a in case.contract.arguments]
    lines = [f"    {_safe(n)}{suffix} = {_literal(case, inputs[n])}" for n in names]
    given = {n: f"{_safe(n)}{suffix}" for n in names}
    ordered = list(given)
    for one in case.contract.carried:
        ordered.insert(one.position, one.name)
        given[one.name] = "0" if one.kind == "offset" else "None"
    arguments = ", ".join(f"{n}={given[n]}" if case.subject.by_name else given[n] for n in ordered)
    wrapped = f"{called}({arguments})"
    indent = "    "
    if case.subject.framework == "torch":
        lines.append("    with torch.no_grad():")
        indent = "        "
    if len(results) == 1:
        taken = f"{wrapped}[0]" if case.subject.returns_several else wrapped
        lines.append(f"{indent}{results[0]}{suffix} = np.asarray({taken})")
    else:
        left = ", ".join(f"{r}{suffix}" for r in results)
        lines.append(f"{indent}{left} = (np.asarray(each) for each in {wrapped}[:{len(results)}])")
    return lines


def _literal(case: Case, array: Array) -> str:
    if array.ndim == 0:
        return repr(array.item())
    if array.dtype.kind == "f":
        text = repr(np.round(array.astype(float), 4).tolist()).replace("inf", "np.inf")
        made = "torch.tensor" if case.subject.framework == "torch" else "np.array"
        kind = f"torch.{case.subject.dtype}" if made == "torch.tensor" else f"np.{case.subject.dtype}"
        return f"{made}({text}, dtype={kind})"
    made = "torch.tensor" if case.subject.framework == "torch" else "np.array"
    return f"{made}({array.tolist()!r})"


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) or name in ("np", "torch") else name


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)).strip("_").lower()
