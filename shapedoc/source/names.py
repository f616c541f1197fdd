"""Qualified names: what an import binds, and one spelling for what libraries export under several."""

from __future__ import annotations

import re
from functools import lru_cache

from shapedoc.source.ir import Import

__all__ = ["absolute", "canonical", "resolve_import"]

# Where a name is defined or once was -> where the documentation has it. The rest of the name must be one identifier.
_HOMES = {
    "torch.functional": "torch",
    "torch._VF": "torch",
    "torch._C": "torch",
    "torch._C._VariableFunctions": "torch",
    "torch._C._nn": "torch.nn.functional",
    "torch._C._TensorBase": "torch.Tensor",
    "torch._tensor": "torch",
    "torch.types": "torch",
    "torch.autograd.variable": "torch.autograd",
    "torch.nn.parallel.data_parallel": "torch.nn",
    "torch.nn.parameter": "torch.nn",
    "einops.einops": "einops",
    "einops.packing": "einops",
    "einops._torch_specific": "einops",
    "jaxtyping._array_types": "jaxtyping",
    "jaxtyping._decorator": "jaxtyping",
    "numpy.linalg.linalg": "numpy.linalg",
    "numpy.linalg._linalg": "numpy.linalg",
    "numpy.random.mtrand": "numpy.random",
    "numpy.random._generator": "numpy.random",
    "numpy.fft._pocketfft": "numpy.fft",
    "numpy.matrixlib.defmatrix": "numpy",
}
_TORCH_MODULE = re.compile(r"torch\.nn\.modules\.(?:[a-z_]\w*\.)*([A-Z]\w*)(.*)", re.DOTALL)
_NUMPY_LIB_HOMES = frozenset(
    (
        "arraypad",
        "arraysetops",
        "function_base",
        "index_tricks",
        "nanfunctions",
        "polynomial",
        "shape_base",
        "twodim_base",
        "type_check",
        "ufunclike",
    )
)
_NUMPY_CORE_HOMES = frozenset(
    (
        "_multiarray_umath",
        "einsumfunc",
        "fromnumeric",
        "function_base",
        "multiarray",
        "numeric",
        "numerictypes",
        "shape_base",
        "umath",
    )
)
_LAPACK = re.compile(r"torch\._C\._linalg\.linalg_(\w+)")
_ROOTS = ("torch.", "numpy.", "einops.", "jaxtyping.")


def resolve_import(node: Import) -> dict[str, str]:
    """Local names to the qualified names that an import binds them to.

    ``import a.b`` binds ``a`` to ``a``; ``import a.b as c`` binds ``c`` to ``a.b``. A relative import keeps its dots
    (``from ..m import x`` binds ``x`` to ``..m.x``, see `absolute`). ``from m import *`` gives ``{"*": "m"}``: a
    name that is bound nowhere else may be ``m.name``.
    """
    bound: dict[str, str] = {}
    if node.module is None:
        for name, alias in node.names:
            if alias is not None:
                bound[alias] = canonical(name)
            else:
                root = name.partition(".")[0]
                bound[root] = root
        return bound
    prefix = "." * node.level + node.module
    for name, alias in node.names:
        if name == "*":
            bound["*"] = prefix
        else:
            qualified = prefix + name if prefix.endswith(".") else f"{prefix}.{name}"
            bound[alias or name] = canonical(qualified)
    return bound


@lru_cache(maxsize=8192)
def canonical(qualified: str) -> str:
    """The documented spelling of a qualified name; one that is no re-export comes back as it is.

    ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``, ``torch.functional.einsum`` is ``torch.einsum``,
    ``numpy.core.numeric.ones`` is ``numpy.ones``. What follows the name (a method) stays. The functions of
    ``jax.numpy`` go by NumPy's names: they take and give what those do.
    """
    if f"{qualified}.".startswith("jax.numpy."):
        qualified = qualified.removeprefix("jax.")
    while qualified.startswith(_ROOTS) and (better := _nearer(qualified)) != qualified:
        qualified = better
    return qualified


def _nearer(qualified: str) -> str:
    """One step towards the documented spelling."""
    if qualified.startswith("torch.nn.modules.") and (match := _TORCH_MODULE.fullmatch(qualified)):
        return f"torch.nn.{match[1]}{match[2]}"
    if match := _LAPACK.fullmatch(qualified):
        return f"torch.linalg.{match[1]}"
    if qualified.startswith("numpy.") and (better := _numpy(qualified)) != qualified:
        return better
    parts = qualified.split(".")
    for length in range(min(len(parts) - 1, 4), 1, -1):
        home = _HOMES.get(".".join(parts[:length]))
        if home is not None and not parts[length].startswith("_"):
            return ".".join([home, *parts[length:]])
    return qualified


def _numpy(qualified: str) -> str:
    """NumPy's names without the private or historical modules that define them."""
    _, area, *rest = qualified.split(".")
    if area in ("core", "_core"):
        homes = _NUMPY_CORE_HOMES
    elif area == "lib" and len(rest) > 1:
        homes = _NUMPY_LIB_HOMES
    else:
        return qualified
    if rest and (rest[0] in homes or rest[0].removesuffix("_impl").removeprefix("_") in homes):
        return ".".join(["numpy", *rest[1:]])
    return qualified if area == "lib" else ".".join(["numpy", *rest])


def absolute(qualified: str, module: str, *, package: bool) -> str | None:
    """A relative qualified name as seen from `module`; `package` where that module is an ``__init__``.

    None: there are more dots than packages. An absolute name comes back as it is.
    """
    name = qualified.lstrip(".")
    level = len(qualified) - len(name)
    if not level:
        return qualified
    parents = module.split(".") if module else []
    if not package:
        parents = parents[:-1]
    if level - 1 >= len(parents):
        return None
    kept = parents[: len(parents) - (level - 1)]
    return canonical(".".join([*kept, name]))
