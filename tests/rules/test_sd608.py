"""SD608: a layout step that one of two statements lacks that are written alike."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn

from elsewhere import attend, mask_of

"""

WRONG = {
    "a mask of the same making": """
def sums(parts, encoder_x, decoder_x):
    encoder_mask = mask_of(encoder_x.size(1), parts["encoder_lengths"])
    encoder_x = encoder_x.masked_fill(encoder_mask.unsqueeze(-1), 0.0).sum(dim=1)
    decoder_mask = mask_of(decoder_x.size(1), parts["decoder_lengths"])
    decoder_x = decoder_x.masked_fill(decoder_mask, 0.0).sum(dim=1)  # <- SD608
    return encoder_x, decoder_x
""",
    "one vector that is stretched along two sequences": """
class Fusion(nn.Module):
    def forward(self, static, memory, steps, n_encoder, n_decoder):
        for_encoder = static.expand(-1, n_encoder, -1)  # <- SD608
        for_decoder = static.unsqueeze(1).expand(-1, n_decoder, -1)
        return memory + for_encoder, steps + for_decoder
""",
    "an operand at the end of its line": """
def means(con_fw, con_bw):
    att_fw = attend(con_fw)
    att_bw = attend(con_bw)
    mean_fw = con_fw.unsqueeze(2) * att_fw.unsqueeze(3)
    mean_bw = con_bw.unsqueeze(2) * att_bw  # <- SD608
    return mean_fw, mean_bw
""",
    "the same statement further down": """
def block(x, mask, first, second):
    x = first(x)
    x = x.masked_fill(mask == 0, 0)  # <- SD608
    x = second(x)
    x = x.masked_fill(mask.unsqueeze(-1) == 0, 0)
    return x
""",
    "what a function is given": """
class Decoder(nn.Module):
    def begin(self, memory):
        c_all = [self.zero_state(memory[0].unsqueeze(0))]
        z_all = [self.zero_state(memory[0])]  # <- SD608
        return c_all, z_all
""",
    "an output of two layers that are built alike": """
class Heads(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.onset_out = nn.Linear(d_model, 1)
        self.pitch_out = nn.Linear(d_model, 1)

    def forward(self, x, batch, notes, frames):
        onset_time = torch.sigmoid(self.onset_out(x).reshape(batch, notes, frames).permute(0, 2, 1).contiguous())
        pitch_time = torch.sigmoid(self.pitch_out(x).reshape(batch, notes, frames).contiguous())  # <- SD608
        return onset_time, pitch_time
""",
    "one half of a state": """
class Carried(nn.Module):
    def forward(self, states, batch):
        states = (states[0].permute(1, 0, 2).reshape(batch, -1), states[1].reshape(batch, -1))  # <- SD608
        return states
""",
    "two states that were made alike": """
def begin(model, batch, layers, d):
    hidden = next(model.parameters()).data.new(batch, layers, d)
    cell = next(model.parameters()).data.new(batch, layers, d)
    state = (hidden.zero_().permute(1, 0, 2), cell.zero_())  # <- SD608
    return state
""",
}

RIGHT = {
    "two halves that were made in other ways": """
def begin(cell, hidden, x, batch, d):
    hidden = hidden(x)
    memory = torch.zeros(1, batch, d)
    state = (hidden.unsqueeze(0), memory)
    return state
""",
    "a state and what was read with it": """
def step(cell, x, state):
    out = cell(x, state)
    both = (out[0].squeeze(1), state)
    return both
""",
    "queries and keys": """
def scores(query, key, w_query, w_key):
    query = attend(query, w_query)
    key = attend(key, w_key)
    query_part = attend(query.unsqueeze(2), 1)
    key_part = attend(key, 1)
    return query_part, key_part
""",
    "one matrix used both ways": """
def matched(scores, mask_1, mask_2):
    best_1 = attend(scores, mask_2.unsqueeze(-2), dim=2)
    best_2 = attend(scores.permute(0, 2, 1), mask_1.unsqueeze(-2), dim=2)
    return best_1, best_2
""",
    "values that are made in another way": """
class Dual(nn.Module):
    def forward(self, x, b, c, h, w):
        p_out = self.positions(x)
        c_out = self.channels(x)
        p_out = p_out.permute(0, 2, 1).view(b, c, h, w)
        c_out = c_out.view(b, c, h, w)
        return p_out + c_out
""",
    "another step before it": """
def sampled(rows_b, rows_w, ids):
    all_b = rows_b(ids).squeeze(2).squeeze(1)
    all_w = rows_w(ids).squeeze(1)
    return all_b, all_w
""",
    "two branches": """
def images(image, channels):
    if channels == 1:
        picture = image.squeeze(0).cpu().numpy()
    else:
        picture = image.cpu().numpy()
    return picture
""",
    "a variable that the first statement has changed": """
def twice(x, f):
    x = f(x.squeeze(2), 1)
    x = f(x, 1)
    return x
""",
    "an axis in front of all others": """
def stretched(first_rows, second_rows, batch):
    first = first_rows.unsqueeze(0).expand(batch, -1, -1)
    second = second_rows.expand(batch, -1, -1)
    return torch.cat((first, second), 1)
""",
    "operands of other ranks": """
class Mixed(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a_rows = nn.Parameter(torch.zeros(d))
        self.b_rows = nn.Parameter(torch.zeros(d, 1))

    def forward(self, x):
        a_sum = attend(x * self.a_rows.unsqueeze(1))
        b_sum = attend(x * self.b_rows)
        return a_sum, b_sum
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD608") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD608") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["an operand at the end of its line"], "SD608") + "\n" == MESSAGE


MESSAGE = """\
warning[SD608] unlike-twin: `mean_bw` is made without the `.unsqueeze(3)` that its twin has
  --> model.py:11:15
   |
10 |     mean_fw = con_fw.unsqueeze(2) * att_fw.unsqueeze(3)
   |               ----------------------------------------- `mean_fw` is made alike, with `.unsqueeze(3)`
11 |     mean_bw = con_bw.unsqueeze(2) * att_bw  # <- SD608
   |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = why: the two are written alike and of operands that are alike: with and without it, one of them has its axes elsewhere
   = help: att_bw.unsqueeze(3)
   = more: shapedoc explain SD608
"""
