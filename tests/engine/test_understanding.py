"""How much of a file was understood."""

from __future__ import annotations

import json

from shapedoc.core.span import Span
from shapedoc.core.statistics import Loss, Understanding, together
from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings
from shapedoc.engine.stored import understanding_from_plain, understanding_to_plain


def _understood(text: str) -> Understanding:
    return analyse("a.py", text, Settings()).understood


def test_every_operation_at_its_place_counts_once_and_at_its_best() -> None:
    known = _understood("""\
import torch

def double(x):
    return x * 2

B, T = 2, 3
x = torch.zeros(B, T)
double(x)
double(x)
""")
    assert (known.expressions, known.rank, known.shape, known.losses) == (2, 2, 2, ())


def test_rank_and_shape_are_told_apart_and_reasons_have_places() -> None:
    known = _understood("""\
import torch
from elsewhere import mystery

def f(a, n):
    b = a.unsqueeze(0)
    c = torch.ones(n, n).nonzero()
    d = mystery(c)
    e = mystery(c)
    return d + e
""")
    assert (known.expressions, known.rank, known.shape) == (5, 2, 1)
    assert known.losses[0] == Loss("no op for elsewhere.mystery", 2, "a.py", Span(7, 8, 7, 18))


def test_a_size_that_is_written_out_is_known_and_one_that_follows_from_values_is_not() -> None:
    known = _understood("""\
import torch

def f(x, words):
    a = torch.zeros(len(words), max(words))
    b = x.permute(0, 2, 1)
    c = torch.ones(3, 4).nonzero()
    return a, b, c
""")
    assert (known.expressions, known.rank, known.shape) == (4, 4, 3)


def test_what_makes_no_tensor_or_gives_nothing_that_is_used_does_not_count() -> None:
    known = _understood("""\
import pickle
import matplotlib.pyplot as plt
import numpy as np
import torch

def f(log, model):
    x = torch.zeros(2, 3)
    np.save("x.npy", x)
    image = plt.imshow(x)
    log(x)
    y = model(x)
    return image, y
""")
    assert (known.expressions, known.rank, known.shape) == (2, 1, 1)


def test_what_has_the_methods_of_dicts_strings_and_modules_is_no_tensor() -> None:
    known = _understood("""\
import torch

def f(options, line, net):
    first = options.data.get("first")
    words = line.split("|")
    more = line.split()
    weights = net.to("cuda").parameters()
    return first, words, more, weights
""")
    assert (known.expressions, known.rank) == (1, 0)


def test_files_are_added_up_and_the_first_example_stays() -> None:
    first, second = Span(1, 0, 1, 1), Span(2, 0, 2, 1)
    one = Understanding(10, 6, 4, (Loss("rare", 1, "a.py", first),))
    two = Understanding(5, 5, 5, (Loss("often", 3, "b.py", second), Loss("rare", 1, "b.py", second)))
    assert together([one, two]) == Understanding(
        15, 11, 9, (Loss("often", 3, "b.py", second), Loss("rare", 2, "a.py", first))
    )


def test_it_is_kept_as_it_is() -> None:
    known = Understanding(10, 6, 4, (Loss("rare", 1, "a.py", Span(1, 0, 1, 1)),))
    assert understanding_from_plain(json.loads(json.dumps(understanding_to_plain(known)))) == known
