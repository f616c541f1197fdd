"""seccomp: which system calls a process may still make, on x86-64 and aarch64.

The list says what is allowed; everything else fails with EPERM. What only an attack asks for (another process, a
socket, somebody else's memory) ends the process, so that no `except` hides the attempt.
Source: Linux, Documentation/userspace-api/seccomp_filter.rst; numbers from arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

__all__ = ["UnknownMachine", "confine", "filter_for", "supported"]


class UnknownMachine(OSError):
    """The numbers of this architecture's system calls are not known here."""


_X86, _ARM = 0, 1
_MACHINES = {"x86_64": (_X86, 0xC000003E), "aarch64": (_ARM, 0xC00000B7), "arm64": (_ARM, 0xC00000B7)}

# name: (x86-64, aarch64); None where the architecture has no such call.
_Numbers = dict[str, tuple[int | None, int | None]]

_ALLOWED: _Numbers = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "close": (3, 57),
    "close_range": (436, 436), "open": (2, None), "openat": (257, 56), "lseek": (8, 62), "dup": (32, 23),
    "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "fadvise64": (221, 223),
    "stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291),
    "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None),
    "readlinkat": (267, 78), "getdents64": (217, 61), "getcwd": (79, 17), "umask": (95, 166),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214), "get_mempolicy": (239, 236), "membarrier": (324, 283),
    "futex": (202, 98), "futex_waitv": (449, 449), "set_robust_list": (273, 99), "get_robust_list": (274, 100),
    "rseq": (334, 293), "set_tid_address": (218, 96), "restart_syscall": (219, 128), "arch_prctl": (158, None),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "pause": (34, None),
    "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260), "waitid": (247, 95),
    "gettid": (186, 178), "getpid": (39, 172), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148), "getresgid": (120, 150),
    "getgroups": (115, 158), "getpgrp": (111, None), "getpgid": (121, 155), "getsid": (124, 156),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getrusage": (98, 165),
    "setitimer": (38, 103), "getitimer": (36, 102), "alarm": (37, None),
    "sysinfo": (99, 179), "uname": (63, 160), "getrandom": (318, 278), "getrlimit": (97, 163), "getcpu": (309, 168),
    "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
}  # fmt: skip

_FATAL: _Numbers = {
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202), "accept4": (288, 242),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142),
    "swapon": (167, 224), "open_by_handle_at": (304, 265), "setuid": (105, 146), "setresuid": (117, 147),
}  # fmt: skip

_CLONE = (56, 220)
_CLONE3 = 435
_SOCKET = (41, 198)
_KILL = (62, 129)
_TGKILL = (234, 131)
_PRLIMIT = (302, 261)
_PRCTL = (157, 167)
_FCNTL = (72, 25)
_IOCTL = (16, 29)

_CLONE_THREAD = 0x00010000
_AF_UNIX = 1
# Naming a thread and an area of memory; what would undo the jail (a signal at the parent's death, dumps) is not here.
_PRCTLS = (15, 16, 0x53564D41)
# Duplicates, flags, locks, the size of a pipe; not who gets a signal (F_SETOWN, F_SETSIG).
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)
# Is it a terminal, how wide, how much can be read, close on exec.
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451, 0x5421)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _FAIL, _END = 0x7FFF0000, 0x00050000, 0x80000000
_X32 = 0x40000000
_NO_NEW_PRIVS, _SET_SECCOMP, _MODE_FILTER = 38, 22, 2

_Instruction = tuple[int, int, int, int]

_libc = ctypes.CDLL(None, use_errno=True)


def supported() -> bool:
    """Whether the numbers of this machine's calls are known."""
    return platform.machine() in _MACHINES


def confine(pid: int) -> None:
    """Bind this process, whose id is `pid`, to the filter, for good. OSError: the kernel refuses."""
    program = filter_for(platform.machine(), pid)
    code = ctypes.create_string_buffer(program, len(program))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code)))
    for arguments in ((_NO_NEW_PRIVS, 1, 0, 0, 0), (_SET_SECCOMP, _MODE_FILTER, ctypes.byref(head), 0, 0)):
        if _libc.prctl(*arguments) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"seccomp: {os.strerror(number)}")


def filter_for(machine: str, pid: int) -> bytes:
    """The filter as instructions of BPF for a machine and a process. Raises UnknownMachine."""
    if machine not in _MACHINES:
        raise UnknownMachine(errno.ENOSYS, f"no system call numbers for {machine}")
    column, architecture = _MACHINES[machine]
    code: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _END),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if column == _X86:
        code += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _END)]
    for numbers in _ALLOWED.values():
        code += _on(numbers[column], [(_RETURN, 0, 0, _ALLOW)])
    code += _on(_CLONE[column], _flag(_CLONE_THREAD))
    # The C library takes clone instead, whose flags a filter can read.
    code += _on(_CLONE3, [(_RETURN, 0, 0, _FAIL | errno.ENOSYS)])
    code += _on(_SOCKET[column], _unless((_AF_UNIX,), _FAIL | errno.EACCES, _END))
    for call in (_KILL, _TGKILL):
        code += _on(call[column], _unless((pid,), _ALLOW, _END))
    code += _on(_PRLIMIT[column], _unless((0, pid), _ALLOW, _END))
    for call, kinds, argument in ((_PRCTL, _PRCTLS, 0), (_FCNTL, _FCNTLS, 1), (_IOCTL, _IOCTLS, 1)):
        code += _on(call[column], _unless(kinds, _ALLOW, _FAIL | errno.EPERM, argument))
    for numbers in _FATAL.values():
        code += _on(numbers[column], [(_RETURN, 0, 0, _END)])
    code.append((_RETURN, 0, 0, _FAIL | errno.EPERM))
    return b"".join(struct.pack("HBBI", *each) for each in code)


def _on(number: int | None, body: list[_Instruction]) -> list[_Instruction]:
    """`body`, which must end in returns, for one call; past it for any other."""
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]


def _unless(values: tuple[int, ...], then: int, otherwise: int, argument: int = 0) -> list[_Instruction]:
    """Return `then` where the low half of an argument, which is all the kernel reads of it, is one of `values`."""
    code: list[_Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    for left, value in zip(range(len(values), 0, -1), values, strict=True):
        code.append((_EQUAL, left, 0, value))
    return [*code, (_RETURN, 0, 0, otherwise), (_RETURN, 0, 0, then)]


def _flag(flag: int) -> list[_Instruction]:
    return [(_LOAD, 0, 0, _ARGUMENTS), (_ANY_BIT, 1, 0, flag), (_RETURN, 0, 0, _END), (_RETURN, 0, 0, _ALLOW)]
