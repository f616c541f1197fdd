"""Numbers for sizes: distinct primes, multiples where the code divides one size by another."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["schemes"]

_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_LONG = re.compile(r"max|block|context_len|seq_len|vocab|words|n_tokens")
_DIVIDED = re.compile(r"(?:self\.)?(\w+)\s*(?://|%)\s*(?:self\.)?([A-Za-z_]\w*)")
_HEADS = re.compile(r"MultiheadAttention\(\s*(?:self\.)?(\w+)\s*,\s*(?:num_heads\s*=\s*)?(?:self\.)?(\w+)")
_HALVED = re.compile(r"//\s*2\b|chunk\(2\b|0\s*::\s*2|,\s*2\)|%\s*2\b")


def schemes(names: Sequence[str], text: str, given: Mapping[str, str]) -> tuple[dict[str, int], ...]:
    """Several ways to give numbers to names: as distinct as the code allows, then even ones, then equal ones."""
    pairs = {(a, b) for a, b in (*_DIVIDED.findall(text), *_HEADS.findall(text)) if a != b}
    divisors = {b for _, b in pairs} & set(names)
    divisors |= {name for name in names if re.search(r"heads?$|n_h$|^h$", name)}
    even = bool(_HALVED.search(text))
    ways = [_numbers(names, pairs, divisors, given, factor) for factor in ((2, 1) if even else (1, 2))]
    width = [name for name in names if name not in divisors and not _LONG.search(name)]
    ways.append({**ways[-1], **dict.fromkeys((n for n in width if n not in given), 24)})
    return tuple(way for index, way in enumerate(ways) if way not in ways[:index])


def _numbers(
    names: Sequence[str], pairs: set[tuple[str, str]], divisors: set[str], given: Mapping[str, str], factor: int
) -> dict[str, int]:
    fixed = {name: int(value) for name, value in given.items() if re.fullmatch(r"\d+", value)}
    primes = iter(prime for prime in _PRIMES if prime not in fixed.values())
    small = iter((2, 3, 5))
    made = dict(fixed)
    for name in names:
        if name in divisors and name not in made:
            made[name] = next(small, 1)
    heads = next((made[name] for name in names if name in divisors), 2)
    for name in names:
        if name in made:
            continue
        parts = [made.get(b, heads) for a, b in pairs if a == name]
        wide = bool(divisors) and re.search(r"d_model|embed|n_embd|^dim$|^d$|hidden|emb", name) is not None
        number = next(primes, 101)
        for part in dict.fromkeys(parts or ([heads] if wide else [])):
            number *= max(1, part)
        if _LONG.search(name):
            made[name] = number + 60 if number < 60 else number
        else:
            made[name] = number if number % 2 == 0 else number * factor
    return made
