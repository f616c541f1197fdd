"""Namespaces, a bonus where the kernel allows them: a network with nothing in it, and no shared memory of others.

The fork server enters them once, and its children are born inside; a child costs nothing more. The jail does not rest
on them: many systems deny user namespaces to ordinary users.
"""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["enter"]

_IPC, _UTS, _NET, _USER = 0x08000000, 0x04000000, 0x40000000, 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> bool:
    """Leave the network, the IPC objects and the host name behind; False where the kernel does not let us.

    An ordinary user first becomes a user namespace's only member, under the same id; a process with threads cannot.
    """
    if sys.platform != "linux":
        return False
    user, group = os.getuid(), os.getgid()
    if os.geteuid() == 0:
        return bool(_libc.unshare(_IPC | _UTS | _NET) == 0)
    if _libc.unshare(_USER | _IPC | _UTS | _NET) != 0:
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError:
            return False
    return True
