import torch
import torch.nn as nn


class CopyModel(nn.Module):
    """An encoder in one direction, which padding at the end cannot reach; nothing is packed."""

    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_emb)
        self.enc = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.dec = nn.GRU(d_emb + d_hidden, d_hidden, batch_first=True)
        self.attn = nn.Linear(2 * d_hidden, d_hidden)
        self.v = nn.Linear(d_hidden, 1)
        self.out = nn.Linear(2 * d_hidden, vocab_size)

    def forward(self, source, target_in, lengths):
        H, _ = self.enc(self.emb(source))
        s = H[torch.arange(len(H)), lengths - 1]
        mask = torch.arange(H.size(1))[None] < lengths[:, None]
        outs, weights = [], []
        for y in self.emb(target_in).unbind(1):
            both = torch.cat([s[:, None].expand(-1, H.size(1), -1), H], dim=2)
            e = self.v(torch.tanh(self.attn(both))).squeeze(2)
            a = e.masked_fill(~mask, -1e9).softmax(dim=1)
            c = (a[:, :, None] * H).sum(1)
            _, h_n = self.dec(torch.cat([y, c], dim=1)[:, None], s[None])
            s = h_n[0]
            outs.append(self.out(torch.cat([s, c], dim=1)))
            weights.append(a)
        return torch.stack(outs, 1), torch.stack(weights, 1)
