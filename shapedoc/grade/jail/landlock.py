"""Landlock: what of the file system a process may still see. No root is needed; Linux 5.13 or newer.

Source: Linux, Documentation/userspace-api/landlock.rst; the numbers of its three calls are alike on all architectures.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

__all__ = ["READ", "READ_DIR", "WRITE_FILE", "abi", "grants", "restrict", "ruleset"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38

WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
READ_DIR = 1 << 3
READ = _READ_FILE | READ_DIR
_FILE_RIGHTS = WRITE_FILE | _READ_FILE
# Rights on files by version of the interface: 13 at first, then refer, truncate, and ioctl on devices.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_VERSION))))


def ruleset(allowed: Iterable[tuple[str, int]]) -> int:
    """A descriptor of rules: all is denied but what `allowed` gives, pairs of a path and rights beneath it.

    A path that does not exist is passed over. Network and signals to others are denied too where the kernel can.
    """
    version = abi()
    handled = (1 << _RIGHTS[min(version, 5)]) - 1
    attributes = struct.pack(
        "QQQ",
        handled,
        _TCP_BIND_AND_CONNECT if version >= 4 else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _checked(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0), "landlock_create_ruleset")
    for path, rights in allowed:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                rights &= _FILE_RIGHTS
            rule = struct.pack("=Qi", rights & handled, descriptor)
            _checked(_libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0), f"landlock_add_rule {path}")
        finally:
            os.close(descriptor)
    os.set_inheritable(rules, False)
    return rules


def restrict(rules: int) -> None:
    """Bind this process, for good, to the rules behind the descriptor."""
    _checked(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _checked(_libc.syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")


def grants(folders: Sequence[str], hidden: Sequence[str]) -> list[str]:
    """`folders` without what is `hidden`: a folder that holds something hidden is given as its other entries."""
    secret = [Path(os.path.realpath(path)) for path in hidden]
    given: list[str] = []
    for folder in folders:
        _grant(Path(os.path.realpath(folder)), secret, given)
    return sorted(set(given))


def _grant(path: Path, secret: Sequence[Path], given: list[str]) -> None:
    if any(path.is_relative_to(one) for one in secret):
        return
    if not any(one.is_relative_to(path) for one in secret):
        given.append(str(path))
        return
    try:
        entries = sorted(path.iterdir())
    except OSError:
        return
    for entry in entries:
        if not entry.is_symlink():
            _grant(entry, secret, given)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
