"""Names that end in their shape."""

from __future__ import annotations

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.contracts.suffixes import read_suffix
from shapedoc.source.ir import FunctionDef
from shapedoc.source.lower_ast import lower

ATTENTION = """
def attend(q_BTD, memory_BSD, w_DH):
    k_BSD = memory_BSD @ w
    scores_BTS = q_BTD @ k_BSD.mT
    loss_CE = f(scores_BTS)
    return scores_BTS
"""


def test_one_letter_for_each_axis() -> None:
    assert [str(d) for d in read_suffix("q_BTD") or ()] == ["B", "T", "D"]
    assert [str(d) for d in read_suffix("attn_out_BTHK") or ()] == ["B", "T", "H", "K"]
    for name in ("q", "BTD", "q_btd", "MAX_LEN", "to_RGB", "loss_CE", "_BT", "self_", "qBTD", "q_B1"):
        assert read_suffix(name) is None, name


def test_a_file_that_uses_them() -> None:
    module = lower(ATTENTION)
    contracts = ModuleContracts(module)
    shape = contracts.suffix("scores_BTS")
    assert shape is not None
    assert (str(shape), shape.form, shape.sure) == ("(B, T, S)", "suffix", True)
    assert contracts.suffix("loss_CE") is None
    (function,) = module.body
    assert isinstance(function, FunctionDef)
    params = contracts.params(function)
    assert {n: str(s[0]) for n, s in params.items()} == {
        "q_BTD": "(B, T, D)",
        "memory_BSD": "(B, S, D)",
        "w_DH": "(D, H)",
    }
    assert params["w_DH"][0].span == (2, 30, 2, 34)


def test_a_file_that_does_not() -> None:
    for text in (
        "net_G = f()\nnet_D = g()\ntrainer_G = h()\ntrainer_D = i()\n",
        "loss_BT = f()\n",
        "img_RGB = f()\nimg_BGR = g()\nimg_YUV = h()\n",
        "path_A = f()\nfig_AB = f()\nx_QW = f()\n",
    ):
        contracts = ModuleContracts(lower(text))
        for name in ("net_G", "loss_BT", "img_YUV", "fig_AB", "x_QW"):
            assert contracts.suffix(name) is None, (text, name)
