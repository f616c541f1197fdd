"""What is read as a shape, and what is left: both kinds of comment, in the styles that people write."""

from __future__ import annotations

import pytest

from shapedoc.source.contracts.comments import may_state, read_comment
from shapedoc.source.contracts.stated import StatedShape


def read(text: str, *, trailing: bool = True, numbers: bool = False) -> list[StatedShape]:
    """The shapes of a comment, through the filter that the module's reader has."""
    if not may_state(text):
        return []
    found = read_comment(text, lambda start, end: (1, start, 1, end), trailing=trailing, numbers=numbers)
    assert not isinstance(found, str), found
    return found


def shown(shapes: list[StatedShape]) -> str:
    """``name where shape`` of each, the commonest place left out."""
    parts = []
    for shape in shapes:
        where = "" if shape.where == "after" else f"{shape.where} "
        name = f"{shape.name} " if shape.name else ""
        index = "" if shape.index is None else f"[{shape.index}] "
        parts.append(f"{name}{where}{index}{shape}")
    return "; ".join(parts)


ACCEPTED = {
    # bare
    "(N, L, E)": "(N, L, E)",
    "(bsz, n_tok, width)": "(bsz, n_tok, width)",
    "[bs, heads, q_len, k_len]": "(bs, heads, q_len, k_len)",
    "(B, C, H, W)": "(B, C, H, W)",
    "(b, l, d)": "(b, l, d)",
    "(n, d)": "(n, d)",
    "(batch, time, 1)": "(batch, time, 1)",
    "(1, 1, T, T)": "(1, 1, T, T)",
    "(B, T', C)": "(B, T', C)",
    "(batch_size,)": "(batch_size,)",
    "(B, 2H)": "(B, 2*H)",
    "(B, T, 2 * d_h)": "(B, T, 2*d_h)",
    "(B, T, C // n_head)": "(B, T, C//n_head)",
    "(B, T+(K-1), C)": "(B, T + K - 1, C)",
    "(batch, *, d_k)": "(batch, ..., d_k)",
    "(*batch, d)": "(*batch, d)",
    "(..., d_model)": "(..., d_model)",
    "[batch size, src len, enc hid dim * 2]": "(batch size, src len, enc hid dim*2)",
    "(batch size, number of heads, tgt len)": "(batch size, number of heads, tgt len)",
    "(B, S, d_model) after the projection": "(B, S, d_model)",
    "(B, T, C) - keys of every position": "(B, T, C)",
    "(batch_size, seq_len=1, dim)": "(batch_size, seq_len=1, dim)",
    "(B, len_q(=len_k), d)": "(B, len_q=len_k, d)",
    "\uff08B\uff0cT\uff0cC\uff09": "(B, T, C)",
    "# (B, T, C)": "(B, T, C)",
    "|embeds| = (batch_size, length, width)": "embeds (batch_size, length, width)",
    "|hidden| = (layers * ways, batch_size, width)": "hidden (layers*ways, batch_size, width)",
    "(num_layers * num_directions, batch_size, hidden_size)": "(num_layers*num_directions, batch_size, hidden_size)",
    "(self.n_layers, batch, self.hidden_dim)": "(self.n_layers, batch, self.hidden_dim)",
    "(B, h*w, c)": "(B, h*w, c)",
    "(B, N, x.size(-1))": "(B, N, x.size(-1))",
    # named
    "x: (B, T, C)": "x (B, T, C)",
    "scores = [batch size, tgt len, src len]": "scores (batch size, tgt len, src len)",
    "q, k, v: (B, nh, T, hs)": "q (B, nh, T, hs); k (B, nh, T, hs); v (B, nh, T, hs)",
    "hidden [1, B, H]": "hidden (1, B, H)",
    "self.weight : (d_out, d_in)": "self.weight (d_out, d_in)",
    "context: [B, H]": "context (B, H)",
    "enc_out: batch x len x dim": "enc_out (batch, len, dim)",
    "mask: [B, T], lengths: [B]": "mask (B, T); lengths (B,)",
    "x: [64, 1, 512]": "x (64, 1, 512)",
    "`alpha`: `(B, S)`": "alpha (B, S)",
    "a: [B, T], b: [B, S]": "a (B, T); b (B, S)",
    "lengths: [batch]": "lengths (batch,)",
    "h, c: [n_layers, B, H]": "h (n_layers, B, H); c (n_layers, B, H)",
    "x: FloatTensor (batch, time, width)": "x (batch, time, width)",
    "x: Tensor(batch, time)": "x (batch, time)",
    # with the word
    "shape: (B, T)": "(B, T)",
    "Shape: [B]": "(B,)",
    "x.shape = (B, T, d)": "x (B, T, d)",
    "x.shape == (2, 5, 128)": "x (2, 5, 128)",
    "memory.size(): (S, B, H)": "memory (S, B, H)",
    "weights shape: (B, S)": "weights (B, S)",
    "queries have shape (B, n_q, d)": "queries (B, n_q, d)",
    "shape of keys: (B, n_k, d)": "keys (B, n_k, d)",
    "shape (b, t)": "(b, t)",
    "mask is of shape (B, 1, 1, S)": "mask (B, 1, 1, S)",
    "torch.Size([2, 10, 512])": "(2, 10, 512)",
    "positional embeddings of shape (t, n_embd)": "embeddings (t, n_embd)",
    # with an x between
    "B x T x C": "(B, T, C)",
    "batch x src_len x hidden": "(batch, src_len, hidden)",
    "[bsz x n_head x qlen x klen]": "(bsz, n_head, qlen, klen)",
    "(b * h) x t x d": "(b*h, t, d)",
    "1 x B x H": "(1, B, H)",
    "BxTxD": "(B, T, D)",
    "BNxT": "(BN, T)",
    "1xD": "(1, D)",
    "B \u00d7 T \u00d7 D": "(B, T, D)",
    "batch size x seq len x dim": "(batch size, seq len, dim)",
    "seq x batch": "(seq, batch)",
    "batch x 1 x n_keys(=n_queries), true is hidden": "(batch, 1, n_keys=n_queries)",
    "batch_size x n (= width x height) x 2": "(batch_size, n=width*height, 2)",
    "batch_size x n_frames * 1": "(batch_size, n_frames, 1)",
    "[B*1*T]": "(B, 1, T)",
    # arrows
    "(B, T, C) -> (B, C, T)": "before (B, T, C); (B, C, T)",
    "(B, T) --> (T, B)": "before (B, T); (T, B)",
    "[B, T, d] => [B, h, T, d_k]": "before (B, T, d); (B, h, T, d_k)",
    "(B, T, C) \u2192 (B, C)": "before (B, T, C); (B, C)",
    "(N, L, E) -proj-> (N, L, D) -split-> (N, L, H, K)": "before (N, L, E); (N, L, H, K)",
    "B x T x D -> B x D": "before (B, T, D); (B, D)",
    "[n_seq] -> [n_seq, n_embd]": "before (n_seq,); (n_seq, n_embd)",
    "x: (B, T) -> (B, T, d)": "x before (B, T); x (B, T, d)",
    "-> (B, H)": "(B, H)",
    "=> [B, 1, S]": "(B, 1, S)",
    "[B*T*2H]->[B*T*H]": "before (B, T, 2*H); (B, T, H)",
    "reshape from (B, T, C) to (B, C, T)": "before (B, T, C); (B, C, T)",
    # products
    "(B, q, d) x (B, d, k) -> (B, q, k)": "left (B, q, d); right (B, d, k); (B, q, k)",
    "[B, 1, S] @ [B, S, H] = [B, 1, H]": "left (B, 1, S); right (B, S, H); (B, 1, H)",
    "(N, T, D) * (N, D, S) -> (N, T, S)": "left (N, T, D); right (N, D, S); (N, T, S)",
    "[B*1*H] bmm [B*H*T]=>[B*1*T]": "left (B, 1, H); right (B, H, T); (B, 1, T)",
    # several
    "(B, T, d), (B, S, d)": "(B, T, d); (B, S, d)",
    "[B, T] [B, S]": "(B, T); (B, S)",
    "((L, B, H), (L, B, H))": "[0] (L, B, H); [1] (L, B, H)",
    "(B, T) or (B, 1, T)": "(B, T) or (B, 1, T)",
    "mask: (B, T) or (T, T)": "mask (B, T) or (T, T)",
    # comma lists at the end of a line
    "B,T,C": "(B, T, C)",
    "bs, c, h, w": "(bs, c, h, w)",
    "B, num_heads, N, head_dim": "(B, num_heads, N, head_dim)",
    "N,1,L": "(N, 1, L)",
    "bs*G,c//G,h,w": "(bs*G, c//G, h, w)",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_a_shape_is_read(text: str) -> None:
    found = read(text)
    assert shown(found) == ACCEPTED[text]


LEFT = [
    # values and intervals
    "[0, 1]",
    "values in [0, T]",
    "in range [1, N]",
    "uniform in [-a, a]",
    "(min, max)",
    "[64, 128, 256, 512]",
    "[5, 99, 102, 78]",
    "(2, 3)",
    "eos [4, 7, 3]",
    "kernel_size = (3, 3)",
    "strides: [1, 2]",
    "input_size = (3, 224, 224)",
    "dims = [64, 128]",
    "e.g. [1, 2, 3]",
    "batch size: [16, 32, 64]",
    "0.5, 0.5",
    "[0.1, 0.9]",
    "(1e-8, 1e-3)",
    "3x3 conv",
    "16x16 patches",
    "224 x 224",
    "outs [B x C x H x W, B x 2C x H/2 x W/2]",
    # tensors, indices, pairs
    "(h, c)",
    "hidden = (h, c)",
    "(h_n, c_n)",
    "(q, k, v)",
    "(key, value)",
    "(query, key, value)",
    "(x, y)",
    "(i, j)",
    "[i, j, k]",
    "(src, tgt)",
    "(input, target) pairs",
    "returns (output, hidden)",
    "(encoder, decoder)",
    "(start, end)",
    "(hyp1, hyp2, ...)",
    "(height, width)",
    "q, k, v",
    "i, j",
    "x, y",
    "h, c",
    # calls, indexing, code
    "f(a, b)",
    "softmax(B, T)",
    "A[i, j]",
    "mask[B, T] = 0",
    "x = x.view(B, T, C)",
    "x = torch.zeros(B, T)",
    "x.view(B, T, C).transpose(1, 2)",
    "return x, (h, c)",
    "for b, t in pairs:",
    "print(x.shape, (B, T))",
    "assert x.shape == (B, T, C)",
    "self.fc = nn.Linear(d_model, d_ff)",
    "def forward(self, x):  # (B, T, C)",
    "B, T, C = x.shape",
    "(B, T, C) = x.size()",
    "out, (h, c) = self.lstm(x)",
    "x = y[:, 0]",
    "Tuple[int, int]",
    "Dict[str, Tensor]",
    ">>> x (B, T, C)",
    "if mask is not None:  # (B, T)",
    "import (a, b)",
    "y = (B, T)[0]",
    "(B, T).view(-1)",
    # formulas and LaTeX
    "(a, b) + c",
    "tanh(W x + b)",
    "(x - mean) / std",
    "$(B, T)$",
    "\\text{softmax}(Q, K)",
    "W x h",
    "Q x K",
    "h = W x s + U y",
    "s = v^T tanh(W h)",
    # prose, citations, references
    "(Vaswani et al., 2017)",
    "(Luong, 2015)",
    "(see above, section 3)",
    "see [paper](https://example.org/a,b)",
    "https://example.org/(a,b)",
    "(not used, but kept)",
    "(batch first, then time)",
    "(optional, default None)",
    "(int, str)",
    "(True, False)",
    "['a', 'b']",
    '("a", "b")',
    "the (first, second) of them",
    "batch size, sequence length, embedding dimensionality (n_embd)",
    "one of [relu, gelu]",
    "[CLS], [SEP]",
    "[cuda, cpu]",
    "not (B, T, C)",
    "instead of (B, T, C)",
    "5 x faster",
    "TODO: (fix, this)",
    "noqa: E501, W503",
    "type: (Tensor, int) -> Tensor",
    "pragma: no cover",
    "ids: [eos, pad]",
    "{a, b}",
    "[B, T",
    "(B, T]",
    "[0, 1)",
    "(batch)",
    "[batch]",
    "()",
    "(,)",
    "",
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_no_shape_is_left(text: str) -> None:
    found = [s for s in read(text) if s.sure]
    assert shown(found) == ""


def test_a_comma_list_is_read_only_at_the_end_of_a_line() -> None:
    assert shown(read("B,T,C")) == "(B, T, C)"
    assert read("B,T,C", trailing=False) == []


def test_numbers_alone_are_read_only_where_the_file_states_shapes_and_are_never_sure() -> None:
    assert read("(64, 1, 512)") == []
    (found,) = read("(64, 1, 512)", numbers=True)
    assert str(found) == "(64, 1, 512)"
    assert not found.sure
    assert read("[64, 1, 512]", numbers=True) == []


def test_a_sentence_is_never_sure() -> None:
    for text in (
        "Reshape p_t to [batch_size, 1]",
        "layer average of the heads, get (B, Q, K)",
        "if causal the mask is (B, 1, T, T)",
        "we expect keys: (B, T, C)",
    ):
        assert all(not s.sure for s in read(text)), text


def test_one_side_of_a_condition_is_not_sure() -> None:
    assert all(not s.sure for s in read("(B, T, C) if batch_first"))


def test_the_name_in_a_step_to_come_is_left_out() -> None:
    for text in ("reshape k to (B, T, d)", "desired k shape: (B, T, d)", "expand mask to [B, 1, T]"):
        (shape,) = read(text)
        assert (shape.name, shape.sure) == (None, False), text


def test_a_name_by_itself_is_sure_and_words_are_not() -> None:
    assert [s.sure for s in read("scores (B, T, S)")] == [True]
    assert [s.sure for s in read("the raw scores (B, T, S)")] == [False]


def test_the_span_is_that_of_the_list() -> None:
    (shape,) = read("weights: (B, S)")
    assert shape.span == (1, 9, 1, 15)
    assert shape.text == "(B, S)"


EXPLICIT = {
    "shapedoc: x (B, T, d)": "x (B, T, d)",
    "shapedoc: x: (B, T, d)": "x (B, T, d)",
    "shapedoc: x = (B, T, d)": "x (B, T, d)",
    "shapedoc: (B, T)": "(B, T)",
    "shapedoc: (whatever, it, says)": "(whatever, it, says)",
    "shapedoc: q, k (B, T, d)": "q (B, T, d); k (B, T, d)",
    "shapedoc: q (B, T, d), m (B, S, d)": "q (B, T, d); m (B, S, d)",
    "shapedoc: x (B, T) -> (T, B)": "x before (B, T); x (T, B)",
    "shapedoc: bias (h,)": "bias (h,)",
    "shapedoc: x (2, 3)": "x (2, 3)",
    "shapedoc: ignore[SD401]": "",
    "shapedoc: skip-file": "",
}


@pytest.mark.parametrize("text", EXPLICIT)
def test_an_explicit_line_is_read_whatever_its_words_are(text: str) -> None:
    found = read(text)
    assert shown(found) == EXPLICIT[text]
    assert all(s.sure and s.form == "explicit" for s in found)


UNREADABLE = {
    "shapedoc: what is this": "no list of sizes in brackets is in it, as in `x (B, T, d)`",
    "shapedoc: x (B, T": "no list of sizes in brackets is in it, as in `x (B, T, d)`",
    "shapedoc: x (B, T) please": "`please` is no part of a shape",
    "shapedoc: the tensor x (B, T)": "`the tensor x` is no name of a value",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_an_explicit_line_that_does_not_parse_says_why(text: str) -> None:
    assert read_comment(text, lambda start, end: (1, start, 1, end), trailing=True) == UNREADABLE[text]


@pytest.mark.parametrize("text", ["([b, n, d] and [b, d]) --> [b, n, d]", "(B, T, D), (B, S) -> (B, T, S)"])
def test_what_becomes_of_two_shapes_is_said_of_neither(text: str) -> None:
    assert not any(shape.sure for shape in read(text))


def test_what_becomes_of_one_shape_is_said_of_it() -> None:
    assert any(shape.sure for shape in read("[b, n, d] --> [b, d]"))
