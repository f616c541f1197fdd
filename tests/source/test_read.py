"""Bytes to text, and what is said of files that are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shapedoc.core.finding import FileError
from shapedoc.source.read import Source, decode, names_tensor_library, read_bytes, read_source


def text_of(data: bytes) -> str:
    source = decode(data, "a.py")
    assert isinstance(source, Source)
    return source.text


def message_of(data: bytes) -> str:
    error = decode(data, "a.py")
    assert isinstance(error, FileError)
    assert error.path == "a.py"
    return error.message


def test_plain_utf8() -> None:
    assert decode("x = 'é'\n".encode(), "a.py") == Source("a.py", "x = 'é'\n", "utf-8", False, "\n")


def test_a_byte_order_mark_is_taken_off_and_put_back() -> None:
    source = decode(b"\xef\xbb\xbfx = 1\r\n", "a.py")
    assert source == Source("a.py", "x = 1\r\n", "utf-8", True, "\r\n")
    assert isinstance(source, Source)
    assert source.encode("y = 1\r\n") == b"\xef\xbb\xbfy = 1\r\n"


@pytest.mark.parametrize(
    "cookie",
    [b"# -*- coding: latin-1 -*-\n", b"#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\n", b"\n#coding=latin-1\n"],
)
def test_a_declared_encoding(cookie: bytes) -> None:
    assert text_of(cookie + b"x = '\xe9'\n").endswith("x = 'é'\n")


def test_a_cookie_after_code_declares_nothing() -> None:
    assert message_of(b"x = 1\n# coding: latin-1\n# \xe9\n") == "is not utf-8: byte 0xe9 on line 3 cannot be decoded"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x80\x02}q\x00.", "is a binary file (it holds null bytes)"),
        ("x = 1".encode("utf-16"), "is a binary file (it holds null bytes)"),
        (b"# coding: nonsense\n", "declares the unknown encoding `nonsense`"),
        (b"# coding: hex\n", "declares the unknown encoding `hex`"),
        (b"x = 1\ny = '\xff'\n", "is not utf-8: byte 0xff on line 2 cannot be decoded"),
        (
            b"\xef\xbb\xbf# coding: latin-1\n",
            "declares the encoding `latin-1` but starts with the byte order mark of utf-8",
        ),
    ],
)
def test_what_is_no_text(data: bytes, message: str) -> None:
    assert message_of(data) == message


@pytest.mark.parametrize(("text", "newline"), [("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb", "\r"), ("a", "\n")])
def test_the_usual_line_end(text: str, newline: str) -> None:
    source = decode(text.encode(), "a.py")
    assert isinstance(source, Source)
    assert source.newline == newline


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    found = [read_bytes(path) for path in (tmp_path, tmp_path / "no.py", loop, pipe, Path("a\0b"))]
    assert [error.message if isinstance(error, FileError) else error for error in found] == [
        "is a folder",
        "no such file or directory",
        "too many levels of symbolic links",
        "is not a regular file",
        "embedded null byte",
    ]

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    secret = tmp_path / "secret.py"
    secret.write_text("import torch\n")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert read_source(secret) == FileError(str(secret), "permission denied")


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"import torch\n")
    assert read_source(path) == Source(str(path), "import torch\n", "utf-8", False, "\n")


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"import torch as t\n", True),
        (b"from torch.nn import Linear\n", True),
        (b"import os, numpy\n", True),
        (b"from einops import rearrange\n", True),
        (b"from jaxtyping import Float\n", True),
        (b"import jax.numpy as jnp\n", True),
        (b"import torchvision\n", False),
        (b"import jax\n", False),
        (b"import pytorch_lightning\n", False),
        (b"my_numpy_thing = 1\n", False),
        (b"", False),
    ],
)
def test_files_that_name_a_tensor_library(data: bytes, names: bool) -> None:
    assert names_tensor_library(data) is names
