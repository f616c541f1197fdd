"""`@shapedoc.check`: who is blamed, what is explained, what is silent, and what a call costs in look-ups."""

import copy
import gc
import inspect
import pickle
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch._dynamo.testing
from jaxtyping import Float
from torch import Tensor, nn

import shapedoc
from shapedoc.integrations import checked as checked_module
from shapedoc.integrations import watched


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """A finding is told once in a process: each test starts anew."""
    watched._told.clear()
    yield
    watched._told.clear()


@shapedoc.check
def additive(
    s_prev: Float[Tensor, "B 1 d_s"],
    h: Float[Tensor, "B T d_h"],
    w_a: Float[Tensor, "d_s d_attn"],
    u_a: Float[Tensor, "d_h d_attn"],
    v_a: Float[Tensor, "d_attn"],
) -> tuple[Float[Tensor, "B d_h"], Float[Tensor, "B T"]]:
    weights = torch.softmax(torch.tanh(s_prev @ w_a + h @ u_a) @ v_a, dim=-1)
    return torch.bmm(weights.unsqueeze(1), h).squeeze(1), weights


plain = inspect.unwrap(additive)


def sizes(batch: int = 2, steps: int = 3) -> list[Tensor]:
    return [
        torch.randn(batch, 1, 5),
        torch.randn(batch, steps, 4),
        torch.randn(5, 6),
        torch.randn(4, 6),
        torch.randn(6),
    ]


def test_a_verified_signature_is_looked_up() -> None:
    state = additive.__dict__["__shapedoc__"]
    for steps in (3, 4, 4, 4, 3):
        context, weights = additive(*sizes(steps=steps))
        assert context.shape == (2, 4)
        assert weights.shape == (2, steps)
    assert len(state.seen) == 2
    assert state.good == 3, "two signatures are verified, one of them twice: the first call of all has none yet"


def test_the_argument_that_is_wrong_is_named_with_its_axis() -> None:
    wrong = sizes()
    wrong[2] = torch.randn(6, 5)
    with pytest.raises(shapedoc.ShapeError) as raised:
        additive(*wrong)
    (finding,) = raised.value.findings
    assert (finding.code, finding.tensor, finding.actual, finding.expected) == ("SD904", "w_a", "(6, 5)", "(5, 6)")
    assert finding.message == "`w_a` is (6, 5), should be (d_s, d_attn) = (5, 6): its axis 0, `d_s`, is 6, not 5"
    assert "`d_attn` is 6 in `u_a`, `v_a`" in finding.why
    text = str(raised.value)
    assert "error[SD904] argument-mismatch" in text
    assert len(text.splitlines()) < 30, "one screen"
    assert "tensor(" not in text


def test_a_wrong_result_is_told() -> None:
    @shapedoc.check
    def mean(x: Float[Tensor, "B T d"]) -> Float[Tensor, "B d"]:
        return x.mean(dim=2)

    with pytest.raises(shapedoc.ShapeError, match="returns"):
        mean(torch.randn(2, 3, 4))


def test_a_comment_that_does_not_hold_is_a_warning() -> None:
    @shapedoc.check
    def norm(x: Tensor, y: Tensor) -> Tensor:
        # x: (B, d), y: (B, k)
        return x.norm(dim=-1) * y.norm(dim=-1)

    with pytest.warns(shapedoc.ShapeWarning, match="they do not agree on `B`"):
        norm(torch.randn(3, 5), torch.randn(1, 5))


def test_a_silent_fault_is_a_warning_and_on_request_an_error() -> None:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        # q: (B, T_dec, d), k: (B, T_enc, d), v: (B, T_enc, d)
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=1)
        return weights @ v

    arguments = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 4)
    with pytest.warns(shapedoc.ShapeWarning, match="softmax over `T_dec`"):
        shapedoc.check(attend)(*arguments)
    with pytest.raises(shapedoc.ShapeError, match="SD401"):
        shapedoc.check(on_finding="raise")(attend)(*arguments)


def test_an_error_inside_keeps_its_type_and_gets_a_note_on_the_exact_place() -> None:
    calls = []

    def shift(x: Tensor) -> Tensor:
        calls.append(1)
        return x + 1

    @shapedoc.check
    def product(q: Tensor, k: Tensor) -> Tensor:
        return torch.tanh(
            shift(q)
            @ k.transpose(0, 1)
            @ q
        )  # fmt: skip

    with pytest.raises(RuntimeError) as raised:
        product(torch.randn(2, 3), torch.randn(4, 3))
    (note,) = raised.value.__notes__
    assert "shift(q)" in note
    assert "(4, 2)" in note or "(2, 4)" in note
    assert calls == [1], "nothing is evaluated twice"


def test_an_error_in_a_verified_signature_is_explained_too() -> None:
    @shapedoc.check
    def pick(x: Tensor, rows: Tensor, fail: list[int]) -> Tensor:
        return x[rows] if not fail else x @ rows

    x, rows = torch.randn(3, 4), torch.arange(2)
    fail: list[int] = []
    pick(x, rows, fail)
    pick(x, rows, fail)
    fail.append(1)
    with pytest.raises(RuntimeError) as raised:
        pick(x, rows, fail)
    assert "x @ rows" in raised.value.__notes__[0]


@shapedoc.check
class Attention(nn.Module):
    def __init__(self, d_model: int, d_out: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.project = nn.Linear(d_model, d_out)

    def forward(self, x: Float[Tensor, "B T d_model"], y: Float[Tensor, "B T d_model"]) -> Float[Tensor, "B T d_out"]:
        projected: Tensor = self.project(x + y)
        return projected


def test_a_module_is_checked_and_its_own_sizes_are_witnesses() -> None:
    model = Attention(6, 4)
    assert model(torch.randn(2, 3, 6), torch.randn(2, 3, 6)).shape == (2, 3, 4)
    with pytest.raises(shapedoc.ShapeError) as raised:
        model(torch.randn(2, 3, 6), torch.randn(2, 3, 5))
    (finding,) = raised.value.findings
    assert finding.tensor == "y"
    assert finding.path == __file__, "the author's call, not the one inside of nn.Module"
    with pytest.raises(shapedoc.ShapeError, match=r"`x` is \(3,\), should be \(B, T, d_model\) = \(B, T, 6\): it has"):
        model(torch.randn(3), torch.randn(3))


def test_a_dataclass_is_checked_when_it_is_made() -> None:
    @shapedoc.check
    @dataclass
    class Batch:
        tokens: Float[Tensor, "B T"]
        lengths: Float[Tensor, "B"]

    Batch(torch.randn(2, 3), torch.randn(2))
    with pytest.raises(shapedoc.ShapeError, match="do not agree on `B`"):
        Batch(torch.randn(2, 3), torch.randn(3))


def test_watching_a_block() -> None:
    def block() -> list[str]:
        with shapedoc.watching() as recording:
            x = torch.randn(2, 3, 4)
            y = torch.randn(2, 5, 4)
            weights = torch.softmax(x @ y.transpose(1, 2), dim=1)
            _ = weights @ y
        return [e.short for e in recording.trace.events]

    with pytest.warns(shapedoc.ShapeWarning, match="SD401"):
        ran = block()
    assert ran == ["randn", "randn", "transpose", "matmul", "softmax", "matmul"]


def test_compiled_and_exported_it_steps_aside() -> None:
    explained = torch.compile(additive, fullgraph=True, backend="eager")
    arguments = sizes()
    torch.testing.assert_close(explained(*arguments), plain(*arguments))

    class Model(nn.Module):
        def forward(self, *given: Tensor) -> tuple[Tensor, Tensor]:
            return additive(*given)

    for strict in (False, True):
        exported = torch.export.export(Model(), tuple(arguments), strict=strict)
        torch.testing.assert_close(exported.module()(*arguments), plain(*arguments))
    steps = torch.export.Dim("steps", min=2, max=64)
    dynamic = torch.export.export(Model(), tuple(arguments), dynamic_shapes=((None, {1: steps}, None, None, None),))
    longer = sizes(steps=9)
    torch.testing.assert_close(dynamic.module()(*longer), plain(*longer))


def test_it_recompiles_as_often_as_the_function_itself() -> None:
    def frames(function: object) -> int:
        counter = torch._dynamo.testing.CompileCounter()
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=counter, fullgraph=True)
        for batch, steps in ((2, 3), (2, 4), (3, 4), (4, 9)):
            compiled(*sizes(batch, steps))
        return int(counter.frame_count)

    assert frames(additive) == frames(plain)


def test_it_works_under_transforms_and_modes() -> None:
    many = torch.vmap(additive, in_dims=(0, 0, None, None, None))
    first, second, *weights = sizes()
    context, _ = many(torch.stack([first] * 3), torch.stack([second] * 3), *weights)
    assert context.shape == (3, 2, 4)
    gradient = torch.func.grad(lambda w: additive(first, second, w, *weights[1:])[0].sum())(weights[0])
    assert gradient.shape == (5, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert additive(*sizes())[0].dtype in (torch.float32, torch.bfloat16)
    assert additive(*[t.to("meta") for t in sizes()])[0].shape == (2, 4)
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert additive(*sizes())[0].shape == (2, 4)
    result = torch.utils.checkpoint.checkpoint(additive, *[t.requires_grad_() for t in sizes()], use_reentrant=False)
    result[0].sum().backward()


def test_it_keeps_name_signature_and_pickles() -> None:
    assert additive.__name__ == "additive"
    assert pickle.loads(pickle.dumps(additive)) is additive
    assert copy.copy(additive) is additive


def test_the_memory_of_signatures_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked_module, "_MOST_SIGNATURES", 50)

    @shapedoc.check(record=False)
    def double(x: Tensor) -> Tensor:
        return x * 2

    for size in range(1, 200):
        double(torch.empty(size, device="meta"))
    assert len(double.__dict__["__shapedoc__"].seen) <= 50


def test_wrong_use_is_said() -> None:
    decorate: Any = shapedoc.check
    with pytest.raises(ValueError, match='"warn" or "raise"'):
        shapedoc.check(on_finding="shout")
    with pytest.raises(TypeError, match="decorates functions and classes, not int"):
        decorate(3)


@pytest.mark.parametrize("way", [["-O"], []])
def test_it_can_be_switched_off(way: list[str]) -> None:
    program = "import shapedoc\ndef f(x): return x\nprint(shapedoc.check(f) is f)\n"
    environment = {} if way else {"SHAPEDOC": "off"}
    import os

    done = subprocess.run(
        [sys.executable, *way, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    assert done.stdout == "True\n"


def test_right_code_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        additive(*sizes(3, 7))


def test_a_traceback_shows_the_authors_frames_and_no_chain() -> None:
    @shapedoc.check
    def product(q: Tensor, k: Tensor) -> Tensor:
        return torch.tanh(q @ k)

    product(torch.randn(2, 3), torch.randn(3, 4))
    with pytest.raises(RuntimeError) as raised:
        product(torch.randn(2, 3), torch.randn(5, 4))
    assert raised.value.__context__ is None, "the look-up that failed is not its cause"
    files = [frame.path.name if hasattr(frame.path, "name") else str(frame.path) for frame in raised.traceback]
    assert files == ["test_check.py", "<shapedoc.check>", "checked.py", "test_check.py"]


def test_a_shape_error_comes_back_from_another_process() -> None:
    with pytest.raises(shapedoc.ShapeError) as raised:
        additive(*[*sizes()[:4], torch.randn(9)])
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    assert again.findings == raised.value.findings
    assert str(again).startswith("error[SD904]")


def test_signatures_of_an_object_go_with_it() -> None:
    @shapedoc.check
    class Scale(nn.Module):
        def forward(self, x: Float[Tensor, "B d"]) -> Float[Tensor, "B d"]:
            return x * 2

    state = Scale.forward.__dict__["__shapedoc__"]
    for _ in range(5):
        kept = Scale()
        for batch in (2, 3):
            kept(torch.randn(batch, 4))
    gc.collect()
    assert len(state.seen) == 2, "of the last one, which is still there"
    assert len(state.alive) == 1


def test_threads_record_side_by_side_and_leave_torch_as_it_was() -> None:
    before = nn.Module.__call__, nn.Module.__init__
    checked = [shapedoc.check(type(f"Model{i}", (Attention,), dict(vars(Attention)))) for i in range(4)]
    models = [cls(6, 4) for cls in checked]
    problems: list[Exception] = []

    def work(model: nn.Module, batch: int) -> None:
        try:
            for steps in range(1, 30):
                x = torch.randn(batch, steps, 6)
                assert model(x, x).shape == (batch, steps, 4)
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(m, i + 2)) for i, m in enumerate(models)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert (nn.Module.__call__, nn.Module.__init__) == before


def test_a_parameter_that_is_a_tensor_in_one_call_may_be_none_in_the_next() -> None:
    @shapedoc.check
    def scaled(x: Float[Tensor, "B d"], by: Float[Tensor, "d"] | None = None) -> Float[Tensor, "B d"]:
        return x if by is None else x * by

    x, by = torch.ones(2, 3), torch.ones(3)
    for given in (by, None, by, None):
        assert scaled(x, given).shape == (2, 3)
    state = scaled.__dict__["__shapedoc__"]
    assert state.tensors == {"x"}
    assert len(state.seen) == 2
    with pytest.raises(shapedoc.ShapeError, match="`by`"):
        scaled(x, torch.ones(4))


def test_a_class_method_is_checked() -> None:
    @shapedoc.check
    class Model(nn.Module):
        @classmethod
        def rows(cls, x: Float[Tensor, "B d"], y: Float[Tensor, "B d"]) -> Float[Tensor, "B"]:
            return (x * y).sum(dim=1)

    assert Model.rows(torch.ones(2, 3), torch.ones(2, 3)).shape == (2,)
    with pytest.raises(shapedoc.ShapeError, match="do not agree on `d`"):
        Model.rows(torch.ones(2, 3), torch.ones(2, 1))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_without_sizes_are_let_through() -> None:
    @shapedoc.check
    def double(x: Tensor) -> Tensor:
        return x * 2

    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    for given in (torch.ones(2, 3), nested, nested, torch.ones(3, 3), nested):
        assert double(given).is_nested is given.is_nested
