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
}


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(name: str) -> None:
    found = analyse("model.py", HEAD + RIGHT[name].lstrip("\n"), Settings(roots=())).findings
    assert [(f.code, f.span.line, f.message) for f in found if f.severity != "note"] == []
