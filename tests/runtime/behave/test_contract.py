"""A contract is read into arguments, results and options, and a wrong one says what is wrong."""

import pytest

from shapedoc.runtime.behave.contract import ContractError, evaluate, parse
from shapedoc.runtime.behave.draw import allowed_keys, choose_sizes, draw


def test_kinds_and_options() -> None:
    read = parse("src: int<V pad=0 B T_enc, n: lengths<T_enc B, scale: 2 -> h: B T_enc 2*d; ordered T_enc; batch B")
    assert [(a.name, a.kind, a.dims) for a in read.arguments] == [
        ("src", "int", ("B", "T_enc")),
        ("n", "lengths", ("B",)),
        ("scale", "number", ()),
    ]
    assert read.arguments[0].pad == 0
    assert read.results[0].dims == ("B", "T_enc", "2*d")
    assert read.option("ordered") == ("T_enc",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("q: B T d", "there is no `->`"),
        ("q B -> B", "an argument is `name: axes`"),
        ("q: B T-? -> B", "is no size"),
        ("q: B -> B; causal T", "no argument or result has an axis 'T'"),
        ("q: B -> B; loud", "unknown option 'loud'"),
        ("q: B, q: B -> B", "two arguments are called 'q'"),
        ("-> B", "needs an argument and a result"),
    ],
)
def test_a_contract_that_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(ContractError, match="(?s)" + says.replace("(", r"\(").replace("?", r"\?")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "keys", "queries"),
    [
        ("q: B T_dec d, k: B T_enc d, v: B T_enc e -> B T_dec e", "T_enc", "T_dec"),
        ("s: B d, h: B T d -> context: B d, weights: B T", "T", ""),
        ("q: B H n d, k: B H m d, v: B H m d -> B n H*d", "m", "n"),
        ("scores: B n m, mask: keep B m -> weights: B n m", "m", "n"),
        ("x: B T d, pad: drop B T -> B T d", "T", ""),
        ("x: B d -> B d", "", ""),
    ],
)
def test_keys_and_queries_come_from_the_names(text: str, keys: str, queries: str) -> None:
    read = parse(text)
    assert (read.keys, read.queries) == (keys, queries)


def test_sizes_are_distinct_unless_the_contract_says_otherwise() -> None:
    sizes = choose_sizes(parse("q: B n d, k: B m d -> B n d"))
    assert len(set(sizes.values())) == len(sizes)
    same = choose_sizes(parse("q: B n d, k: B m d -> B n d; same n m"))
    assert same["n"] == same["m"]
    assert choose_sizes(parse("q: B d -> B d"), {"d": 16})["d"] == 16
    with pytest.raises(ContractError, match="no axis 'e'"):
        choose_sizes(parse("q: B d -> B d"), {"e": 2})


def test_a_size_is_computed() -> None:
    assert evaluate("2*d_h + T//2", {"d_h": 3, "T": 5}) == 8


def test_masks_together_say_which_key_a_query_sees() -> None:
    read = parse("q: B n d, k: B m d, pad: drop B m, causal: keep n m -> weights: B n m")
    sizes = choose_sizes(read)
    inputs = draw(read, sizes, 0)
    seen = allowed_keys(read, inputs, sizes)
    assert seen is not None
    assert seen.shape == (sizes["B"], sizes["n"], sizes["m"])
    assert (seen == (~inputs["pad"][:, None] & inputs["causal"][None])).all()
