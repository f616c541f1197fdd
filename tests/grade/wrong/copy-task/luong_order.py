# mistake: queries-new-state
import torch
from torch import nn

class CopyModel(nn.Module):
    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_emb)
        self.enc = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.cell = nn.GRUCell(d_emb, d_hidden)
        self.W = nn.Linear(d_hidden, d_hidden)
        self.U = nn.Linear(d_hidden, d_hidden)
        self.v = nn.Linear(d_hidden, 1)
        self.out = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in, lengths):
        H, _ = self.enc(self.emb(source))
        s = H[torch.arange(len(source)), lengths - 1]
        pad = torch.arange(source.size(1))[None] >= lengths[:, None]
        logits, weights = [], []
        for t in range(target_in.size(1)):
            s = self.cell(self.emb(target_in[:, t]), s)
            e = self.v(torch.tanh(self.W(s)[:, None] + self.U(H))).squeeze(-1)
            a = torch.softmax(e.masked_fill(pad, -1e9), -1)
            c = (a[..., None] * H).sum(1)
            logits.append(self.out(torch.cat([s, c], -1)))
            weights.append(a)
        return torch.stack(logits, 1), torch.stack(weights, 1)
