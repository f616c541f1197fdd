"""The filter, run by an interpreter of its own for both architectures, and its numbers beside the kernel's headers."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from shapedoc.grade.jail import seccomp

ALLOW, END, EPERM, ENOSYS, EACCES = 0x7FFF0000, 0x80000000, 0x50001, 0x50026, 0x5000D
PID = 4242
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def _decided(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter says of a call: an interpreter of the instructions that it uses."""
    column = MACHINES[machine][1] if architecture is None else architecture
    data = struct.pack("=IIQ6Q", number, column, 0, *(arguments + (0,) * 6)[:6])
    program = list(struct.iter_unpack("HBBI", seccomp.filter_for(machine, PID)))
    accumulator = place = 0
    while True:
        code, yes, no, value = program[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x06:
                return int(value)
            case 0x15:
                place += yes if accumulator == value else no
            case 0x35:
                place += yes if accumulator >= value else no
            case 0x45:
                place += yes if accumulator & value else no
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_allowed_and_what_is_not(machine: str) -> None:
    column, _ = MACHINES[machine]
    for numbers in seccomp._ALLOWED.values():
        if (number := numbers[column]) is not None:
            assert _decided(machine, number) == ALLOW
    for numbers in seccomp._FATAL.values():
        if (number := numbers[column]) is not None:
            assert _decided(machine, number) == END
    known = {n[column] for n in (*seccomp._ALLOWED.values(), *seccomp._FATAL.values())}
    special = (seccomp._CLONE, seccomp._SOCKET, seccomp._KILL, seccomp._TGKILL, seccomp._PRLIMIT, seccomp._PRCTL,
               seccomp._FCNTL, seccomp._IOCTL)  # fmt: skip
    known |= {each[column] for each in special} | {435}
    for number in set(range(600)) - known:
        assert _decided(machine, number) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_whose_arguments_decide(machine: str) -> None:
    column, _ = MACHINES[machine]
    high = 1 << 32
    for call, arguments, expected in (
        (seccomp._CLONE, (0x3D0F00,), ALLOW),
        (seccomp._CLONE, (17,), END),
        (seccomp._SOCKET, (1,), EACCES),
        (seccomp._SOCKET, (2,), END),
        (seccomp._SOCKET, (2 + high,), END),
        (seccomp._KILL, (PID, 6), ALLOW),
        (seccomp._KILL, (0, 9), END),
        (seccomp._KILL, (0xFFFFFFFF, 9), END),
        (seccomp._TGKILL, (PID, 1, 6), ALLOW),
        (seccomp._TGKILL, (1, PID, 9), END),
        (seccomp._PRLIMIT, (0,), ALLOW),
        (seccomp._PRLIMIT, (1,), END),
        (seccomp._PRCTL, (15,), ALLOW),
        (seccomp._PRCTL, (1,), EPERM),
        (seccomp._PRCTL, (4,), EPERM),
        (seccomp._FCNTL, (3, 3), ALLOW),
        (seccomp._FCNTL, (3, 8), EPERM),
        (seccomp._FCNTL, (3, 10), EPERM),
        (seccomp._FCNTL, (3, 10 + high), EPERM),
        (seccomp._IOCTL, (0, 0x5401), ALLOW),
        (seccomp._IOCTL, (0, 0x5412), EPERM),
    ):
        assert _decided(machine, call[column], *arguments) == expected, (call, arguments)
    assert _decided(machine, 435) == ENOSYS


def test_other_architectures_end_the_process() -> None:
    for machine in MACHINES:
        assert _decided(machine, 2, architecture=0x40000003) == END
    assert _decided("x86_64", 0x40000000 | 39) == END
    with pytest.raises(seccomp.UnknownMachine):
        seccomp.filter_for("riscv64", PID)


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_numbers_are_those_of_the_headers(column: int, header: str) -> None:
    path = Path(header)
    if not path.exists():
        pytest.skip(f"{header} is not installed")
    text = path.read_text()
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    aliases = re.findall(r"#define __NR_(\w+) __NR3264_(\w+)", text)
    numbers.update((name, numbers[other]) for name, other in aliases if other in numbers)
    named = {"clone": seccomp._CLONE, "socket": seccomp._SOCKET, "kill": seccomp._KILL, "tgkill": seccomp._TGKILL,
             "prlimit64": seccomp._PRLIMIT, "prctl": seccomp._PRCTL, "fcntl": seccomp._FCNTL,
             "ioctl": seccomp._IOCTL}  # fmt: skip
    for name, each in {**seccomp._ALLOWED, **seccomp._FATAL, **named}.items():
        # Headers older than a call lack it.
        assert numbers.get(name) in (each[column], None), name
        if each[column] is None:
            assert name not in numbers, name
