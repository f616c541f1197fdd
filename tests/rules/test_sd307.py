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
scores, _ = decoder(tokens, state)  # <- SD307
loss = F.cross_entropy(scores.transpose(1, 2), tokens)
""",
    "both cut alike": """
scores, _ = decoder(tokens[:, 1:], state)  # <- SD307
loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
""",
    "step by step": """
loss = 0
for t in range(5):
    word = tokens[:, t]
    scores, state = decoder(word.unsqueeze(1), state)
    loss = loss + F.cross_entropy(scores.squeeze(1), word)  # <- SD307
""",
    "step by step, the scores stacked": """
class Writer(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.run, self.say = nn.Embedding(n, c), nn.GRUCell(c, c), nn.Linear(c, n)

    def forward(self, words, memory):
        said = []
        for t in range(words.size(1)):
            memory = self.run(self.table(words[:, t]), memory)
            said.append(self.say(memory))
        return torch.stack(said, dim=1)

text = torch.zeros(3, 6, dtype=torch.long)
scores = Writer(9, 4)(text[:, 1:], torch.zeros(3, 4))  # <- SD307
loss = F.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())
""",
    "a masked self-attention, the last token left out of both": """
class Causal(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.mix, self.say = nn.Embedding(n, c), nn.MultiheadAttention(c, 2, batch_first=True), nn.Linear(c, n)

    def forward(self, words):
        x = self.table(words)
        future = torch.ones(words.size(1), words.size(1), dtype=torch.bool).triu(1)
        return self.say(x + self.mix(x, x, x, attn_mask=future)[0])

def pairs(text, length):
    now = text[:, :length]
    then = text[:, :length]  # <- SD307
    return now, then

now, then = pairs(torch.zeros(3, 6, dtype=torch.long), 5)
loss = F.cross_entropy(Causal(9, 4)(now).flatten(0, 1), then.flatten())
""",
    "a model of which nothing is known": """
def cost(net, text):
    scores = net(text[:, 1:])  # <- SD307
    return F.cross_entropy(scores.flatten(0, 1), text[:, 1:].flatten())
""",
    "a buffer whose first place is never written": """
def write(cell, table, say, words, memory, n):
    said = torch.zeros(words.size(0), words.size(1), n)
    for t in range(1, words.size(0)):
        memory = cell(table(words[t - 1]), memory)
        said[t] = say(memory)
    return said

text = torch.zeros(6, 3, dtype=torch.long)
said = write(nn.GRUCell(4, 4), nn.Embedding(9, 4), nn.Linear(4, 9), text, torch.zeros(3, 4), 9)
loss = F.cross_entropy(said.view(-1, 9), text.view(-1))  # <- SD307
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
    "the first place left out of both": """
said = torch.zeros(6, 3, 11)
text = torch.zeros(6, 3, dtype=torch.long)
for t in range(1, 6):
    scores, state = decoder(text[t - 1].unsqueeze(1), torch.zeros(1, 3, 7))
    said[t] = scores.squeeze(1)
loss = F.cross_entropy(said[1:].flatten(0, 1), text[1:].flatten())
""",
    "one masked word for another, with no order": """
class Both(nn.Module):
    def __init__(self, n, c):
        super().__init__()
        self.table, self.mix, self.say = nn.Embedding(n, c), nn.MultiheadAttention(c, 2, batch_first=True), nn.Linear(c, n)

    def forward(self, words):
        x = self.table(words)
        return self.say(x + self.mix(x, x, x)[0])

loss = F.cross_entropy(Both(9, 4)(tokens).flatten(0, 1), tokens.flatten())
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
  --> model.py:19:13
   |
12 |         output, state = self.rnn(self.embed(tokens), state)
   |                                  ------------------ tokens goes in here
19 | scores, _ = decoder(tokens, state)  # <- SD307
   |             ^^^^^^^^^^^^^^^^^^^^^^
20 | loss = F.cross_entropy(scores.transpose(1, 2), tokens)
   |                                                ------ tokens is to be predicted
   = why: at step t a decoder reads the tokens before t and predicts token t; fed token t it learns to copy
   = help: feed `tokens[:, :-1]`, and compare with `tokens[:, 1:]`
   = more: shapedoc explain SD307
"""
