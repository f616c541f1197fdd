"""What `@shapedoc.check` costs, beside the bare function and beside jaxtyping with beartype, in one run.

`python -m tests.benchmarks.overhead` measures; `--smoke` only runs everything once. Times are of the thread's CPU, in
short batches that take turns, so that whatever else the machine does meets all of them alike; of each the least is
taken. What jaxtyping costs says how fast the machine is: 64 us where the goals were set.
"""

import functools
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch
from beartype import beartype
from jaxtyping import Float, jaxtyped
from torch import Tensor, nn

import shapedoc

SIZES = {"tiny": (2, 3, 5, 4, 6), "real": (64, 50, 512, 512, 512)}


def bare(s_prev: Any, h: Any, w_a: Any, u_a: Any, v_a: Any) -> Any:
    scores = torch.tanh(s_prev @ w_a + h @ u_a) @ v_a
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1), weights


def annotated(
    s_prev: Float[Tensor, "B 1 d_s"],
    h: Float[Tensor, "B T d_h"],
    w_a: Float[Tensor, "d_s d_attn"],
    u_a: Float[Tensor, "d_h d_attn"],
    v_a: Float[Tensor, "d_attn"],
) -> tuple[Float[Tensor, "B d_h"], Float[Tensor, "B T"]]:
    scores = torch.tanh(s_prev @ w_a + h @ u_a) @ v_a
    weights = torch.softmax(scores, dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1), weights


def data(batch: int, steps: int, d_s: int, d_h: int, d_attn: int) -> tuple[Tensor, ...]:
    shapes = [(batch, 1, d_s), (batch, steps, d_h), (d_s, d_attn), (d_h, d_attn), (d_attn,)]
    return tuple(torch.randn(shape) for shape in shapes)


class Attention(nn.Module):
    """Twelve operations."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))

    def forward(self, x: Float[Tensor, "B T d_model"]) -> Float[Tensor, "B T d_model"]:
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        scores = (q @ k.transpose(-2, -1)) / x.shape[-1] ** 0.5
        hidden = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
        out: Tensor = weights @ v + x
        return out


# What jaxtyping costs beside the bare function of tiny sizes, on the machine where the goals were set.
REFERENCE_US = 64


def timed(calls: Mapping[str, Callable[[], Any]], rounds: int, batch_s: float) -> dict[str, float]:
    """Microseconds for each call: the least of many batches, which take turns."""
    best = dict.fromkeys(calls, float("inf"))
    counts = {}
    for name, call in calls.items():
        for _ in range(5):
            call()
        counts[name] = max(1, int(batch_s * 1e6 / max(min(_once(call) for _ in range(20)), 1)))
    for _ in range(rounds):
        for name, call in calls.items():
            count = counts[name]
            start = time.thread_time_ns()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.thread_time_ns() - start) / count / 1e3)
    return best


def steady_state(rounds: int, batch_s: float) -> None:
    checked, peer = shapedoc.check(annotated), jaxtyped(annotated, typechecker=beartype)
    for name, sizes in SIZES.items():
        given = data(*sizes)
        calls = {
            "bare": functools.partial(bare, *given),
            "check": functools.partial(checked, *given),
            "jaxtyping": functools.partial(peer, *given),
        }
        best = timed(calls, rounds if name == "tiny" else max(rounds // 40, 1), batch_s)
        for call, cost in best.items():
            extra = cost - best["bare"]
            print(f"{name:5} {call:10} {cost:10.2f} us  {cost / best['bare']:5.2f} x bare  {extra:+8.2f} us")
        if name == "tiny":
            slower = (best["jaxtyping"] - best["bare"]) / REFERENCE_US
            scaled = (best["check"] - best["bare"]) / slower
            print(f"this machine takes {slower:.2f} times what the reference takes; check, scaled: {scaled:+.2f} us")


def first_call(rounds: int, folder: Path) -> None:
    """The first call of a signature, against one call under jaxtyping in its steady state, interleaved.

    Of the process: nothing has been seen, and what the tool consists of is loaded. Of a class: it has just been
    decorated, in a file of its own; jaxtyping's first call of such a class stands beside it. Unstated: the same
    without annotations. Branching: with a branch besides, so that it is recorded, whatever it states. Of a module:
    another one of the same layers. Of a signature: other numbers.
    Of an agreement: sizes are equal by chance. Of a one: a size is 1 that was none before.
    """
    x = torch.randn(2, 5, 12)
    typed = jaxtyped(inspect.unwrap(Attention.forward), typechecker=beartype)
    checked = shapedoc.check(Attention)
    models = [checked(12) for _ in range(9)]
    peer = _once(lambda: typed(models[0], x)), _once(lambda: models[0](x))
    times: dict[str, list[float]] = {"the process": [peer[1]]}
    modules = [_once(lambda m=model: m(x)) for model in models[1:]]  # type: ignore[misc]
    fresh = list(_fresh_classes(folder, max(rounds // 4, 3)))
    decorating = [_once(lambda c=cls: jaxtyped(c.forward, typechecker=beartype)) for cls in fresh]  # type: ignore[misc]
    theirs = [(jaxtyped(cls.forward, typechecker=beartype), cls(12)) for cls in fresh]
    firsts = [_once(lambda c=call, m=model: c(m, x)) for call, model in theirs]  # type: ignore[misc]
    decorating_ours = [_once(lambda c=cls: shapedoc.check(c)) for cls in fresh]  # type: ignore[misc]
    ours = [cls(12) for cls in fresh]
    times["a class"] = [_once(lambda m=model: m(x)) for model in ours]  # type: ignore[misc]
    for kind in ("unstated", "branching"):
        plain = [shapedoc.check(cls)(12) for cls in _fresh_classes(folder, len(fresh), kind)]
        times[kind] = [_once(lambda m=model: m(x)) for model in plain]  # type: ignore[misc]
    times["a module"] = modules
    alike = {"a one": ((1, 5, 12), (2, 1, 12)), "an agreement": ((2, 12, 12), (7, 7, 12), (12, 5, 12))}
    for kind, shapes in alike.items():
        given_all = [(model, torch.randn(shape)) for model in ours[:3] for shape in shapes]
        times[kind] = [_once(lambda m=model, g=given: m(g)) for model, given in given_all]  # type: ignore[misc]
    peers: list[float] = []
    times["a signature"] = []
    for steps in range(20, 20 + max(rounds, 8)):
        given = torch.randn(2, steps, 12)
        peers.extend(_once(lambda g=given: typed(models[0], g)) for _ in range(3))  # type: ignore[misc]
        times["a signature"].append(_once(lambda g=given: models[0](g)))  # type: ignore[misc]
    one = median(peers)
    print(
        f"one jaxtyped call {one:.0f} us; its first of the process {peer[0]:.0f} us, of a class {median(firsts):.0f} us"
    )
    print(f"decorating a class, ours {median(decorating_ours):.0f} us, theirs {median(decorating):.0f} us")
    for what, every in times.items():
        cost = median(every)
        print(f"first call of {what:12} {cost:8.0f} us  {cost / one:6.1f} x one jaxtyped call")


def _fresh_classes(folder: Path, count: int, kind: str = "stated") -> Iterator[type[Attention]]:
    """Copies of the module, each in a file of its own: as it is, without its annotations, or with a branch too."""
    head = "import torch\nfrom jaxtyping import Float\nfrom torch import Tensor, nn\n\n\n"
    text = head + inspect.getsource(Attention)
    if kind != "stated":
        text = text.replace('Float[Tensor, "B T d_model"]', "Tensor")
    if kind == "branching":
        text = text.replace("weights @ v + x", "weights @ v + x if x.shape[0] > 1 else x")
    for i in range(count):
        path = folder / f"{kind}_{i}.py"
        path.write_text(text)
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[path.stem] = module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module.Attention


def _once(call: Callable[[], Any]) -> float:
    start = time.thread_time_ns()
    call()
    return (time.thread_time_ns() - start) / 1e3


def memory(calls: int) -> None:
    """Memory over many calls with a thousand signatures, the first calls of each recorded or followed."""
    import gc
    import resource
    import tracemalloc

    checked = shapedoc.check(annotated)
    shapes = [data(2, steps, 5, 4, 6) for steps in range(1, 1001)]
    for given in shapes * 2:
        checked(*given)
    gc.collect()
    tracemalloc.start()
    before, peak = tracemalloc.get_traced_memory()[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(calls):
        checked(*shapes[i % len(shapes)])
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    risen = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    print(f"memory after {calls} calls of 1,000 signatures: {grown / 1024:+.0f} KiB, peak of the process {risen:+} KiB")


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    warnings.simplefilter("ignore")
    smoke = "--smoke" in sys.argv
    steady_state(1 if smoke else 1500, 0.0 if smoke else 0.001)
    with TemporaryDirectory() as folder:
        first_call(8 if smoke else 40, Path(folder))
    memory(1_000 if smoke else 100_000)


if __name__ == "__main__":
    main()
