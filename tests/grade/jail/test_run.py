"""What a plan does in the jail, and what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from shapedoc.grade.jail.client import Jail
from shapedoc.grade.plan import Build, Call, Decode, Limits, Plan, Ref, Train

GOOD = """
import torch

def masked_softmax(scores, lengths):
    mask = torch.arange(scores.shape[-1]) < lengths[:, None, None]
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)
"""
SCORES = np.random.default_rng(0).standard_normal((2, 3, 5)).astype(np.float32)
LENGTHS = np.array([3, 5])


def test_a_call_gives_raw_arrays(jail: Jail) -> None:
    outcome = jail.run(GOOD, Plan((Call("weights", "masked_softmax", (SCORES, LENGTHS)),)))
    (weights,) = outcome.replies["weights"].arrays
    raised = np.exp(SCORES) * (np.arange(5) < LENGTHS[:, None, None])
    assert outcome.status == "done"
    assert outcome.replies["weights"].kinds == ("torch.Tensor",)
    np.testing.assert_allclose(weights, raised / raised.sum(-1, keepdims=True), rtol=1e-5)


def test_gradients_of_the_sum_weighted_by_a_cotangent(jail: Jail) -> None:
    source = "def f(x, y):\n    return (x * x).sum(-1), y\n"
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0])
    call = Call("f", "f", (x,), {"y": y}, wrt=(0, "y"), cotangent=np.array([1.0, 10.0]))
    reply = jail.run(source, Plan((call,))).replies["f"]
    assert len(reply.arrays) == 2
    assert reply.gradients[1] is None
    assert reply.gradients[0] is not None
    np.testing.assert_allclose(reply.gradients[0], [[2, 4], [60, 80]])


def test_names_fall_back_to_positions(jail: Jail) -> None:
    source = "def f(a, b):\n    return a - b\n"
    given = {"scores": np.array([3.0]), "lengths": np.array([1.0])}
    reply = jail.run(source, Plan((Call("f", "f", (), given),))).replies["f"]
    assert reply.arrays[0].tolist() == [2.0]


def test_numpy_stays_numpy(jail: Jail) -> None:
    source = "import numpy as np\ndef f(x):\n    assert isinstance(x, np.ndarray)\n    return x.T\n"
    reply = jail.run(source, Plan((Call("f", "f", (np.ones((2, 3)),), framework="numpy"),))).replies["f"]
    assert reply.kinds == ("numpy.ndarray",)
    assert reply.arrays[0].shape == (3, 2)


def test_objects_are_built_loaded_and_called(jail: Jail) -> None:
    source = """
from torch import nn
class Scorer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.w = nn.Linear(size, size, bias=False)
    def forward(self, x):
        return self.w(x)
    def twice(self, x):
        return 2 * self.w(x)
"""
    load = {"w.weight": np.eye(2, dtype=np.float32) * 3}
    steps = (
        Build("scorer", "Scorer", (2,), load=load, give_state=True),
        Call("y", "scorer", (np.ones((1, 2), np.float32),)),
        Call("twice", "scorer.twice", (Ref("y"),)),
        Build("wrong", "Scorer", (2,), load={"w": np.ones(2)}),
    )
    replies = jail.run(source, Plan(steps)).replies
    assert replies["scorer"].state == {"w.weight": (2, 2)}
    np.testing.assert_array_equal(replies["scorer"].arrays[0], load["w.weight"])
    assert replies["y"].arrays[0].tolist() == [[3, 3]]
    assert replies["twice"].arrays[0].tolist() == [[18, 18]]
    assert replies["wrong"].raised is not None
    assert replies["wrong"].raised.message == "'there is no parameter `w`; there are: w.weight'"


def test_a_step_that_raises_stops_no_other(jail: Jail) -> None:
    source = "def f(x):\n    y = x\n    raise ValueError('no   good')\ndef g(x):\n    return x\n"
    steps = (Call("f", "f", (SCORES,)), Call("h", "h", (SCORES,)), Call("g", "g", (SCORES,)), Call("t", "g", ("word",)))
    replies = jail.run(source, Plan(steps)).replies
    raised = replies["f"].raised
    assert raised is not None
    assert (raised.type, raised.message, raised.line) == ("ValueError", "no good", 3)
    assert replies["h"].status == "missing"
    assert replies["h"].defined == ("f", "g")
    assert replies["g"].status == "ok"
    assert replies["t"].status == "bad_type"


def test_an_import_that_fails_says_where(jail: Jail) -> None:
    outcome = jail.run("x = 1\nif x:\nprint(x)\n", Plan((Call("f", "f"),)))
    raised = outcome.loaded.raised
    assert raised is not None
    assert (raised.type, raised.line) == ("IndentationError", 3)
    assert outcome.replies["f"].status == "not_run"


def test_a_package_that_is_not_there_fails_where_it_is_used(jail: Jail) -> None:
    source = (
        "import matplotlib.pyplot as plt\nfrom d2l import torch as d2l\nimport shapedoc\n"
        "@shapedoc.check\ndef f(x):\n    return x\ndef g(x):\n    return plt.plot(x)\n"
    )
    replies = jail.run(source, Plan((Call("f", "f", (SCORES,)), Call("g", "g", (SCORES,))))).replies
    assert replies["f"].status == "ok"
    raised = replies["g"].raised
    assert raised is not None
    assert raised.message == "matplotlib.pyplot.plot: the package matplotlib is not there when grading"


COPIER = """
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 16)
        self.out = nn.Linear(16, vocabulary)
    def forward(self, source, target, lengths=None):
        return self.out(self.embed(source))[:, : target.shape[1]]
"""


def test_training_is_the_harness_s_and_repeatable(jail: Jail) -> None:
    draw = np.random.default_rng(1)
    source = draw.integers(2, 10, (60, 16, 5))
    target = (source + 3) % 10
    train = Train(
        "model", Build("built", "Model", (10,), seed=0), {"source": source, "target": target}, target, 0.03, clip=1.0
    )
    decode = Decode("said", "model", source[0], None, start=1, steps=5)
    first, second = (jail.run(COPIER, Plan((train, decode))) for _ in range(2))
    losses = first.replies["model"].arrays[0]
    assert losses.shape == (60,)
    assert losses[-1] < losses[0] / 2
    assert losses.tobytes() == second.replies["model"].arrays[0].tobytes()
    np.testing.assert_array_equal(first.replies["said"].arrays[0], target[0])


def test_time_memory_and_output_are_bounded(jail: Jail) -> None:
    plan = Plan((Call("f", "f", (SCORES,)),))
    slow = jail.run("import time\ndef f(x):\n    time.sleep(60)\n", plan, Limits(wall_s=1))
    assert (slow.status, slow.stopped_in) == ("timeout", "f")
    busy = jail.run("def f(x):\n    while True: pass\n", plan, Limits(cpu_s=1))
    assert (busy.status, busy.message) == ("timeout", "it did not end within its time, 1 s")
    greedy = jail.run("def f(x):\n    return bytearray(1 << 34)\n", plan)
    assert (greedy.status, greedy.stopped_in) == ("memory", "f")
    large = jail.run("import torch\ndef f(x):\n    return torch.zeros(1).expand(1 << 31, 1)\n", plan)
    assert large.replies["f"].status == "too_large"
    loud = jail.run("def f(x):\n    print('a' * 10_000_000)\n    return x\n", plan)
    assert loud.status == "done"
    assert len(loud.printed) == Limits().printed_bytes


@pytest.mark.parametrize("name", ["__main__", "sys"])
def test_a_result_of_words_is_no_result(jail: Jail, name: str) -> None:
    reply = jail.run(f"import sys\ndef f(x):\n    return {name!r}\n", Plan((Call("f", "f", (SCORES,)),))).replies["f"]
    assert reply.status == "bad_type"
    assert reply.raised is not None
    assert reply.raised.message == "returned a str where numbers are expected"
