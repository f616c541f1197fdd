#!/usr/bin/env bash
# Installs what shapedoc needs, once, when Gradescope builds the image; shapedoc itself lies beside this file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "Python 3.11 or newer is needed: choose a newer base image in Gradescope's autograder settings" >&2
    exit 1
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
    apt-get update -q
    apt-get install -y -q python3-pip
fi
export PIP_BREAK_SYSTEM_PACKAGES=1
# The build for the CPU, from PyTorch's own index; where it cannot be reached, the one of the usual index.
python3 -m pip install -q torch --index-url https://download.pytorch.org/whl/cpu || python3 -m pip install -q torch
python3 -m pip install -q -r "$here/requirements.txt"
