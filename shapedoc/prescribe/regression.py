"""The regression test of a finding: a complete pytest module in the user's names, right by construction.

A fault that raises is tested by running the file's own example. A silent one is tested by the value that the faulty
line makes there: whoever mends it, in whatever way, makes the same numbers as the fix that was proved. The test
imports the user's file and needs nothing but pytest and the library that the file uses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from shapedoc.core.finding import Finding
from shapedoc.core.sizes import Kind
from shapedoc.core.trace import Problem, Trace
from shapedoc.prescribe.bench import Bench
from shapedoc.prescribe.choose import Prescribed
from shapedoc.prescribe.composing import Composer
from shapedoc.prescribe.statements import Made, changed
from shapedoc.prescribe.syntax import Syntax

__all__ = ["call_test", "regression_test", "value_test"]

# Faults that an ordinary example does not show: both ways make one value unless a size happens to be 1.
_RARE = frozenset(("SD206",))
_RANDOM = ("dropout", "Dropout", "rand", "multinomial", "bernoulli", "normal_", "gumbel")

_HEAD = '''\
"""{title}

Written by shapedoc for {code} {name} on line {line} of {file}.
"""

import runpy
{imports}

{found}


def example():
    """Run {file} as a program."""
    return runpy.run_path(FILE, run_name="__main__")
'''

_CALL = '''\
"""{title}

Written by shapedoc for {code} {name} on line {line} of {file}.
"""

{library}{more}

from {module} import {subject}


def test_{test}():
    """{claim}"""
{body}
'''

_RUNS = '''

def test_{test}_runs():
    """{claim}"""
    example()
'''

_HELPERS = '''

def places(name, nth, function):
    """The lines of the nth statement that makes `name` ("return": that returns) in a function of the file."""
    body = ast.parse(Path(FILE).read_text(encoding="utf-8"))
    for part in [] if function == "<module>" else function.split("."):
        body = next(n for n in ast.walk(body) if getattr(n, "name", "") == part)
    found = []
    stack = list(body.body)
    while stack:
        node = stack.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.Return) and name == "return":
            found.append(node)
        elif isinstance(node, ast.Assign):
            targets = [e for t in node.targets for e in getattr(t, "elts", [t])]
            if name in [ast.unparse(t) for t in targets]:
                found.append(node)
        stack = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)] + stack
    return range(found[nth].lineno, found[nth].end_lineno + 1)


def copied(value):
    """A value as it is now: what is changed later in place is kept apart."""
    if isinstance(value, (tuple, list)):
        return [copied(part) for part in value]
    if hasattr(value, "detach"):
        return value.detach().clone()
    return value.copy() if hasattr(value, "copy") else value


def values(name, nth, function, expression, part=None):
    """Every value that the nth statement makes of `name` in the example, each with what `expression` says of it."""
    lines = places(name, nth, function)
    found = []

    def watch(frame, event, argument):
        code = frame.f_code
        if code.co_filename != FILE or getattr(code, "co_qualname", code.co_name) != function:
            return None
        before = []

        def step(frame, event, argument):
            if event == "line" and frame.f_lineno in lines:
                if not before:
                    right = eval(expression, {**frame.f_globals, **frame.f_locals})
                    before[:] = [copied(right if part is None else right[part])]
            elif before and (event == "line" or event == "return"):
                value = argument if name == "return" else frame.f_locals.get(name)
                if name.startswith("self."):
                    value = getattr(frame.f_locals["self"], name.partition(".")[2])
                if event == "line" or name != "return" or argument is not None:
                    found.append((copied(value), before[0]))
                before.clear()
            return step

        return step(frame, event, argument) and step

    sys.settrace(watch)
    try:
        example()
    finally:
        sys.settrace(None)
    return found


def same(one, other):
    """Whether two results have one shape and, but for rounding, the same numbers."""
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "detach"):
        one, other = one.detach(), other.detach()
        return one.shape == other.shape and bool(
            torch.allclose(one.double(), other.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
        )
    if hasattr(one, "shape"):
        return one.shape == other.shape and np.allclose(one, other, rtol=1e-5, atol=1e-8, equal_nan=True)
    if isinstance(one, float):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one))
    return one is other or one == other
'''

_VALUE = '''

def test_{test}():
    """{claim}"""
    seen = values("{variable}", {nth}, "{function}", {expression}{part})
    assert seen, "the example does not come to `{variable}` in {function}"
    for {value}, expected in seen:
        assert same({value}, expected)
'''


def regression_test(bench: Bench, answer: Prescribed) -> str | None:
    """A module with one test, or None where none can be written that is sure to tell the two apart."""
    finding = answer.finding
    module = Path(bench.path).stem
    if not module.isidentifier() or not _has_example(bench):
        return None
    if _raises(bench, finding):
        return _head(bench, finding, []) + _RUNS.format(test=_slug(finding), claim=_claim(answer))
    if answer.fix is None or finding.code in _RARE:
        return None
    made = _compared(bench, answer)
    if not made or not any(_reached(answer.fix.after.trace, one) for one in made):
        return None
    body = "".join(_value_test(bench, answer, one, index) for index, one in enumerate(made))
    return _head(bench, finding, ["ast", "sys"]) + _HELPERS + body


def call_test(bench: Bench, answer: Prescribed, composer: Composer) -> str:
    """A module with one test that calls the user's class or function and looks at what it returns."""
    finding, module = answer.finding, Path(bench.path).stem
    quiet = composer.library == "torch"
    lines = [*composer.setup(), *(["with torch.no_grad():"] if quiet else [])]
    lines += [f"    {line}" if quiet else line for line in composer.asserts()]
    return _CALL.format(
        title=_sentence(finding.message),
        code=finding.code,
        name=finding.name,
        line=finding.span.line,
        file=Path(bench.path).name,
        library="import torch" if quiet else "import numpy as np",
        more="\nfrom torch import nn" if "nn." in " ".join(composer.setup()) else "",
        module=module,
        subject=", ".join(_imported(bench, composer)),
        test=_slug(finding),
        claim=_sentence(composer.claim) + ".",
        body="\n".join(f"    {line}" for line in lines),
    )


def _imported(bench: Bench, composer: Composer) -> list[str]:
    """The classes and functions of the file that the test's set-up names."""
    text = " ".join(composer.setup()) + " " + composer.called()
    names = [c.name.value for c in bench.syntax.classes()] + [f.name.value for f in bench.syntax.functions()]
    used = {name for name in names if re.search(rf"(?<![\w.]){name}\(", text)}
    return sorted({composer.subject, *used})


def value_test(bench: Bench, answer: Prescribed, composer: Composer) -> str | None:
    """A test of the value that the faulty statement makes where the user's class or function is called."""
    made = _compared(bench, answer)
    if not made:
        return None
    finding = answer.finding
    body = "".join(_value_test(bench, answer, one, index) for index, one in enumerate(made))
    setup = [*composer.setup(), composer.called()]
    if composer.library == "torch":
        setup[-1] = f"with torch.no_grad():\n        {setup[-1]}"
    example = "\n".join(f"    {line}" for line in setup)
    module = Path(bench.path).stem
    head = _head(bench, finding, ["ast", "sys"]).partition("def example():")[0]
    found = f"import {module}\nfrom {module} import {', '.join(_imported(bench, composer))}\n\nFILE = {module}.__file__"
    head = re.sub(r"import runpy\n", "", head)
    head = head.replace(f'FILE = find_spec("{module}").origin', found).replace(
        f"import {module}\n\nFILE = {module}.__file__", found
    )
    head = head.replace("from importlib.util import find_spec\n", "")
    if "nn." in example:
        head = head.replace("import torch\n", "import torch\nfrom torch import nn\n", 1)
    told = f"Call {composer.subject} with sizes that differ where the code lets them."
    quoted = f'def example():\n    """{told}"""\n{example}\n'
    return head + quoted + _HELPERS + body


def _compared(bench: Bench, answer: Prescribed) -> list[Made]:
    """The statements that a fix changes, where what they make can be compared with what the fix makes."""
    if answer.fix is None:
        return []
    made = changed(bench.syntax, Syntax.of(answer.fix.text), answer.fix.candidate.edits)
    if any(word in one.expression for one in made for word in _RANDOM) or _draws(bench.text, made):
        return []
    return made


def _draws(text: str, made: Sequence[Made]) -> bool:
    """Whether a value may be another one each time that it is worked out, or is a module, which equals none."""
    modules = re.search(r"[Dd]ropout|nn\.Transformer", text)
    return any(
        "_(" in one.expression
        or re.match(r"(\w+\.)*[A-Z]\w*\(", one.expression)
        or (modules and "self." in one.expression)
        for one in made
    )


def _value_test(bench: Bench, answer: Prescribed, made: Made, index: int) -> str:
    finding = answer.finding
    value = made.name.partition(".")[2] or made.name
    slots = {
        "test": _slug(finding) + (f"_{value}" if made.name != "return" else "") + (f"_{index}" if index else ""),
        "claim": _claim(answer),
        "variable": made.name,
        "nth": made.nth,
        "function": made.function,
        "value": "result" if value == "return" else value,
    }
    return _VALUE.format(**slots, expression=_quoted(made.expression), part=f", {made.part}" if made.part >= 0 else "")


def _quoted(text: str) -> str:
    return repr(text) if '"' in text else f'"{text}"'


def _head(bench: Bench, finding: Finding, more: Sequence[str]) -> str:
    module = Path(bench.path).stem
    guarded = _guarded(bench)
    imports = [f"import {name}" for name in more]
    if not guarded:
        imports.append("from importlib.util import find_spec")
    found = f"import {module}\n\nFILE = {module}.__file__" if guarded else f'FILE = find_spec("{module}").origin'
    if more:
        imports.append("from pathlib import Path")
        imports += ["", *(f"import {name}" for name in _libraries(bench.text))]
    text = _HEAD.format(
        title=_sentence(finding.message),
        code=finding.code,
        name=finding.name,
        line=finding.span.line,
        file=Path(bench.path).name,
        imports="\n".join(imports),
        found=found,
    )
    return re.sub(r"\n{4,}", "\n\n\n", text.replace("import runpy\n\n\n", "import runpy\n\n"))


def _libraries(text: str) -> list[str]:
    found = []
    if re.search(r"^\s*(?:import|from) (?:numpy|torch)", text, re.MULTILINE):
        if "numpy" in text:
            found.append("numpy as np")
        if re.search(r"^\s*(?:import|from) torch", text, re.MULTILINE):
            found.append("torch")
    return found


def _sentence(text: str) -> str:
    text = text.replace("\\", "").replace('"""', "'''")
    text = text[:1].upper() + text[1:]
    return text if len(text) <= 110 else text[:107] + "..."


def _claim(answer: Prescribed) -> str:
    step = answer.fix.candidate.description if answer.fix is not None else answer.finding.help
    return _sentence(step or answer.finding.message).rstrip('"') + "."


def _slug(finding: Finding) -> str:
    """The name of a test: the function's or, for what a class does when it is called, the class's."""
    parts = [part for part in finding.function.split(".") if part not in ("forward", "__call__", "<locals>")]
    words = re.findall(
        r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", " ".join(parts).replace("__init__", "built") or "example"
    )
    return "_".join(word.lower() for word in words)


# -- what can be tested


def _has_example(bench: Bench) -> bool:
    """Whether the file works with tensors when it is run as a program."""
    return any(name == "" and stop > start for name, start, stop, _ in bench.trace.entries)


def _guarded(bench: Bench) -> bool:
    """Whether the file can be imported without its example being run."""
    return '__name__ == "__main__"' in bench.text or "__name__ == '__main__'" in bench.text


def _raises(bench: Bench, finding: Finding) -> bool:
    """Whether the file's own example stops with an error at what the finding is about."""
    places = {finding.span.line, *(label.span.line for label in finding.labels if not label.span.path)}
    for start, stop in ((start, stop) for name, start, stop, _ in bench.trace.entries if name == ""):
        for event in bench.trace.events[start:stop]:
            if event.span.line in places and any(p.loud and _sure(p) for p in event.problems):
                return True
    return False


def _sure(problem: Problem) -> bool:
    """Whether a problem is there with the very numbers of the example."""
    return problem.sameness is None or problem.sameness.kind is Kind.NEVER


def _reached(trace: Trace, made: Made) -> bool:
    """Whether the file's own example comes to a statement, as far as the analysis can see.

    It does where an operation on that line was seen, or any in the same function where the statement is not nested.
    """
    for name, start, stop, _ in trace.entries:
        for event in trace.events[start:stop] if name == "" else ():
            lines = {event.span.line, *(call.span.line for call in event.calls)}
            inside = {event.function, *(call.function for call in event.calls)}
            if made.line in lines or (made.always and made.function in inside):
                return True
    return False
