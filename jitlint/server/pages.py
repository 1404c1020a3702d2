"""Pages of rules as files, so that an editor can open them without a network."""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path

from jitlint.registry import catalogue
from jitlint.rule_page import rule_page


class Pages:
    """The pages of this version's rules, written to a temporary folder when the first is asked for."""

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str] | None:
        try:
            folder = tempfile.TemporaryDirectory(prefix="jitlint-rules-", ignore_cleanup_errors=True)
            for rule in catalogue():
                (Path(folder.name) / f"{rule.code}.md").write_text(rule_page(rule), encoding="utf-8")
        except OSError:
            return None
        return folder

    def link(self, code: str) -> str | None:
        """The address of the page of a rule; None if it could not be written."""
        return None if self._folder is None else (Path(self._folder.name) / f"{code}.md").as_uri()

    def close(self) -> None:
        """Remove the folder."""
        folder = vars(self).get("_folder")
        if folder is not None:
            folder.cleanup()
