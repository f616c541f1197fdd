import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self, embedding, d_emb, d_hidden):
        super().__init__()
        self.embedding = embedding
        self.rnn = nn.GRU(d_emb, d_hidden, bidirectional=True, batch_first=True)
        self.to_state = nn.Linear(2 * d_hidden, d_hidden)

    def forward(self, source, lengths):
        packed = pack_padded_sequence(self.embedding(source), lengths, batch_first=True, enforce_sorted=False)
        outputs, hidden = self.rnn(packed)
        memory, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.size(1))
        return memory, torch.tanh(self.to_state(hidden.transpose(0, 1).flatten(1)))


class AdditiveAttention(nn.Module):
    def __init__(self, d_state, d_memory, d_attn):
        super().__init__()
        self.query = nn.Linear(d_state, d_attn)
        self.key = nn.Linear(d_memory, d_attn, bias=False)
        self.score = nn.Parameter(torch.randn(d_attn) * d_attn**-0.5)

    def forward(self, state, memory, mask):
        scores = torch.tanh(self.query(state).unsqueeze(1) + self.key(memory)) @ self.score
        weights = torch.softmax(scores.masked_fill(mask, -torch.inf), dim=-1)
        return torch.einsum("bt,bth->bh", weights, memory), weights


class CopyModel(nn.Module):
    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_emb)
        self.encoder = Encoder(self.embedding, d_emb, d_hidden)
        self.attention = AdditiveAttention(d_hidden, 2 * d_hidden, d_hidden)
        self.cell = nn.GRUCell(d_emb + 2 * d_hidden, d_hidden)
        self.readout = nn.Sequential(nn.Linear(3 * d_hidden, d_hidden), nn.Tanh(), nn.Linear(d_hidden, vocab_size))

    def forward(self, source, target_in, lengths):
        memory, state = self.encoder(source, lengths)
        mask = torch.arange(source.size(1)) >= lengths.unsqueeze(1)
        logits, alphas = [], []
        for t in range(target_in.size(1)):
            context, alpha = self.attention(state, memory, mask)
            state = self.cell(torch.cat([self.embedding(target_in[:, t]), context], dim=1), state)
            logits.append(self.readout(torch.cat([state, context], dim=1)))
            alphas.append(alpha)
        return torch.stack(logits, dim=1), torch.stack(alphas, dim=1)
