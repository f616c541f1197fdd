"""Imports to qualified names, and one spelling for each."""

from __future__ import annotations

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shapedoc.source import ir
from shapedoc.source.lower_ast import lower
from shapedoc.source.names import absolute, canonical, resolve_import


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("import torch", {"torch": "torch"}),
        ("import torch as t", {"t": "torch"}),
        ("import torch.nn", {"torch": "torch"}),
        ("import torch.nn as nn, numpy as np", {"nn": "torch.nn", "np": "numpy"}),
        ("import torch.nn.functional as F", {"F": "torch.nn.functional"}),
        ("from torch import nn, Tensor", {"nn": "torch.nn", "Tensor": "torch.Tensor"}),
        ("from torch.nn import functional as F", {"F": "torch.nn.functional"}),
        ("from torch.nn.modules.linear import Linear as L", {"L": "torch.nn.Linear"}),
        ("from torch.nn.parameter import Parameter", {"Parameter": "torch.nn.Parameter"}),
        ("from torch.functional import einsum", {"einsum": "torch.einsum"}),
        ("from einops import rearrange", {"rearrange": "einops.rearrange"}),
        ("from . import layers", {"layers": ".layers"}),
        ("from .. import a as b", {"b": "..a"}),
        ("from ..model.block import Block", {"Block": "..model.block.Block"}),
        ("from torch.nn import *", {"*": "torch.nn"}),
        ("from .torch import nn", {"nn": ".torch.nn"}),
    ],
)
def test_what_an_import_binds(text: str, bound: dict[str, str]) -> None:
    (statement,) = lower(text).body
    assert isinstance(statement, ir.Import)
    assert resolve_import(statement) == bound


@pytest.mark.parametrize(
    ("qualified", "expected"),
    [
        ("torch.nn.modules.linear.Linear", "torch.nn.Linear"),
        ("torch.nn.modules.Linear", "torch.nn.Linear"),
        ("torch.nn.modules.linear.Linear.forward", "torch.nn.Linear.forward"),
        ("torch.nn.modules.utils._pair", "torch.nn.modules.utils._pair"),
        ("torch.functional.einsum", "torch.einsum"),
        ("torch._C._nn.gelu", "torch.nn.functional.gelu"),
        ("torch._C._linalg.linalg_norm", "torch.linalg.norm"),
        ("torch._tensor.Tensor.view", "torch.Tensor.view"),
        ("torch.nn.functional.softmax", "torch.nn.functional.softmax"),
        ("numpy.core.numeric.ones", "numpy.ones"),
        ("jax.numpy.matmul", "numpy.matmul"),
        ("jax.numpyro.sample", "jax.numpyro.sample"),
        ("numpy._core.fromnumeric.sum", "numpy.sum"),
        ("numpy.core.dot", "numpy.dot"),
        ("numpy.core.multiarray.ndarray.sum", "numpy.ndarray.sum"),
        ("numpy.lib.function_base.flip", "numpy.flip"),
        ("numpy.lib._function_base_impl.flip", "numpy.flip"),
        ("numpy.lib.stride_tricks.as_strided", "numpy.lib.stride_tricks.as_strided"),
        ("numpy.linalg._linalg.norm", "numpy.linalg.norm"),
        ("einops.einops.rearrange", "einops.rearrange"),
        ("einops.layers.torch.Rearrange", "einops.layers.torch.Rearrange"),
        ("mypackage.torch.functional.einsum", "mypackage.torch.functional.einsum"),
        ("torch", "torch"),
    ],
)
def test_one_spelling(qualified: str, expected: str) -> None:
    assert canonical(qualified) == expected


def test_every_layer_of_torch_goes_by_its_public_name() -> None:
    layers = {name: value for name, value in vars(torch.nn).items() if isinstance(value, type)}
    assert len(layers) > 100
    for value in layers.values():
        assert canonical(f"{value.__module__}.{value.__qualname__}") == f"torch.nn.{value.__qualname__}"


def test_every_function_of_numpy_goes_by_its_public_name() -> None:
    functions = {name: getattr(numpy, name) for name in numpy.__all__}
    homes = {name: value.__module__ for name, value in functions.items() if getattr(value, "__name__", "") == name}
    spelled = {name: canonical(f"{home}.{name}") for name, home in homes.items() if home.startswith("numpy")}
    assert len(spelled) > 300
    assert [name for name, full in spelled.items() if full not in (f"numpy.{name}", f"numpy.rec.{name}")] == []


@given(
    st.lists(st.sampled_from(["torch", "numpy", "nn", "modules", "core", "lib", "linear", "Linear", "_C"]), min_size=1)
)
def test_a_spelling_is_final(parts: list[str]) -> None:
    once = canonical(".".join(parts))
    assert canonical(once) == once


@pytest.mark.parametrize(
    ("qualified", "module", "package", "expected"),
    [
        (".x", "a.b", False, "a.x"),
        (".x", "a.b", True, "a.b.x"),
        ("..m.x", "a.b.c", False, "a.m.x"),
        ("..x", "a", True, None),
        (".x", "a", False, None),
        ("torch.nn", "a", False, "torch.nn"),
    ],
)
def test_relative_names(qualified: str, module: str, package: bool, expected: str | None) -> None:
    assert absolute(qualified, module, package=package) == expected
