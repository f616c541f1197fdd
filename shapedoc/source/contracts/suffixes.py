"""Shape suffixes: ``q_BTD`` is (B, T, D).

One capital letter for each axis. A file is taken to use them only where several names do, with letters in common:
``loss_CE``, ``to_RGB`` and ``is_GPU`` are no shapes.

Source: Noam Shazeer, "Shape Suffixes", 2024.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from shapedoc.source.contracts.lexicon import words
from shapedoc.source.contracts.stated import DimExpr, Named

__all__ = ["read_suffix", "suffixed_names"]

_SUFFIXED = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*_([A-Z]{1,6})\Z")
_ACRONYMS = words(
    """AI API AUC BCE BERT BGR BIO BOS BPE CE CER CLS CLI CNN CPU CSV CTC CUDA DDP DIR DNN EMA EOS ES FC FFN FN FP GAN
    GAT GCN GELU GPU GRU GT HF HR HTML HTTP ID IDS IO IOU JSON KL KV L LAS LM LN LR LSTM MAE ML MLM MLP MSE NLL NLP NN
    NSP OCR OOV OS PAD PE PNG POS QA QK QKV RAM RELU RGB RL RNN ROI SDPA SGD SOS SOTA SQL SRC SVD SVM TF TN TP TPU TXT
    UNK URL VAE VIT VQ VRAM WER X XML Y YAML Z BN"""
)


def read_suffix(name: str) -> tuple[DimExpr, ...] | None:
    """The axes that a name ends with, whatever the rest of the file does."""
    if not name or not name[-1].isupper() or "_" not in name:
        return None
    match = _SUFFIXED.match(name)
    if match is None or match.group(1) in _ACRONYMS:
        return None
    return tuple(Named(letter) for letter in match.group(1))


def suffixed_names(names: Iterable[str]) -> frozenset[str]:
    """Those of `names` whose suffix is a shape: at least three, nearly every letter in two of them or more."""
    found = {n: read_suffix(n) for n in set(names)}
    dims = {n: d for n, d in found.items() if d is not None}
    if len(dims) < 3:
        return frozenset()
    if sum(len(d) > 1 for d in dims.values()) < 2:
        return frozenset()  # `net_G`, `net_D`
    seen = Counter(str(letter) for letters in dims.values() for letter in set(map(str, letters)))
    shared = {letter for letter, count in seen.items() if count > 1}
    good = [n for n, letters in dims.items() if any(str(x) in shared for x in letters)]
    if len(good) < 3 or len(good) * 4 < len(dims) * 3 or len(shared) < 2:
        return frozenset()
    return frozenset(good)
