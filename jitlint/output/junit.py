"""``junit``: findings as failed test cases, a suite a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from xml.etree import ElementTree

from jitlint.findings import Finding
from jitlint.output.context import Context
from jitlint.output.places import file_message, file_row, headline, location

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(findings: Sequence[Finding], context: Context) -> str:
    """The XML of all suites; a run without findings is one passed case, since an empty report counts as a failure."""
    total, failures = str(len(findings) or 1), str(len(findings))
    root = ElementTree.Element("testsuites", name="jitlint", tests=total, failures=failures, errors="0")
    if not findings:
        suite = _suite(root, "jitlint", tests=1, failures=0)
        ElementTree.SubElement(suite, "testcase", name="no findings", classname="jitlint")
    for filename, group in groupby(findings, key=lambda finding: finding.filename):
        members = list(group)
        path = context.path_from_root(filename)
        suite = _suite(root, path, tests=len(members), failures=len(members))
        for finding in members:
            _case(suite, path, finding)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _suite(root: ElementTree.Element, name: str, *, tests: int, failures: int) -> ElementTree.Element:
    return ElementTree.SubElement(
        root, "testsuite", name=_clean(name), tests=str(tests), failures=str(failures), errors="0", skipped="0"
    )


def _case(suite: ElementTree.Element, path: str, finding: Finding) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name}",
        classname=_clean(path.removesuffix(".py")),
        file=_clean(path),
        line=str(file_row(finding)),
    )
    failure = ElementTree.SubElement(
        case, "failure", type=finding.severity.value, message=_clean(file_message(finding))
    )
    lines = [f"{location(finding)}: {headline(finding)}"]
    lines += [f"  {step.filename}:{step.row}: {step.what}" for step in finding.trace]
    if finding.help:
        lines.append(f"help: {finding.help}")
    failure.text = _clean("\n".join(lines))


def _clean(text: str) -> str:
    """The text without characters that XML cannot carry."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
