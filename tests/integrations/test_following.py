"""New signatures of a checked function: which calls are recorded, which are only followed, and what is told then."""

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo.testing
from torch import Tensor, nn

import shapedoc
from shapedoc.integrations import watched
from shapedoc.runtime.patterns import Pattern, Seen, pattern_of


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """A finding is told once in a process: each test starts anew."""
    watched._told.clear()
    yield
    watched._told.clear()


def recordings(function: Any) -> int:
    state = function.__dict__["__shapedoc__"].watch
    assert isinstance(state, watched.Watch)
    return state.recordings


def test_other_numbers_are_followed_and_what_agreed_and_does_not_is_recorded() -> None:
    @shapedoc.check
    def attend(q: Tensor, k: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(1, 2), dim=-1) @ k

    def call(batch: int, steps: int, keys: int, width: int) -> int:
        attend(torch.randn(batch, steps, width), torch.randn(batch, keys, width))
        return recordings(attend)

    assert call(2, 5, 5, 7) == 1, "as many queries as keys"
    assert call(8, 6, 6, 2) == 1, "the same operations, and no two sizes differ that did not"
    assert call(2, 3, 5, 7) == 2, "fewer keys: what was right by chance may be wrong"
    assert call(4, 6, 9, 11) == 2
    assert call(4, 9, 6, 4) == 2, "two sizes agree by chance, in what went right with sizes that differ"
    assert call(1, 3, 5, 7) == 3, "a batch of one"
    assert call(1, 4, 4, 9) == 3
    assert call(1, 1, 3, 9) == 4, "a step of one"


def test_a_fault_that_a_chance_agreement_hides_is_told_in_the_first_call_that_shows_it() -> None:
    @shapedoc.check
    def blend(x: Tensor, weights: Tensor) -> Tensor:
        # x: (B, T, d), weights: (B, T)
        return x * weights.unsqueeze(1)

    with pytest.warns(shapedoc.ShapeWarning, match="`T`"):
        blend(torch.randn(2, 5, 5), torch.rand(2, 5))


def test_a_pattern_covers_those_where_its_sizes_agree_and_more_do() -> None:
    def sizes(*shape: int, count: int = 100) -> Pattern:
        return pattern_of([torch.empty(shape), count])

    apart = sizes(2, 3, 4)
    assert apart.covers(sizes(5, 6, 7))
    assert apart.covers(sizes(5, 5, 7))
    assert not sizes(5, 5, 7).covers(apart)
    assert not apart.covers(sizes(1, 3, 4))
    assert not sizes(1, 3, 4).covers(apart)
    assert apart.covers(sizes(100, 3, 4)), "a number of the program's own that a size is equal to by chance"
    assert not sizes(100, 3, 4).covers(apart), "and here it may be that size"
    seen = Seen()
    for pattern in (sizes(2, 2, 3), sizes(4, 4, 4), sizes(2, 3, 4), sizes(3, 2, 2)):
        seen.add(pattern)
    assert len(seen) == 2, "those that are covered are left out"


def test_a_batch_of_one_is_recorded_when_it_first_comes() -> None:
    @shapedoc.check
    def mean(x: Tensor) -> Tensor:
        return x.mean(dim=1)

    for batch in (2, 3, 1, 1):
        mean(torch.randn(batch, 4, 5))
    assert recordings(mean) == 2


def test_modules_of_the_same_layers_are_recorded_once() -> None:
    @shapedoc.check
    class Block(nn.Module):
        def __init__(self, width: int, hidden: int, *, scale: float = 1.0) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(width, hidden), nn.Linear(hidden, width)
            self.scale = scale

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = x + self.second(torch.relu(self.first(x))) * self.scale
            return out

    def call(block: nn.Module, width: int) -> int:
        block(torch.randn(2, 3, width))
        return recordings(Block.forward)

    assert [call(Block(8, 5), 8) for _ in range(4)] == [1, 1, 1, 1]
    assert call(Block(8, 5, scale=2.0), 8) == 2, "another setting may lead another way"
    assert call(Block(8, 3), 8) == 2, "as many hidden features as steps, which may well be"
    assert call(Block(7, 9), 7) == 2, "layers of other widths"
    assert call(Block(8, 1), 8) == 3, "one hidden feature"
    assert call(Block(8, 5).eval(), 8) == 4


def test_a_call_that_goes_a_way_of_its_own_has_the_next_one_recorded() -> None:
    @shapedoc.check
    def attend(q: Tensor, k: Tensor, flags: list[bool]) -> Tensor:
        # q: (B, T_dec, d), k: (B, T_enc, d)
        scores = q @ k.transpose(1, 2)
        if float(q[0, 0, 0]) > 0:
            return torch.softmax(scores, dim=int(q.max() > 0)) @ k
        return torch.softmax(scores, dim=2) @ k

    def call(sign: float, steps: int) -> None:
        attend(torch.full((2, steps, 4), sign), torch.randn(2, 5, 4), [])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(-1.0, 3)
        call(-1.0, 6)
        call(+1.0, 7)
    with pytest.warns(shapedoc.ShapeWarning, match="softmax over `T_dec`"):
        call(+1.0, 8)


def test_an_error_in_a_followed_call_is_explained_with_what_was_computed_on_the_way() -> None:
    @shapedoc.check
    def product(q: Tensor, k: Tensor, w: Tensor) -> Tensor:
        return torch.tanh(q @ w + 1) @ k.transpose(0, 1)

    product(torch.randn(2, 3), torch.randn(5, 4), torch.randn(3, 4))
    state = product.__dict__["__shapedoc__"].watch
    with pytest.raises(RuntimeError) as raised:
        _as_known(state, product, torch.randn(2, 3), torch.randn(5, 7), torch.randn(3, 4))
    (note,) = raised.value.__notes__
    assert "torch.tanh(q @ w + 1)" in note
    assert "(2, 4)" in note
    assert "(7, 5)" in note


def test_a_layer_that_refuses_its_input_is_named_in_a_followed_call() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Linear(4, 3)

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            projected: Tensor = self.project(torch.cat([x, y], dim=-1))
            return projected

    model = shapedoc.check(Model)()
    model(torch.randn(5, 3), torch.randn(5, 1))
    state = type(model).forward.__dict__["__shapedoc__"].watch
    with pytest.raises(RuntimeError) as raised:
        _as_known(state, model, torch.randn(5, 3), torch.randn(5, 3))
    (note,) = raised.value.__notes__
    assert "torch.cat([x, y], dim=-1)" in note
    assert "(5, 6)" in note


def _as_known(state: watched.Watch, function: Any, *args: Tensor) -> None:
    """Call with a pattern that counts as recorded."""

    class Every(Seen):
        def __contains__(self, item: object) -> bool:
            return True

    state.patterns = Every()
    function(*args)


def test_checked_functions_of_several_files_are_watched_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inner_scores.py").write_text(
        "import torch\n\n\ndef weights(q, k):\n"
        '    """q: (B, T_dec, d), k: (B, T_enc, d)"""\n'
        "    return torch.softmax(q @ k.transpose(1, 2), dim=1)\n"
    )
    (tmp_path / "outer_attend.py").write_text(
        "import inner_scores\n\n\ndef attend(q, k):\n    return inner_scores.weights(q, k) @ k\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with shapedoc.install_import_hook("inner_scores", "outer_attend"):
        outer = importlib.import_module("outer_attend")
    with pytest.warns(shapedoc.ShapeWarning, match="softmax over `T_dec`"):
        outer.attend(torch.randn(2, 3, 4), torch.randn(2, 5, 4))
    assert recordings(outer.attend) == 1
    assert recordings(sys.modules["inner_scores"].weights) == 0


def test_a_compiled_function_inside_runs_as_written_until_the_signature_is_verified() -> None:
    counter = torch._dynamo.testing.CompileCounter()
    torch._dynamo.reset()

    def product(x: Tensor) -> Tensor:
        return torch.sin(x) @ x.transpose(0, 1)

    inner = torch.compile(product, fullgraph=True, backend=counter)

    @shapedoc.check
    def double(x: Tensor) -> Tensor:
        found: Tensor = inner(x)
        return found * 2

    given = [torch.randn(2, n) for n in (3, 4, 5, 9)]
    for x in given:
        torch.testing.assert_close(double(x), product(x) * 2)
    assert counter.frame_count == 0
    for x in given * 2:
        torch.testing.assert_close(double(x), product(x) * 2)
    ours = counter.frame_count
    counter.clear()
    torch._dynamo.reset()
    for x in given:
        inner(x)
    assert ours == counter.frame_count > 0


def test_a_loop_is_recorded_on_calls_that_fall_due_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "_RECORDED_AGAIN", 8)

    @shapedoc.check
    def fold(x: Tensor) -> Tensor:
        state = x[:, 0]
        for t in range(1, x.shape[1]):
            state = torch.tanh(state + x[:, t])
        return state

    def call(steps: int, times: int) -> int:
        for _ in range(times):
            fold(torch.randn(2, steps, 4))
        return recordings(fold)

    assert call(3, 2) == 1, "the first call of all has no signature, the second is the first of it"
    assert call(3, 1) == 2, "the second"
    assert call(3, 2) == 3, "the fourth"
    assert call(3, 4) == 4, "the eighth"
    for steps in range(5, 40):
        call(steps, 4)
    state = fold.__dict__["__shapedoc__"].watch
    assert state.recordings > 40
    assert len(state.patterns) < 40


def test_random_ways_through_a_function_do_not_record_without_end() -> None:
    @shapedoc.check
    def chosen(x: Tensor, mask: Tensor) -> Tensor:
        kept = x[mask]
        return kept.reshape(-1, 4) @ x.new_ones(4, 3)

    torch.manual_seed(0)
    for steps in range(5, 60):
        for _ in range(3):
            chosen(torch.randn(steps, 4), torch.rand(steps) > 0.5)
    assert recordings(chosen) >= 2
    count = 0
    state = chosen.__dict__["__shapedoc__"].watch
    inner = state._record

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        return inner(*args, **kwargs)

    state._record = counted
    state.recordings = max(state.recordings, 17)
    for steps in range(60, 100):
        chosen(torch.randn(steps, 4), torch.rand(steps) > 0.5)
    assert count <= 2


def test_what_was_built_before_the_call_is_read_for_functions_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "built_before.py").write_text(
        "import torch\nfrom torch import nn\n\n\n"
        "class Attention(nn.Module):\n"
        "    def __init__(self, d, T):\n"
        "        super().__init__()\n"
        "        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)\n"
        "        self.register_buffer('hidden', torch.tril(torch.ones(T, T)).bool())\n\n"
        "    def forward(self, x):\n"
        "        B, T, d = x.shape\n"
        "        scores = self.q(x) @ self.k(x).transpose(-2, -1) / d**0.5\n"
        "        scores = scores.masked_fill(self.hidden[:T, :T], float('-inf'))\n"
        "        return torch.softmax(scores, dim=-1) @ x\n\n\n"
        "def never(q, k):\n"
        '    """q: (B, T_dec, d), k: (B, T_enc, d)"""\n'
        "    return torch.softmax(q @ k.transpose(1, 2), dim=1) @ k\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with shapedoc.install_import_hook("built_before"):
        module = importlib.import_module("built_before")
    model = module.Attention(8, 16)
    with pytest.warns(shapedoc.ShapeWarning) as told:
        model(torch.randn(2, 5, 8))
    codes = {str(w.message).partition("[")[2][:5] for w in told if issubclass(w.category, shapedoc.ShapeWarning)}
    assert "SD501" in codes or "SD502" in codes, "the mask hides the past"
    assert "SD401" not in codes, "that function did not run"


def test_what_is_looked_at_for_a_check_is_no_step_of_the_program(tmp_path: Path, monkeypatch: Any) -> None:
    """A model whose parts are checked too: their first calls are looked at while the outer one is recorded."""
    (tmp_path / "stacked.py").write_text(
        """\
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.extra = nn.ModuleList(nn.Linear(width, width) for _ in range(5))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        return scores.softmax(dim=1) @ v


class Stack(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.ModuleList(Attention(width) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x
"""
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import stacked  # type: ignore[import-not-found]

    shapedoc.check(stacked.Attention)
    model = shapedoc.check(stacked.Stack)(8, 3)
    monkeypatch.setattr("shapedoc.integrations.reading.read_functions", lambda path, definitions: [])
    with pytest.warns(shapedoc.ShapeWarning, match="SD401"):
        model(torch.randn(2, 5, 8))
