"""What is imported and run once in the fork server, so that no child has to: torch, its lazy parts, the usual modules.

A child of root becomes nobody, who may not be able to read where Python lies (below /root). Then the whole standard
library is loaded here.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import stat
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["NOBODY", "reachable", "settled", "up"]

_USUAL = (
    "abc", "argparse", "ast", "bisect", "cmath", "collections.abc", "contextlib", "copy", "csv", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "gc", "getpass", "heapq", "importlib.metadata", "inspect",
    "io", "itertools", "json", "logging", "math", "numbers", "operator", "os", "pathlib", "pickle", "platform",
    "pprint", "queue", "random", "re", "shutil", "socket", "statistics", "string", "subprocess", "tempfile",
    "textwrap", "threading", "time", "timeit", "traceback", "types", "typing", "unittest", "warnings", "weakref",
    "ctypes", "multiprocessing", "numpy.linalg", "numpy.random", "numpy.testing", "torch.nn.functional", "torch.optim",
    "torch.nn.utils.rnn", "torch.utils.data", "torch.nn.init", "torch.autograd", "torch.testing",
    "torch.optim.lr_scheduler",
)  # fmt: skip
_NEVER = (
    "antigravity", "this", "idlelib", "lib2to3", "test", "tkinter", "turtle", "turtledemo", "ensurepip", "venv",
    "pydoc_data", "site", "sitecustomize", "usercustomize",
)  # fmt: skip
_PACKAGES = (
    "collections", "concurrent", "concurrent.futures", "ctypes", "email", "encodings", "html", "http", "importlib",
    "importlib.resources", "json", "logging", "multiprocessing", "unittest", "urllib", "xml", "xml.etree", "numpy",
    "torch", "torch.distributions", "torch.nn", "torch.nn.utils", "torch.optim",
)  # fmt: skip
NOBODY = 65534
_INSTALLED = ("einops", "typing_extensions", "einops.layers.torch")


def up() -> None:
    """Import everything, on one thread, and run what torch loads at its first use."""
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    for name in _USUAL:
        importlib.import_module(name)
    for name in _INSTALLED:
        with suppress(ImportError):
            importlib.import_module(name)
    from shapedoc.grade.jail import child, imports, landlock, seccomp, training  # noqa: F401

    _exercise()
    standard = Path(sysconfig.get_path("stdlib"))
    if not reachable(standard, os.getuid() or NOBODY):
        _load_all(standard)


def reachable(path: Path, user: int) -> bool:
    """Whether a user may read a folder and pass through those above it, by their modes alone."""
    for each in (path, *path.resolve().parents):
        state = each.stat()
        wanted = (stat.S_IRUSR if each == path else 0) | stat.S_IXUSR
        bits = state.st_mode if state.st_uid == user else state.st_mode << 6
        if bits & wanted != wanted:
            return False
    return True


def _load_all(standard: Path) -> None:
    """Import the standard library, but for what opens windows, talks or belongs to other programs."""
    for module in pkgutil.iter_modules([str(standard), str(standard / "lib-dynload")]):
        if module.name not in _NEVER and not module.name.startswith("_test"):
            _load(module.name)
    for name in _PACKAGES:
        package = sys.modules.get(name)
        if package is not None:
            for module in pkgutil.iter_modules(package.__path__, f"{name}."):
                if not module.name.endswith("__main__"):
                    _load(module.name)


def _load(name: str) -> None:
    with suppress(Exception, SystemExit):
        importlib.import_module(name)


def settled() -> Callable[[], None]:
    """What a child does to the server's own state, so that no submission stumbles over it.

    All that can be found out is found out now: to look at every module in a child copies a page of memory for each.
    """
    from shapedoc.grade.jail import imports

    own = [name for name in sys.modules if name == "__main__" or name.partition(".")[0] == "shapedoc"]
    paths = [path for path in sys.path if path.startswith((sys.prefix, sys.base_prefix, sys.exec_prefix))]

    def settle() -> None:
        sys.argv = ["submission.py"]
        for name in own:
            del sys.modules[name]
        sys.path[:] = paths
        imports.install()

    return settle


def _exercise() -> None:
    """A training step of a small model of every usual part."""
    import numpy as np
    import torch
    from torch import nn

    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8)
    gru, lstm, attention = nn.GRU(8, 8, batch_first=True), nn.LSTM(8, 8), nn.MultiheadAttention(8, 2, batch_first=True)
    layers = nn.ModuleList([gru, lstm, attention, nn.Embedding(5, 8), nn.LayerNorm(8), nn.Dropout(0.1)])
    optimizer = torch.optim.Adam(layers.parameters(), lr=1e-3)
    y = attention(lstm(gru(x)[0])[0], x, x)[0] + layers[3](torch.zeros(2, 3, dtype=torch.long))
    y = layers[5](layers[4](y))
    weights = torch.softmax(torch.einsum("btd,bsd->bts", y, y).masked_fill(torch.eye(3, dtype=torch.bool), -1e9), -1)
    loss = (
        nn.functional.cross_entropy((weights @ y).flatten(0, 1), torch.zeros(6, dtype=torch.long))
        + weights.log().mean()
    )
    loss.backward()
    nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        torch.testing.assert_close(torch.bmm(x, x.mT), x @ x.mT)
    np.linalg.norm(np.einsum("ij,kj->ik", np.eye(3), np.eye(3)))
