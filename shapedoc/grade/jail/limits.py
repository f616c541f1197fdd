"""What a child may use, and how it gives up what it does not need: descriptors, privileges, its parent's life."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress

__all__ = ["close_all_but", "die_with", "drop_privileges", "first_to_go", "hide", "limit", "mapped_bytes"]

_SET_PDEATHSIG, _SET_DUMPABLE, _CAP_AMBIENT, _CLEAR_ALL = 1, 4, 47, 4
_SIGKILL = 9
_NOBODY = 65534
_STACK_BYTES = 8 << 20
_DESCRIPTORS = 64
_CAPABILITIES_V3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def limit(cpu_s: int, memory_bytes: int) -> None:
    """Bound processor time and address space; no files, no core. The memory is beyond what is mapped already."""
    space = mapped_bytes() + memory_bytes
    for what, soft, hard in (
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_AS, space, space),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, _DESCRIPTORS, _DESCRIPTORS),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
        (resource.RLIMIT_STACK, _STACK_BYTES, _STACK_BYTES),
    ):
        ceiling = resource.getrlimit(what)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(what, (soft, hard))


def mapped_bytes() -> int:
    """The size of this process's address space, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def close_all_but(highest: int) -> None:
    """Close every descriptor above `highest`."""
    os.closerange(highest + 1, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))


def drop_privileges() -> None:
    """Become nobody where started as root, and give up every capability in any case."""
    if os.geteuid() == 0 or os.getuid() == 0:
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    _libc.prctl(_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    if _libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def die_with(parent: int) -> None:
    """Be killed when the parent dies, now if it is dead already. Dropping privileges undoes it: call it after."""
    _libc.prctl(_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def first_to_go(score: int) -> None:
    """Where the system runs out of memory, be killed before others; 1000 is before all. A bonus where it is allowed."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(str(score))


def hide() -> None:
    """Neither dump core nor be read by processes of the same user."""
    if sys.platform == "linux":
        _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)
