"""The harness's own loops for models: training with teacher forcing, and greedy decoding that never sees a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from shapedoc.grade.plan import Decode, Train

__all__ = ["decode", "train"]

Model = Callable[[dict[str, Any]], Any]

_tensor = torch.from_numpy


def train(step: Train, model: Model, module: Any) -> torch.Tensor:
    """Adam on the cross-entropy of the logits (batch, T, vocabulary); returns the loss of every step, (steps,)."""
    if not isinstance(module, nn.Module):
        raise TypeError(f"a {type(module).__name__} is no torch.nn.Module, so it cannot be trained")
    parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters, lr=step.lr)
    ignored = -100 if step.pad is None else step.pad
    batches = {name: _tensor(array.copy()) for name, array in step.batches.items()}
    targets = _tensor(step.target.copy()).long()
    module.train()
    losses = []
    for number, target in enumerate(targets):
        logits = _first(model({name: batch[number] for name, batch in batches.items()}))  # (batch, T, vocabulary)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=ignored)
        optimizer.zero_grad()
        loss.backward()
        if step.clip is not None:
            nn.utils.clip_grad_norm_(parameters, step.clip)
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def decode(step: Decode, model: Model, module: Any) -> tuple[torch.Tensor, ...]:
    """Predictions (B, steps), and what else the model returned at the last step."""
    source = _tensor(step.source.copy())
    prefix = torch.full((len(source), 1), step.start, dtype=source.dtype)
    source_name, prefix_name, lengths_name = step.names
    given = {source_name: source}
    if step.lengths is not None:
        given[lengths_name] = _tensor(step.lengths.copy())
    if isinstance(module, nn.Module):
        module.eval()
    result: Any = ()
    with torch.no_grad():
        for _ in range(step.steps):
            # The order of the arguments is the order in which a call by position takes them.
            named = {source_name: source, prefix_name: prefix.clone(), **given}
            result = model(named)
            token = _first(result)[:, -1].argmax(-1, keepdim=True)  # (B, 1)
            prefix = torch.cat([prefix, token.to(prefix.dtype)], 1)
    rest = tuple(result[1:]) if isinstance(result, tuple | list) else ()
    return prefix[:, 1:], *rest


def _first(result: Any) -> Any:
    found = result[0] if isinstance(result, tuple | list) else result
    if not isinstance(found, torch.Tensor):
        raise TypeError(f"the model returned a {type(found).__name__} where logits are expected")
    return found
