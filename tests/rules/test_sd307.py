"""SD307: a decoder reads the tokens before the one it predicts."""

from __future__ import annotations

import pytest

from tests.rules.expectations import expected, found, full_text

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Decoder(nn.Module):
    def __init__(self, vocab=11, d=3, h=7):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(vocab, d), nn.GRU(d, h, batch_first=True), nn.Linear(h, vocab)

    def forward(self, tokens, state):
        output, state = self.rnn(self.embed(tokens), state)
        return self.out(output), state


tokens, state = torch.zeros(2, 5, dtype=torch.long), torch.zeros(1, 2, 7)
decoder = Decoder()
"""

WRONG = {
    "the whole sequence": """
scores, _ = decoder(tokens, state)
loss = F.cross_entropy(scores.transpose(1, 2), tokens)  # <- SD307
""",
    "both cut alike": """
scores, _ = decoder(tokens[:, 1:], state)
loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())  # <- SD307
""",
    "step by step": """
loss = 0
for t in range(5):
    word = tokens[:, t]
    scores, state = decoder(word.unsqueeze(1), state)
    loss = loss + F.cross_entropy(scores.squeeze(1), word)  # <- SD307
""",
}

RIGHT = {
    "shifted": """
scores, _ = decoder(tokens[:, :-1], state)
loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
""",
    "the scores are shifted": """
scores, _ = decoder(tokens, state)
loss = F.cross_entropy(scores[:, :-1].transpose(1, 2), tokens[:, 1:])
""",
    "a start token before": """
start = torch.ones(2, 1, dtype=torch.long)
scores, _ = decoder(torch.cat((start, tokens[:, :-1]), 1), state)
loss = F.cross_entropy(scores.transpose(1, 2), tokens)
""",
    "teacher forcing": """
loss, word = 0, torch.ones(2, dtype=torch.long)
for t in range(5):
    scores, state = decoder(word.unsqueeze(1), state)
    loss = loss + F.cross_entropy(scores.squeeze(1), tokens[:, t])
    word = tokens[:, t]
""",
    "tags of the same words": """
tags = torch.zeros(2, 5, dtype=torch.long)
scores, _ = decoder(tokens, state)
loss = F.cross_entropy(scores.transpose(1, 2), tags)
""",
    "an autoencoder through its state": """
encoder = nn.GRU(3, 7, batch_first=True)
_, summary = encoder(decoder.embed(tokens))
scores, _ = decoder(torch.ones(2, 5, dtype=torch.long), summary)
loss = F.cross_entropy(scores.transpose(1, 2), tokens)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    text = HEAD + WRONG[name]
    assert expected(text)
    assert found(text, "SD307") == expected(text)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_silent(name: str) -> None:
    assert found(HEAD + RIGHT[name], "SD307") == []


def test_the_message() -> None:
    assert full_text(HEAD + WRONG["the whole sequence"], "SD307") + "\n" == MESSAGE


MESSAGE = """\
error[SD307] target-not-shifted: the decoder is fed the very tokens that it is asked to predict: tokens
  --> model.py:20:48
   |
12 |         output, state = self.rnn(self.embed(tokens), state)
   |                                  ------------------ tokens goes in here
20 | loss = F.cross_entropy(scores.transpose(1, 2), tokens)  # <- SD307
   |                                                ^^^^^^
   = why: at step t a decoder reads the tokens before t and predicts token t; fed token t it learns to copy
   = help: feed `tokens[:, :-1]`, and compare with `tokens[:, 1:]`
   = more: shapedoc explain SD307
"""
