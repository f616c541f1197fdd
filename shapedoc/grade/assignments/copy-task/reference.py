"""A right solution of copy-task, and its baseline without attention."""

import torch
from torch import nn


class CopyModel(nn.Module):
    """A GRU encoder-decoder with Bahdanau attention: the weights of step t are asked for by s_{t-1}."""

    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_emb, padding_idx=0)
        self.encoder = nn.GRU(d_emb, d_hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d_hidden, d_hidden)
        self.W_a = nn.Linear(d_hidden, d_hidden, bias=False)
        self.U_a = nn.Linear(2 * d_hidden, d_hidden, bias=False)
        self.v_a = nn.Linear(d_hidden, 1, bias=False)
        self.cell = nn.GRUCell(d_emb + 2 * d_hidden, d_hidden)
        self.output = nn.Linear(3 * d_hidden + d_emb, vocab_size)

    def forward(self, source, target_in, lengths):
        """source (B, T_enc), target_in (B, T_dec), lengths (B,) -> logits (B, T_dec, V), weights (B, T_dec, T_enc)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        state = torch.tanh(self.bridge(torch.cat([last[0], last[1]], dim=-1)))  # (B, d_hidden)
        keys = self.U_a(memory)  # (B, T_enc, d_hidden)
        padding = torch.arange(source.shape[1], device=source.device) >= lengths[:, None]
        embedded = self.embedding(target_in)
        logits, weights = [], []
        for t in range(target_in.shape[1]):
            scores = self.v_a(torch.tanh(self.W_a(state)[:, None] + keys)).squeeze(-1)  # (B, T_enc)
            alpha = torch.softmax(scores.masked_fill(padding, float("-inf")), dim=-1)
            context = torch.bmm(alpha[:, None], memory).squeeze(1)  # (B, 2 * d_hidden)
            state = self.cell(torch.cat([embedded[:, t], context], dim=-1), state)
            logits.append(self.output(torch.cat([state, context, embedded[:, t]], dim=-1)))
            weights.append(alpha)
        return torch.stack(logits, dim=1), torch.stack(weights, dim=1)


class Baseline(nn.Module):
    """The same without attention: the decoder has the encoder's last state only."""

    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_emb, padding_idx=0)
        self.encoder = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.decoder = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, source, target_in, lengths):
        """source (B, T_enc), target_in (B, T_dec), lengths (B,) -> logits (B, T_dec, V)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        _, last = self.encoder(packed)
        states, _ = self.decoder(self.embedding(target_in), last)
        return self.output(states)
