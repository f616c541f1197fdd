"""Docstrings in the styles that people write."""

from __future__ import annotations

import textwrap

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.contracts.docstrings import read_docstring
from shapedoc.source.ir import FunctionDef
from shapedoc.source.lower_ast import lower
from shapedoc.source.walk import statements


def stated(text: str, function: str = "f") -> tuple[dict[str, str], list[str]]:
    """The parameters and results that the docstring of `function` states; ``~`` where not sure."""
    module = lower(textwrap.dedent(text))
    contracts = ModuleContracts(module)
    for stmt in statements(module):
        if isinstance(stmt, FunctionDef) and stmt.name == function:
            params = {
                name: "; ".join(f"{'' if s.sure else '~'}{s}" for s in shapes)
                for name, shapes in contracts.params(stmt).items()
            }
            results = [
                f"{'' if b.index is None else f'[{b.index}] '}{'' if b.shape.sure else '~'}{b.shape}"
                for b in contracts.returns(stmt)
            ]
            return params, results
    raise AssertionError(function)


def test_google() -> None:
    text = '''
    def f(query, keys, mask, n_heads, extra):
        """Attend.

        Args:
            query (torch.Tensor): the decoder's state, of shape (batch, d_s)
            keys: (batch, T_enc, d_h), the memory
            mask (Tensor, optional): True where there is a token. Shape: [batch, T_enc]
            n_heads (int, optional): heads, in [1, 8]
            extra: something long that goes on
                in a second line, shape (batch, d_x)

        Returns:
            Tensor: the context, shape (batch, d_h)
        """
    '''
    assert stated(text) == (
        {
            "query": "(batch, d_s)",
            "keys": "(batch, T_enc, d_h)",
            "mask": "(batch, T_enc)",
            "extra": "(batch, d_x)",
        },
        ["(batch, d_h)"],
    )


def test_google_tuple_result() -> None:
    text = '''
    def f(x):
        """
        Returns:
            context: (batch, d_h)
            weights: (batch, T_enc)
        """
    '''
    assert stated(text) == ({}, ["[0] (batch, d_h)", "[1] (batch, T_enc)"])


def test_numpy() -> None:
    text = '''
    def f(encoder_states, s_prev):
        """Score.

        Parameters
        ----------
        encoder_states : ndarray of shape (T_enc, d_h)
            All states of the encoder.
        s_prev : np.ndarray, shape (d_s,)

        Returns
        -------
        context : ndarray, shape (d_h,)
        weights : ndarray of shape (T_enc,)
            They sum to one.
        """
    '''
    assert stated(text) == (
        {"encoder_states": "(T_enc, d_h)", "s_prev": "(d_s,)"},
        ["[0] (d_h,)", "[1] (T_enc,)"],
    )


def test_sphinx_and_epytext() -> None:
    text = '''
    def f(src, state, mask):
        """
        :param src: FloatTensor (batch, src_len, d)
        :param torch.Tensor state: [layers, batch, d]
        @param mask (Tensor): the mask, shape (batch, src_len)
        :return: (batch, d)
        """
    '''
    assert stated(text) == (
        {"src": "(batch, src_len, d)", "state": "(layers, batch, d)", "mask": "(batch, src_len)"},
        ["(batch, d)"],
    )


def test_plain_names_and_x() -> None:
    text = '''
    def f(queries, values, lens):
        """
        queries: N x To x H
        values : [N, Ti, H]
        lens (batch,): the lengths
        """
    '''
    assert stated(text) == ({"queries": "(N, To, H)", "values": "(N, Ti, H)", "lens": "(batch,)"}, [])


def test_a_class_says_it_of_forward() -> None:
    text = '''
    class Attention(nn.Module):
        """Additive attention.

        Args:
            dim (int): width

        Inputs: query, memory
            - **query** (batch, 1, dim): the state
            - **memory** (batch, len, dim): the encoder's

        Outputs: context, weights
            - **context** (batch, 1, dim): the sum
            - **weights** (batch, 1, len): add up to one
        """

        def __init__(self, dim):
            pass

        def forward(self, query, memory):
            pass
    '''
    assert stated(text, "forward") == (
        {"query": "(batch, 1, dim)", "memory": "(batch, len, dim)"},
        ["[0] (batch, 1, dim)", "[1] (batch, 1, len)"],
    )
    assert stated(text, "__init__") == ({}, [])


def test_a_shape_section() -> None:
    text = '''
    class Block(nn.Module):
        r"""A block.

        Shape:
            - Input: :math:`(N, L, H_{in})` where N is the batch
            - Output: :math:`(N, L, H_{out})`
        """

        def forward(self, x):
            pass
    '''
    assert stated(text, "forward") == ({"x": "(N, L, H_in)"}, ["(N, L, H_out)"])


def test_back_quotes() -> None:
    text = '''
    def f(ids, scores):
        """
        Args:
            ids (:obj:`torch.LongTensor` of shape :obj:`(batch_size, seq_len)`): the tokens
            scores: ``(batch_size, seq_len, vocab_size)``
        """
    '''
    assert stated(text) == ({"ids": "(batch_size, seq_len)", "scores": "(batch_size, seq_len, vocab_size)"}, [])


def test_two_shapes_are_alternatives() -> None:
    text = '''
    def f(mask):
        """
        Args:
            mask: (batch, len) or (batch, 1, len)
        """
    '''
    assert stated(text) == ({"mask": "(batch, len) or (batch, 1, len)"}, [])


def test_what_states_no_shape_of_the_value() -> None:
    text = '''
    def f(layers, sizes, rate, kind, pair, fn, x):
        """
        Args:
            layers (list): list of tensors of shape (batch, d)
            sizes: [64, 128, 256]
            rate (float, optional): in [0, 1]
            kind (str): one of (dot, general)
            pair (tuple): (key, value)
            fn: called as fn(batch, time)
            x: see (Bahdanau et al., 2015)

        Example:
            x: (batch, time)

        Returns:
            tuple of (context, weights)
        """
    '''
    assert stated(text) == ({}, [])


def test_one_line_with_several_results() -> None:
    text = '''
    def f(x):
        """
        :return: context (batch, d_h), weights (batch, T_enc)
        """
    def g(x):
        """
        :return: loss (B), context (batch, d_h), weights (batch, T_enc)
        """
    '''
    assert stated(text) == ({}, ["[0] (batch, d_h)", "[1] (batch, T_enc)"])
    assert stated(text, "g") == ({}, [])


def test_what_may_be_a_number_is_not_sure() -> None:
    text = '''
    def f(scale, bias):
        """
        Args:
            scale: float or Tensor of shape (batch, d)
            bias (Tensor or None): of shape (n_heads, T)
        """
    '''
    assert stated(text) == ({"scale": "~(batch, d)", "bias": "(n_heads, T)"}, [])


def test_a_docstring_and_an_annotation_are_both_given() -> None:
    text = '''
    def f(x: Float[Tensor, "b t"]):
        """
        :param x: (batch, time, d)
        """
    '''
    assert stated(text) == ({"x": "(b, t); (batch, time, d)"}, [])


def test_the_span_is_the_line_of_the_entry() -> None:
    text = 'def f(x):\n    """Do.\n\n    Args:\n        x: (batch, time)\n    """\n'
    module = lower(text)
    (function,) = module.body
    assert isinstance(function, FunctionDef)
    (shape,) = ModuleContracts(module).params(function)["x"]
    assert shape.span == (5, 8, 5, 24)
    assert shape.form == "docstring"


def test_code_that_indexes_states_no_shape() -> None:
    text = '''
    def f(mask):
        """Attend.

        `mask[i, j, b]` indicates whether query i has access to key j.
        """
    '''
    assert stated(text) == ({}, [])


def test_the_shape_of_the_next_name_is_not_that_of_the_first() -> None:
    text = '''
    def f(query, keys, values):
        """query (d,), keys (T, d), values (T, d)."""
    '''
    assert "query" not in stated(text)[0]


def test_one_tensor_whose_sentence_ends_in_its_shape() -> None:
    said = read_docstring(
        """Align.

        Args:
            text (Tensor): Batch of embedded words (B, T_text, adim).
            masks (torch.Tensor, optional): Where words are (B, T_text)
            word : LongTensor [batch] - the word of the step before
            both (Tensor): Batch (see above) of words (B, T_text).
            many (list of Tensor): Batches of words (B, T_text).
            kind (ndarray): Numbers [float32].
            loose: Batch of embedded words (B, T_text).
        """,
        (1, 0, 11, 0),
    )
    sure = {name: str(shapes[0]) for name, shapes in said.named.items() if shapes[0].sure}
    assert sure == {"text": "(B, T_text, adim)", "masks": "(B, T_text)", "word": "(batch,)"}
    assert said.named["text"][0].prose
    assert not said.named["word"][0].prose


def test_an_input_tensor_is_what_its_name_stands_for() -> None:
    text = '''
    def f(tgt, memory, mask, after):
        """Decode.

        Args:
            tgt (torch.Tensor): Input tensor (#batch, maxlen_out, size).
            memory (torch.Tensor): Input tensor of shape (#batch, maxlen_in, size).
            mask (torch.Tensor): Mask for input tensor (#batch, maxlen_out).
            after (torch.Tensor): Input tensor (batch, size) -> (batch, n_classes)

        """
    '''
    assert stated(text) == (
        {
            "tgt": "(batch, maxlen_out, size)",
            "memory": "(batch, maxlen_in, size)",
            "mask": "(batch, maxlen_out)",
        },
        [],
    )


def test_sizes_of_one_tensor_need_no_other_evidence_than_a_batch() -> None:
    text = '''
    def f(xs, hidden, key, drawn, about):
        """Decode.

        Args:
            xs (Tensor): Batch of input sequences (B, Tmax, idim).
            hidden: torch.Tensor [seq_len, nbatch, nhid]
            key (torch.Tensor): Key tensor (#batch, time2, size).
            drawn (LongTensor): what is in the picture (person, car, bird).
            about (Tensor): the keys (see Decoder, batch) as they are

        """
    '''
    assert stated(text) == (
        {"xs": "(B, Tmax, idim)", "hidden": "(seq_len, nbatch, nhid)", "key": "(batch, time2, size)"},
        [],
    )


def test_a_parameter_that_is_set_to_a_pair_is_more_than_the_shape_of_each() -> None:
    text = '''
    def f(x, hidden):
        """Decode.

        Args:
            x: the first token, [batch_size x d_emb]
            hidden: the state before, size is [batch_size x d_s]

        """
        for step in range(10):
            h, c = cell(x, hidden)
            hidden = (h, c)
        return h
    '''
    assert stated(text) == ({"x": "~(batch_size, d_emb)"}, [])
    assert "hidden" in stated(text.replace("hidden = (h, c)", "hidden = h"))[0]


def test_an_annotation_says_of_an_entry_that_it_is_one_tensor() -> None:
    text = '''
    def f(
        hidden: torch.Tensor, mask: Optional[Tensor], cover: Tensor | None, state: tuple, seen: torch.Tensor, plain
    ):
        """Attend.

        Args:
            hidden: Current hidden state of the decoder (B, hidden_size)
            mask: Mask for what was encoded (B, T)
            cover: What was attended to (batch, T_enc).
            state: Hidden and cell state (B, d)
            seen: what is in the picture (person, car)
            plain: the last hidden state (B, d)

        """
    '''
    params, _ = stated(text)
    assert {name: shape for name, shape in params.items() if not shape.startswith("~")} == {
        "hidden": "(B, hidden_size)",
        "mask": "(B, T)",
        "cover": "(batch, T_enc)",
    }


def test_each_is_said_of_the_axes_of_one_tensor_and_of_what_is_in_a_list() -> None:
    text = '''
    def f(durations, lengths, states):
        """Regulate.

        Args:
            durations (LongTensor): Batch of durations of each frame (B, T).
            lengths (LongTensor): Batch of the lengths of each target (B,).
            states (list): one for each layer (B, T, d).

        """
    '''
    assert stated(text) == ({"durations": "(B, T)", "lengths": "(B,)"}, [])


def test_the_shape_of_what_something_is_in_is_not_its_own() -> None:
    text = '''
    def f(x, offsets, weights):
        """Convolve.

        Args:
            x: Input with shape ``[B, T, C]``.
            offsets: Where sequences begin in a packed ``[1, T, C]`` input, and where they end.
            weights: Numbers in a (B, T) layout.

        """
    '''
    assert stated(text)[0] == {"x": "(B, T, C)", "weights": "~(B, T)"}
