"""The command line: options and exit codes, nothing else.

Exit codes: 0 nothing to complain about, 1 findings remain, 2 wrong usage, wrong configuration or an internal error,
130 stopped by Ctrl-C.
"""

from __future__ import annotations

from jitlint.cli.app import main

__all__ = ["main"]
