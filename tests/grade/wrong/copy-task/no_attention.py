# mistake: result-missing
from torch import nn

class CopyModel(nn.Module):
    def __init__(self, vocab_size, d_emb, d_hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, d_emb)
        self.enc = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.dec = nn.GRU(d_emb, d_hidden, batch_first=True)
        self.out = nn.Linear(d_hidden, vocab_size)

    def forward(self, source, target_in, lengths):
        _, h = self.enc(self.emb(source))
        states, _ = self.dec(self.emb(target_in), h)
        return self.out(states)
