import torch
from torch import nn


class CopyModel(nn.Module):
    """The context for the next step is computed at the end of each: Bahdanau's order, written the other way round."""

    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_emb, padding_idx=0)
        self.encode = nn.GRU(d_emb, d_hidden, batch_first=True, bidirectional=True)
        self.start = nn.Linear(d_hidden, d_hidden)
        self.W = nn.Linear(d_hidden, d_hidden, bias=False)
        self.U = nn.Linear(2 * d_hidden, d_hidden)
        self.v = nn.Linear(d_hidden, 1, bias=False)
        self.cell = nn.GRUCell(d_emb + 2 * d_hidden, d_hidden)
        self.out = nn.Linear(3 * d_hidden, vocab_size)

    def attend(self, state, memory, keys, lengths):
        scores = self.v(torch.tanh(self.W(state).unsqueeze(1) + keys)).squeeze(-1)
        padding = torch.arange(memory.shape[1]) >= lengths.unsqueeze(-1)
        weights = torch.softmax(scores.masked_fill(padding, float("-inf")), dim=-1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1), weights

    def forward(self, source, target_in, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        packed, last = self.encode(packed)
        memory = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=source.shape[1])[0]
        state = torch.tanh(self.start(last[1]))
        keys = self.U(memory)
        context, weights = self.attend(state, memory, keys, lengths)
        logits, all_weights = [], [weights]
        for token in self.embed(target_in).transpose(0, 1):
            state = self.cell(torch.cat([token, context], dim=-1), state)
            logits.append(self.out(torch.cat([state, context], dim=-1)))
            context, weights = self.attend(state, memory, keys, lengths)
            all_weights.append(weights)
        return torch.stack(logits, dim=1), torch.stack(all_weights[:-1], dim=1)
