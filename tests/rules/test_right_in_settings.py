"""Right code in which a setting, a count or a search decides what happens, of kinds that were once told as wrong."""

from __future__ import annotations

import pytest

from shapedoc.engine.analysis import analyse
from shapedoc.engine.request import Settings

HEAD = "import torch\nimport torch.nn as nn\n\n\n"

RIGHT = {
    "two settings that an assert says are never on together": """
class Loss(nn.Module):
    def __init__(self, drop=True, weigh=False):
        super().__init__()
        assert (drop != weigh) or not drop
        self.drop, self.weigh = drop, weigh

    def forward(self, guess, target, mask):
        if self.drop:
            target = target.masked_select(mask)
            guess = guess.masked_select(mask)
        loss = (guess - target).abs()
        if self.weigh:
            loss = loss / target.size(2)
        return loss.mean()
""",
    "two models of one class with another decoder in each": """
class Plain(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out = nn.Linear(d, d)

    def forward(self, x):
        return self.out(x), torch.softmax(x, dim=-1)


class Mixed(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.out, self.domain = nn.Linear(d, d), nn.Linear(d, 3)

    def forward(self, x):
        return self.out(x), torch.softmax(x, dim=-1), self.domain(x)


class Model(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder


def build(config, d):
    if config["mixed"] == "encoder":
        decoder = Plain(d)
        model = Model(decoder)
    else:
        decoder = Mixed(d)
        model = Model(decoder)
    return model


def translate(model, x, config):
    if config["mixed"] == "both":
        output, weights, _ = model.decoder(x)
    else:
        output, weights = model.decoder(x)
    return output, weights


def main(config):
    return translate(build(config, 16), torch.randn(2, 5, 16), config)
""",
    "the last of many layers, which a count tells": """
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out, self.scale = nn.Linear(d, 3 * d), nn.Linear(d, d), d**-0.5

    def forward(self, x, with_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        weights = torch.softmax(self.scale * (q @ k.transpose(-2, -1)), dim=-1)
        if with_weights:
            return weights[:, None]
        return self.out(weights @ v)


class Stack(nn.Module):
    def __init__(self, d, depth):
        super().__init__()
        self.depth = depth
        self.blocks = nn.ModuleList([])
        for _ in range(depth):
            self.blocks.append(Block(d))

    def forward(self, x, with_weights=False):
        at = 0
        for block in self.blocks:
            if at >= self.depth - 1 and with_weights:
                x = block(x, with_weights=True)
            else:
                x = block(x)
            at += 1
        return x


def shown(weights):
    return weights[:, 0, 1:].reshape(weights.shape[0], -1)


def main():
    weights = Stack(64, depth=12)(torch.randn(2, 9, 64), with_weights=True)
    for one in weights:
        shown(one)


main()
""",
    "a search for one example, whose batch of one is squeezed": """
class Decoder(nn.Module):
    def __init__(self, d, n_words):
        super().__init__()
        self.embed = nn.Embedding(n_words, d)
        self.lstm = nn.LSTM(d, d, batch_first=True)
        self.out = nn.Linear(d, n_words)

    def search(self, features, states=None, width=5):
        '''Search from one picture.
        features = [b, d]
        '''
        # [b, 1, d]
        inputs = features.unsqueeze(1)
        beam = [[[], 0.0, inputs, states]]
        for _ in range(40):
            candidates = []
            for kept in beam:
                hidden, states = self.lstm(kept[2], kept[3])
                scores = torch.log_softmax(self.out(hidden.squeeze(1)), -1)
                # [b, n_words]
                # [b, k]
                best, words = scores.topk(width, 1)
                # [k]
                words = words.squeeze(0)
                for i in range(width):
                    after, score = kept[0][:], kept[1]
                    after.append(words[i].item())
                    score += best[0][i].item()
                    inputs = self.embed(words[i].unsqueeze(0)).unsqueeze(0)
                    candidates.append([after, score, inputs, states])
            beam = sorted(candidates, key=lambda c: c[1], reverse=True)[:width]
        return [kept[0] for kept in beam]


class Captioner(nn.Module):
    def __init__(self, d, n_words):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, d), nn.Dropout(0.5))
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm1d(d)
        self.decoder = Decoder(d, n_words)

    def search(self, images, width=5):
        features = nn.functional.avg_pool2d(torch.relu(self.conv(images)), kernel_size=7).view(images.size(0), -1)
        return self.decoder.search(features=self.norm(self.encoder(features)), width=width)
""",
    "a beam whose hypotheses keep their states": """
class Decoder(nn.Module):
    def __init__(self, n_words, d):
        super().__init__()
        self.embed = nn.Embedding(n_words, d)
        self.cell = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, n_words)

    def step(self, word, hidden):
        output, hidden = self.cell(self.embed(word), hidden)
        return self.out(output), hidden

    def forward(self, hidden, width=4):
        beam = []
        for _ in range(width):
            beam.append({"words": [torch.zeros(1, 1, dtype=torch.long)], "hidden": hidden.clone(), "score": 0.0})
        for _ in range(20):
            candidates = []
            for kept in beam:
                scores, after = self.step(kept["words"][-1], kept["hidden"])
                best, words = torch.log_softmax(scores, dim=-1).topk(width)
                for k in range(width):
                    candidates.append(
                        {
                            "words": kept["words"] + [words[:, :, k]],
                            "hidden": after.clone(),
                            "score": kept["score"] + best[0, 0, k].item(),
                        }
                    )
            beam = sorted(candidates, key=lambda c: c["score"], reverse=True)[:width]
        return beam[0]["hidden"]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
