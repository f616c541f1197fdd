"""Random numbers: of given sizes, around means, drawn with probabilities."""

from __future__ import annotations

from shapedoc.core.dim import Dim
from shapedoc.core.value import Float, Int, NoneValue, Seq, Tensor, Value
from shapedoc.ops.calling.bind import as_tensor
from shapedoc.ops.calling.context import OpContext
from shapedoc.ops.calling.needs import NONE
from shapedoc.ops.create import asked, dtype_of, made
from shapedoc.ops.kinds import kind_of_dtype
from shapedoc.ops.meeting.broadcast import broadcast
from shapedoc.ops.registry import named, op

__all__ = ["normal", "randint"]


@op(*named("rand_like randn_like", "torch"))
def rand_like(at: OpContext, input: Tensor, **settings: Value) -> Value:
    """Random numbers in a tensor of another's sizes.

    input (*) -> (*)
    Source: PyTorch documentation, torch.rand_like.
    """
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(settings.get("dtype", NoneValue())))


@op("torch.randint_like")
def randint_like(at: OpContext, input: Tensor, low: Value, high: Value = NONE, **settings: Value) -> Value:
    """Random whole numbers in a tensor of another's sizes and dtype.

    input (*) -> (*)
    Source: PyTorch documentation, torch.randint_like.
    """
    return at.tensor(at.shape(input), input, kind=kind_of_dtype(settings.get("dtype", NoneValue())))


@op("torch.randint")
def randint(at: OpContext, *limits: Value, **settings: Value) -> Value:
    """Random whole numbers below a limit, in a tensor of these sizes.

    high, size (n, m) -> (n, m); low, high, size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.randint.
    """
    given = limits[0]
    size = settings.get("size", settings.get("shape"))
    if size is None and isinstance(given, Seq) and given.items:
        size = given.items[-1]
    if size is None:
        at.lost("the sizes are not known")
    return made(at, asked(at, size, settings), "int", dtype_of(settings))


@op("torch.normal")
def normal(at: OpContext, mean: Value, std: Value = NONE, *size: Value, **settings: Value) -> Value:
    """Random numbers around means, in a tensor of their sizes or of given ones.

    mean (*) -> (*); numbers and size (n, m) -> (n, m)
    Source: PyTorch documentation, torch.normal.
    """
    given = settings.get("size", size[0] if size else NoneValue())
    if isinstance(given, NoneValue) or (isinstance(given, Seq) and not given.items):
        tensors = [v if isinstance(v, Tensor) else as_tensor(v) for v in (mean, std) if not isinstance(v, Float | Int)]
        if tensors:
            return at.tensor(broadcast(at, *tensors), tensors[0], kind="float")
    return made(at, asked(at, given, {}), "float", dtype_of(settings))


@op("torch.randperm")
def randperm(at: OpContext, n: Dim, **settings: Value) -> Value:
    """The numbers below n in random order.

    n -> (n,)
    Source: PyTorch documentation, torch.randperm.
    """
    return made(at, (at.axis(n),), "int", dtype_of(settings))


@op("torch.multinomial", "torch.Tensor.multinomial")
def multinomial(at: OpContext, input: Tensor, num_samples: Dim, replacement: Value = NONE,
                **settings: Value) -> Value:  # fmt: skip
    """Draw places along the last axis.

    input (*, n), num_samples k -> (*, k)
    Conflict: the rank is neither 1 nor 2.
    Source: PyTorch documentation, torch.multinomial.
    """
    at.suffix(input, 1)
    shape = at.shape(input)
    if shape.run is None:
        at.need_rank(input, 1, 2)
    return at.tensor((*shape.items[:-1], at.axis(num_samples)), input, kind="int")


@op("torch.bernoulli", "torch.Tensor.bernoulli", "torch.poisson")
def bernoulli(at: OpContext, input: Tensor, *options: Value, **settings: Value) -> Value:
    """Random numbers with a parameter for each.

    input (*) -> (*)
    Source: PyTorch documentation, torch.bernoulli.
    """
    return at.tensor(at.shape(input), input)
